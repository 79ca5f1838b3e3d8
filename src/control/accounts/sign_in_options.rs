//! How people sign in, and what that makes their groups worth.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use api::groups::Membership;
use database::groups;
use database::provider_accounts::ProviderAccount;
use directory::Directory;
use protocol::ids::{GroupName, ProviderName};
use protocol::person::Source;
use protocol::time::Timestamp;

/// How people sign in beside the accounts that administrators make.
#[derive(Debug, Clone)]
pub struct SignInOptions {
    /// Whether accounts with a password of here are for everybody; else only for administrators.
    pub local: bool,
    /// Groups whose members are administrators, whoever says that they are members.
    pub admin_groups: Vec<GroupName>,
    /// How long, in seconds, somebody stays signed in by a provider, and how long groups that it
    /// named give rights.
    pub session_seconds: u64,
    /// For how long after a provider vouched for somebody his tokens are good, in seconds.
    pub token_seconds: u64,
    /// How often directories are asked about the people that came from them, in seconds.
    pub refresh_seconds: u64,
    /// The providers, by name.
    pub providers: BTreeMap<ProviderName, ProviderRights>,
    /// Those of them that know names and passwords, in the order in which they are asked.
    pub directories: Vec<Arc<dyn Directory>>,
}

/// What a provider's word is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRights {
    /// Groups whose members are administrators, when it says that they are members.
    pub admin_groups: Vec<GroupName>,
    /// Whether somebody's first sign-in makes an account.
    pub create_accounts: bool,
}

impl Default for SignInOptions {
    fn default() -> Self {
        Self {
            local: true,
            admin_groups: Vec::new(),
            session_seconds: 12 * 3_600,
            token_seconds: 7 * 24 * 3_600,
            refresh_seconds: 15 * 60,
            providers: BTreeMap::new(),
            directories: Vec::new(),
        }
    }
}

impl SignInOptions {
    /// The groups of a user, with whether they give rights now.
    pub(super) fn memberships(
        &self,
        stored: Vec<groups::Membership>,
        account: Option<&ProviderAccount>,
        now: Timestamp,
    ) -> Vec<Membership> {
        let trusted = account.filter(|account| {
            self.providers.contains_key(&account.provider)
                && confirmed_within(account, self.session_seconds, now)
        });
        let counts = |source: &Source| match source {
            Source::Local => true,
            Source::Provider(name) => trusted.is_some_and(|account| account.provider == *name),
        };
        let membership = |groups::Membership { user: _, group, source }| {
            let counts = counts(&source);
            Membership { group, source, counts }
        };
        stored.into_iter().map(membership).collect()
    }

    /// Whether these groups make an administrator; `written` are those that do so because somebody
    /// wrote it here.
    pub(super) fn administrator(
        &self,
        memberships: &[Membership],
        written: &BTreeSet<GroupName>,
    ) -> bool {
        memberships.iter().filter(|membership| membership.counts).any(|membership| {
            let of_provider = match &membership.source {
                Source::Local => None,
                Source::Provider(name) => self.providers.get(name),
            };
            self.admin_groups.contains(&membership.group)
                || written.contains(&membership.group)
                || of_provider.is_some_and(|rights| rights.admin_groups.contains(&membership.group))
        })
    }

    /// Whether an account is still anybody's: its provider is one of ours and has not said that
    /// there is no such person.
    pub(super) fn stands(&self, account: &ProviderAccount) -> bool {
        account.confirmed_at.is_some() && self.providers.contains_key(&account.provider)
    }
}

/// Whether the provider vouched for the account in these last seconds.
pub(super) fn confirmed_within(account: &ProviderAccount, seconds: u64, now: Timestamp) -> bool {
    let age = account.confirmed_at.map(|at| now.since(at) / 1_000);
    age.is_some_and(|age| u64::try_from(age).unwrap_or(0) < seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn options() -> SignInOptions {
        let rights = |group: &str| ProviderRights {
            admin_groups: vec![group.parse().unwrap()],
            create_accounts: true,
        };
        SignInOptions {
            admin_groups: vec!["wheel".parse().unwrap()],
            providers: [("company".parse().unwrap(), rights("gpu-admins"))].into(),
            ..SignInOptions::default()
        }
    }

    fn account(provider: &str, confirmed_at: Option<i64>) -> ProviderAccount {
        ProviderAccount {
            user: "ada".parse().unwrap(),
            provider: provider.parse().unwrap(),
            issuer: "https://id.example.org".into(),
            subject: "1".into(),
            mail: None,
            confirmed_at: confirmed_at.map(Timestamp),
        }
    }

    fn in_group(group: &str, source: &str) -> groups::Membership {
        groups::Membership {
            user: "ada".parse().unwrap(),
            group: group.parse().unwrap(),
            source: source.parse().unwrap(),
        }
    }

    #[test]
    fn groups_of_a_provider_give_rights_only_for_a_while() {
        let options = options();
        let admin = |group: &str, source: &str, account: Option<ProviderAccount>, at: i64| {
            let stored = vec![in_group(group, source)];
            let memberships = options.memberships(stored, account.as_ref(), Timestamp(at));
            let written = BTreeSet::from(["ops".parse().unwrap()]);
            options.administrator(&memberships, &written)
        };
        let fresh = || Some(account("company", Some(0)));
        assert!(admin("gpu-admins", "company", fresh(), 11 * HOUR));
        assert!(!admin("gpu-admins", "company", fresh(), 12 * HOUR), "nobody has asked since");
        assert!(!admin("gpu-admins", "company", Some(account("company", None)), 0), "gone there");
        assert!(!admin("gpu-admins", "local", None, 0), "it is the provider's group");
        assert!(!admin("gpu-admins", "company", None, 0), "no account of theirs");
        let elsewhere = Some(account("closed", Some(0)));
        assert!(!admin("wheel", "closed", elsewhere, 0), "a provider that is not configured");
        assert!(!admin("wheel", "closed", fresh(), 0), "another provider's word");
        assert!(admin("wheel", "company", fresh(), 0));
        assert!(admin("wheel", "local", None, i64::MAX), "what is written here stays");
        assert!(admin("ops", "local", None, 0), "a group that is written here");
        assert!(!admin("ops", "closed", fresh(), 0), "nobody vouches for who is in it");
    }

    #[test]
    fn an_account_whose_provider_is_gone_is_nobodys() {
        let options = options();
        assert!(options.stands(&account("company", Some(0))));
        assert!(!options.stands(&account("company", None)));
        assert!(!options.stands(&account("closed", Some(0))));
    }
}
