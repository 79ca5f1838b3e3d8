//! `extras.storages`: what an administrator has set up and tasks are to have, with what the plugin
//! `teamwise_storage` names, the older word for it.

use serde_json::{Value as Json, json};

use super::reader::{Field, Fields, Reader};
use crate::document::shorten;
use crate::fields::Object;
use crate::ids::StorageName;
use crate::storages::{TARGET, target_mistake};

/// The most storages of a job.
const MOST: usize = 32;

/// The storages of `extras.storages`, as they are kept.
pub(super) fn read<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Vec<Json> {
    let items = reader.list(field).unwrap_or_default();
    if items.len() > MOST {
        let message = format!("{} storages are more than {MOST}", items.len());
        reader.wrong(field, message, format!("at most {MOST}"));
        return Vec::new();
    }
    let mut kept: Vec<Json> = Vec::new();
    for item in items {
        let Some(fields) = reader.object(&item, Object::Storage) else { continue };
        let Some(field) = reader.required(&fields, "name", StorageName::ALLOWED) else { continue };
        let Some(name) = reader.name(&field, StorageName::try_from) else { continue };
        if is_named(&kept, &name) {
            let message = format!("there are two storages {:?}", shorten(name.as_str()));
            reader.wrong(&field, message, "each name once");
        }
        kept.push(match target(reader, &fields) {
            Some(target) => json!({ "name": name, "mountPath": target }),
            None => json!({ "name": name }),
        });
    }
    kept
}

fn target<'d>(reader: &mut Reader<'d>, fields: &Fields<'d>) -> Option<String> {
    let field = fields.given("mountPath")?;
    let path = reader.line(&field)?;
    if let Some(message) = target_mistake("mountPath", &path) {
        reader.wrong(&field, message, TARGET);
    }
    Some(path)
}

/// What the plugin names.
pub(super) fn of_plugin<'d>(
    reader: &mut Reader<'d>,
    parameters: Option<&Fields<'d>>,
) -> Vec<StorageName> {
    let named = parameters.and_then(|parameters| parameters.given("storageConfigNames"));
    let items = named.and_then(|named| reader.list(&named)).unwrap_or_default();
    items.iter().filter_map(|item| reader.name(item, StorageName::try_from)).collect()
}

/// All that a file asks for, by either word; `None`: nothing.
pub(super) fn all(own: Option<Vec<Json>>, plugin: Option<&[StorageName]>) -> Option<Json> {
    if own.is_none() && plugin.is_none() {
        return None;
    }
    let mut all = own.unwrap_or_default();
    for name in plugin.unwrap_or_default() {
        if !is_named(&all, name) {
            all.push(json!({ "name": name }));
        }
    }
    Some(Json::Array(all))
}

fn is_named(kept: &[Json], name: &StorageName) -> bool {
    kept.iter().any(|storage| storage["name"].as_str() == Some(name.as_str()))
}
