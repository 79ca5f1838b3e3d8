use std::path::PathBuf;

use protocol::ids::{GroupName, ProviderName};
use protocol::person::Source;
use serde::Deserialize;
use url::Url;

use crate::secret::Secret;
use crate::{trust, yes};

/// What stands for the name that somebody types.
const USER: &str = "{user}";
/// What stands for the address of somebody's entry.
const DN: &str = "{dn}";

/// A directory, as an administrator writes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LdapSettings {
    /// Its name: the source of its groups.
    pub name: ProviderName,
    /// What people call it; empty: its name.
    #[serde(default)]
    pub title: String,
    /// `ldaps://HOST` or `ldap://HOST`, with a port where it is another than 636 or 389.
    pub url: String,
    /// Whether a connection by `ldap://` is made private before anything is said.
    #[serde(default)]
    pub start_tls: bool,
    /// A file with certificates that are believed beside those of this machine.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// Who searches; none: nobody in particular.
    #[serde(default)]
    pub bind_dn: Option<String>,
    /// The password of `bind_dn`.
    #[serde(default)]
    pub bind_password: Option<Secret>,
    /// A file whose first line is the password of `bind_dn`.
    #[serde(default)]
    pub bind_password_file: Option<PathBuf>,
    /// Below which entry people are.
    pub base: String,
    /// Which of the entries there is meant by `{user}`.
    #[serde(default = "filter")]
    pub filter: String,
    /// What its words are called.
    #[serde(default)]
    pub attributes: Attributes,
    /// Where groups are; none: there are none.
    #[serde(default)]
    pub groups: Option<GroupSearch>,
    /// Groups whose members are administrators, when this directory says that they are members.
    #[serde(default)]
    pub admin_groups: Vec<GroupName>,
    /// Groups whose members may sign in; none: everybody.
    #[serde(default)]
    pub allowed_groups: Vec<GroupName>,
    /// Whether somebody's first sign-in makes an account.
    #[serde(default = "yes")]
    pub create_accounts: bool,
}

/// What the directory's words are called.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Attributes {
    /// The name of the account.
    pub name: String,
    /// The mail address.
    pub mail: String,
    /// What stays the same when a person gets another name, and is nobody else's ever
    /// (`objectGUID` in Active Directory).
    pub id: String,
}

impl Default for Attributes {
    fn default() -> Self {
        Self { name: "uid".into(), mail: "mail".into(), id: "entryUUID".into() }
    }
}

/// Where groups are.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSearch {
    /// Below which entry.
    pub base: String,
    /// Which of the entries there have the entry `{dn}`, or the name `{user}`, as a member.
    #[serde(default = "members")]
    pub filter: String,
    /// The attribute with the group's name.
    #[serde(default = "common_name")]
    pub name: String,
}

fn filter() -> String {
    "(uid={user})".to_owned()
}

fn members() -> String {
    "(member={dn})".to_owned()
}

fn common_name() -> String {
    "cn".to_owned()
}

impl GroupSearch {
    /// The filter for one person; both texts are escaped already.
    pub(super) fn filter_of(&self, dn: &str, user: &str) -> String {
        put(&self.filter, &[(DN, dn), (USER, user)])
    }
}

impl LdapSettings {
    /// The filter for a typed name, which is escaped already.
    pub(super) fn filter_of(&self, user: &str) -> String {
        put(&self.filter, &[(USER, user)])
    }

    /// The filter for a subject, which is escaped already: whatever else the filter demands of a
    /// person is still demanded.
    pub(super) fn filter_of_subject(&self, subject: &str) -> String {
        format!("(&({}={subject}){})", self.attributes.id, put(&self.filter, &[(USER, "*")]))
    }

    /// Who issues the subjects: another directory's are other people's.
    pub(super) fn issuer(&self) -> String {
        format!("{}/{}", self.url.trim_end_matches('/'), self.base)
    }

