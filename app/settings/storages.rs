use api::Error;
use protocol::storages::{NfsExport, Password, SmbShare, StorageSettings, StorageSource};

use crate::forms::StorageForm;
use crate::settings::text::{groups, invalid, name, words};

/// A storage's settings.
///
/// # Errors
/// The first field that cannot be read, and what is allowed.
pub(crate) fn storage(form: &StorageForm) -> Result<StorageSettings, Error> {
    Ok(StorageSettings {
        name: name(&form.name)?,
        source: source(form)?,
        mount: given(&form.mount),
        read_only: form.read_only,
        default: form.default,
        own_folders: form.own_folders,
        users: words(&form.users).map(name).collect::<Result<_, _>>()?,
        groups: groups(&form.groups)?,
    })
}

fn given(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn source(form: &StorageForm) -> Result<StorageSource, Error> {
    let place = form.place.trim();
    let (options, user) = (given(&form.options), given(&form.user));
    if let Some(rest) = place.strip_prefix("nfs://") {
        let at = rest.find('/').unwrap_or(rest.len());
        let (server, path) = rest.split_at(at);
        let path = if path.is_empty() { "/" } else { path };
        let (server, path) = (server.to_owned(), path.to_owned());
        return Ok(StorageSource::Nfs(NfsExport { server, path, options }));
    }
    if let Some(rest) = place.strip_prefix("smb://") {
        let (server, share) = rest.split_once('/').unwrap_or((rest, ""));
        let (server, share) = (server.to_owned(), share.to_owned());
        // What stands in it means something, blanks included.
        let password = Some(form.password.clone()).filter(|text| !text.is_empty()).map(Password);
        return Ok(StorageSource::Smb(SmbShare { server, share, user, password, options }));
    }
    if options.is_some() || user.is_some() {
        let message = "account and mount options are for nfs:// and smb:// only";
        return Err(invalid(message.to_owned()));
    }
    Ok(StorageSource::Path(place.to_owned()))
}

#[cfg(test)]
mod tests {
    use api::storages::StorageView;

    use super::*;

    fn form(place: &str) -> StorageForm {
        StorageForm { name: "data".into(), place: place.into(), ..StorageForm::default() }
    }

    #[test]
    fn a_storage_is_read_from_texts() {
        let settings = storage(&StorageForm {
            mount: "/data".into(),
            users: "ada bob".into(),
            groups: "gpu users".into(),
            read_only: true,
            ..form(" /mnt/data ")
        })
        .unwrap();
        assert_eq!(settings.source, StorageSource::Path("/mnt/data".into()));
        assert_eq!((settings.target().as_str(), settings.read_only), ("/data", true));
        assert_eq!((settings.users.len(), settings.groups.len()), (2, 1));
        assert_eq!(storage(&form("/a")).unwrap().target(), "/mnt/data");
        let smb =
            StorageForm { user: "berth".into(), password: " p ".into(), ..form("smb://f/t/u") };
        let smb = storage(&smb).unwrap();
        assert_eq!(smb.password(), Some(&Password(" p ".into())));
        let misplaced = StorageForm { user: "berth".into(), ..form("/mnt") };
        let message = storage(&misplaced).unwrap_err().message;
        assert_ne!(crate::i18n::Language::Chinese.told(&message), message);
    }

    #[test]
    fn what_the_form_shows_is_read_as_it_was() {
        for place in ["/mnt/data", "nfs://10.0.0.5/", "nfs://files/a/b", "smb://files/team/data"] {
            let more = StorageForm { options: "ro,soft".into(), ..form(place) };
            let form = if place.starts_with('/') { form(place) } else { more };
            let settings = storage(&form).unwrap();
            let view = StorageView {
                name: settings.name.clone(),
                kind: settings.source.kind().to_owned(),
                source: Some(settings.source.clone()),
                mount: settings.target(),
                read_only: settings.read_only,
                default: settings.default,
                own_folders: settings.own_folders,
                users: settings.users.clone(),
                groups: settings.groups.clone(),
                has_password: false,
            };
            let shown = storage(&StorageForm::from(&view)).unwrap();
            let expected = StorageSettings { mount: Some(settings.target()), ..settings };
            assert_eq!(shown, expected, "{place}");
        }
    }
}
