use std::path::PathBuf;

use protocol::ids::{GroupName, ProviderName};
use protocol::person::Source;
use serde::Deserialize;
use url::Url;

use crate::secret::Secret;
use crate::{trust, yes};

/// A provider of OpenID Connect, as an administrator writes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcSettings {
    /// Its name: part of addresses, and the source of its groups.
    pub name: ProviderName,
    /// What people call it; empty: its name.
    #[serde(default)]
    pub title: String,
    /// Its address: `/.well-known/openid-configuration` below it says the rest.
    pub issuer: String,
    /// What it calls this server.
    pub client_id: String,
    /// What proves that it is this server.
    #[serde(default)]
    pub client_secret: Option<Secret>,
    /// A file whose first line is the client's secret.
    #[serde(default)]
    pub client_secret_file: Option<PathBuf>,
    /// What is asked for beside `openid`.
    #[serde(default = "scopes")]
    pub scopes: Vec<String>,
    /// What its words are called.
    #[serde(default)]
    pub claims: Claims,
    /// Groups whose members are administrators, when this provider says that they are members.
    #[serde(default)]
    pub admin_groups: Vec<GroupName>,
    /// Groups whose members may sign in; none: everybody.
    #[serde(default)]
    pub allowed_groups: Vec<GroupName>,
    /// Domains of whose verified mail addresses one must be; none: any.
    #[serde(default)]
    pub allowed_domains: Vec<String>,
    /// Whether somebody's first sign-in makes an account.
    #[serde(default = "yes")]
    pub create_accounts: bool,
    /// A file with certificates that are believed beside those of this machine.
    #[serde(default)]
    pub ca: Option<PathBuf>,
}

/// What the provider's words are called. A name may lead inside: `realm_access.roles`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Claims {
    /// The name of the account.
    pub name: String,
    /// The mail address.
    pub mail: String,
    /// The groups: a list of texts, or one text.
    pub groups: String,
}

impl Default for Claims {
    fn default() -> Self {
        Self { name: "preferred_username".into(), mail: "email".into(), groups: "groups".into() }
    }
}

fn scopes() -> Vec<String> {
    vec!["profile".to_owned(), "email".to_owned()]
}

impl OidcSettings {
    /// What is wrong with it, one line a key, with its value and what is allowed.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.name.as_str() == Source::LOCAL {
            lines.push("name = \"local\": allowed is any other name".to_owned());
        }
        let issuer = Url::parse(&self.issuer).ok();
        if !issuer.is_some_and(|url| trust::is_private(&url) && url.query().is_none()) {
            let allowed = "allowed is https://… (http://… on this machine alone)";
            lines.push(format!("issuer = {:?}: {allowed}", self.issuer));
        }
        if self.client_id.is_empty() {
            lines.push("client_id = \"\": allowed is what the provider calls this server".into());
        }
        if self.client_secret.is_some() && self.client_secret_file.is_some() {
            lines.push("client_secret and client_secret_file: allowed is one of them".into());
        }
        let Claims { name, mail, groups } = &self.claims;
        for (key, claim) in [("name", name), ("mail", mail), ("groups", groups)] {
            if claim.is_empty() {
                lines.push(format!("claims.{key} = \"\": allowed is the name of a claim"));
            }
        }
        lines
    }
}
