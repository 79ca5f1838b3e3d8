use std::collections::BTreeMap;
use std::sync::Arc;

use api::sign_ins::{SignInWays, Way};
use control::{ProviderRights, SignInOptions};
use directory::{Directory, Ldap, LdapSettings, Oidc, OidcSettings};
use protocol::ids::{GroupName, ProviderName};
use serde::Deserialize;

use super::ConfigError;

/// How people sign in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SignInConfig {
    /// Whether accounts with a password of this server are for everybody; else they are for
    /// administrators alone, at `/sign-in?local=1`.
    pub local: bool,
    /// Groups whose members are administrators, whoever says that they are members.
    pub admin_groups: Vec<GroupName>,
    /// How long somebody stays signed in by a provider, and how long its groups give rights.
    pub session_hours: u64,
    /// For how long after a provider vouched for somebody his tokens are good.
    pub token_days: u64,
    /// How often directories are asked again about the people that came from them.
    pub refresh_minutes: u64,
    /// Providers of OpenID Connect.
    pub oidc: Vec<OidcSettings>,
    /// Directories by LDAP, in the order in which they are asked.
    pub ldap: Vec<LdapSettings>,
}

impl Default for SignInConfig {
    fn default() -> Self {
        Self {
            local: true,
            admin_groups: Vec::new(),
            session_hours: 12,
            token_days: 7,
            refresh_minutes: 15,
            oidc: Vec::new(),
            ldap: Vec::new(),
        }
    }
}

/// The providers, ready to be asked.
#[derive(Debug, Default)]
pub struct Providers {
    /// What the rights of their people follow from.
    pub options: SignInOptions,
    /// Those with pages of their own.
    pub oidc: Vec<Arc<Oidc>>,
    /// What the page for signing in offers.
    pub ways: SignInWays,
}

impl SignInConfig {
    /// What is wrong with it, one line a key.
    pub(super) fn mistakes(&self, public_url: Option<&str>) -> Vec<String> {
        let mut lines = Vec::new();
        for (key, value, most) in [
            ("session_hours", self.session_hours, 168),
            ("token_days", self.token_days, 90),
            ("refresh_minutes", self.refresh_minutes, 1_440),
        ] {
            if !(1..=most).contains(&value) {
                lines.push(format!("sign_in.{key} = {value}: allowed is 1 to {most}"));
            }
        }
        for (at, provider) in self.oidc.iter().enumerate() {
            let own = provider.mistakes().into_iter();
            lines.extend(own.map(|line| format!("sign_in.oidc[{at}].{line}")));
        }
        for (at, provider) in self.ldap.iter().enumerate() {
            let own = provider.mistakes().into_iter();
            lines.extend(own.map(|line| format!("sign_in.ldap[{at}].{line}")));
        }
        if !self.oidc.is_empty() && public_url.is_none() {
            let allowed = "allowed is the address to which its providers send people back";
            lines.push(format!("public_url: sign_in.oidc needs it; {allowed}"));
        }
        let oidc = self.oidc.iter().map(|provider| &provider.name);
        let names = oidc.chain(self.ldap.iter().map(|provider| &provider.name));
        super::repeated("sign_in", names.map(ProviderName::as_str), &mut lines);
        lines
    }

    /// Reads what the settings point to. Nobody is asked anything yet.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn providers(&self) -> Result<Providers, ConfigError> {
        let mut lines = Vec::new();
        let mut oidc = Vec::new();
        for (at, settings) in self.oidc.iter().enumerate() {
            match Oidc::new(settings.clone()) {
                Ok(provider) => oidc.push(Arc::new(provider)),
                Err(error) => lines.push(format!("sign_in.oidc[{at}].{error}")),
            }
        }
        let mut directories: Vec<Arc<dyn Directory>> = Vec::new();
        for (at, settings) in self.ldap.iter().enumerate() {
            match Ldap::new(settings.clone()) {
                Ok(directory) => directories.push(Arc::new(directory)),
                Err(error) => lines.push(format!("sign_in.ldap[{at}].{error}")),
            }
        }
        if !lines.is_empty() {
            return Err(ConfigError(lines));
        }
        let ways = SignInWays {
            form: self.local || !self.ldap.is_empty(),
            providers: oidc.iter().map(|provider| way(provider)).collect(),
        };
        Ok(Providers { options: self.options(directories), oidc, ways })
    }

    fn options(&self, directories: Vec<Arc<dyn Directory>>) -> SignInOptions {
        let rights = |admin_groups: &Vec<GroupName>, create_accounts| ProviderRights {
            admin_groups: admin_groups.clone(),
            create_accounts,
        };
        let oidc = self.oidc.iter().map(|settings| {
            let OidcSettings { name, admin_groups, create_accounts, .. } = settings;
            (name.clone(), rights(admin_groups, *create_accounts))
        });
        let ldap = self.ldap.iter().map(|settings| {
            let LdapSettings { name, admin_groups, create_accounts, .. } = settings;
            (name.clone(), rights(admin_groups, *create_accounts))
        });
        let providers: BTreeMap<_, _> = oidc.chain(ldap).collect();
        SignInOptions {
            local: self.local,
            admin_groups: self.admin_groups.clone(),
            session_seconds: self.session_hours * 3_600,
            token_seconds: self.token_days * 24 * 3_600,
            refresh_seconds: self.refresh_minutes * 60,
            providers,
            directories,
        }
    }
}

fn way(provider: &Oidc) -> Way {
    Way { name: provider.name().clone(), title: provider.title().to_owned() }
}