    /// What is wrong with it, one line a key, with its value and what is allowed.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.name.as_str() == Source::LOCAL {
            lines.push("name = \"local\": allowed is any other name".to_owned());
        }
        lines.extend(self.url_mistake());
        if self.base.is_empty() {
            lines.push("base = \"\": allowed is as ou=people,dc=example,dc=org".to_owned());
        }
        if !self.filter.contains(USER) || !is_filter(&self.filter) {
            lines.push(format!("filter = {:?}: allowed is as (uid={{user}})", self.filter));
        }
        if self.bind_password.is_some() && self.bind_password_file.is_some() {
            lines.push("bind_password and bind_password_file: allowed is one of them".to_owned());
        }
        let password = self.bind_password.is_some() || self.bind_password_file.is_some();
        if self.bind_dn.is_some() != password {
            lines.push("bind_dn and bind_password: allowed are both or neither".to_owned());
        }
        if let Some(groups) = &self.groups
            && !((groups.filter.contains(DN) || groups.filter.contains(USER))
                && is_filter(&groups.filter))
        {
            let allowed = "allowed is as (member={dn}) or (memberUid={user})";
            lines.push(format!("groups.filter = {:?}: {allowed}", groups.filter));
        }
        lines
    }

    fn url_mistake(&self) -> Option<String> {
        let url = Url::parse(&self.url).ok();
        let private = match url.as_ref().map(|url| (url.scheme(), url)) {
            Some(("ldaps", url)) => url.host().is_some() && !self.start_tls,
            Some(("ldap", url)) => url.host().is_some() && (self.start_tls || local(url)),
            Some(_) | None => false,
        };
        let allowed = "allowed is ldaps://HOST, or ldap://HOST with start_tls = true";
        (!private).then(|| format!("url = {:?}: {allowed}", self.url))
    }
}

/// Hosts of schemes that `url` does not know are names to it, whatever they look like.
fn local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    Url::parse(&format!("http://{host}")).is_ok_and(|url| trust::is_loopback(&url))
}

fn is_filter(text: &str) -> bool {
    ldap3::parse_filter(put(text, &[(DN, "x"), (USER, "x")])).is_ok()
}

/// Puts texts in place of words, all at once: what is put in is not looked at again.
fn put(pattern: &str, texts: &[(&str, &str)]) -> String {
    let mut done = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        done.push_str(before);
        match texts.iter().find(|(word, _)| from.starts_with(word)) {
            Some((word, text)) => {
                done.push_str(text);
                rest = &from[word.len()..];
            }
            None => {
                done.push('{');
                rest = &from[1..];
            }
        }
    }
    done.push_str(rest);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(more: &str) -> LdapSettings {
        let whole = format!(
            r#"{{"name": "staff", "url": "ldaps://ldap.example.org", "base": "dc=example,dc=org" {more}}}"#
        );
        serde_json::from_str(&whole).unwrap()
    }

    #[test]
    fn what_is_typed_stays_a_value() {
        let all =
            settings(r#", "groups": {"base": "ou=g", "filter": "(|(member={dn})(u={user}))"}"#);
        let typed = ldap3::ldap_escape("*)(uid=*");
        assert_eq!(all.filter_of(&typed), "(uid=\\2a\\29\\28uid=\\2a)");
        let groups = all.groups.as_ref().unwrap();
        assert_eq!(groups.filter_of("cn={user}", "{dn}"), "(|(member=cn={user})(u={dn}))");
        assert_eq!(all.filter_of_subject("7"), "(&(entryUUID=7)(uid=*))");
    }

    #[test]
    fn mistakes_name_key_value_and_what_is_allowed() {
        assert_eq!(settings("").mistakes(), Vec::<String>::new());
        for (more, words) in [
            (r#", "filter": "(uid=ada)""#, ["filter = \"(uid=ada)\"", "(uid={user})"]),
            (r#", "filter": "uid={user}))""#, ["filter = ", "allowed"]),
            (r#", "bind_dn": "cn=x""#, ["bind_dn", "both or neither"]),
            (r#", "start_tls": true"#, ["url = \"ldaps://", "ldap://HOST with start_tls"]),
            (r#", "groups": {"base": "", "filter": "(a=b)"}"#, ["groups.filter", "(member={dn})"]),
        ] {
            let lines = settings(more).mistakes();
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert!(words.iter().all(|word| lines[0].contains(word)), "{lines:?}");
        }
    }

    #[test]
    fn passwords_do_not_go_over_open_lines() {
        let mistakes = |url: &str, start_tls| {
            let settings = LdapSettings { url: url.into(), start_tls, ..settings("") };
            settings.mistakes().len()
        };
        assert_eq!(mistakes("ldap://ldap.example.org", false), 1);
        assert_eq!(mistakes("ldap://ldap.example.org:1389", true), 0);
        assert_eq!(mistakes("ldap://127.0.0.1:1389", false), 0, "it stays on this machine");
        for bad in ["https://ldap.example.org", "ldap.example.org", "ldapi:///x", "ldaps://"] {
            assert_eq!(mistakes(bad, false), 1, "{bad}");
        }
    }
}
