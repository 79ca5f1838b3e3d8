//! What users may do by their groups, and what a company's accounts are good for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use api::groups::Membership;
use api::{Actor, Error, ErrorCode};
use database::provider_accounts::ProviderAccount;
use database::users::UserRecord;
use database::{group_settings, groups, provider_accounts};
use directory::Directory;
use protocol::cluster::VirtualClusterSettings;
use protocol::ids::{GroupName, ProviderName, UserName};
use protocol::person::Source;
use protocol::storages::StorageSettings;
use protocol::time::Timestamp;

use crate::shared::Shared;
use crate::wake::now;

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
    fn memberships(
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
    fn administrator(&self, memberships: &[Membership], written: &BTreeSet<GroupName>) -> bool {
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
    fn stands(&self, account: &ProviderAccount) -> bool {
        account.confirmed_at.is_some() && self.providers.contains_key(&account.provider)
    }
}

/// Whether the provider vouched for the account in these last seconds.
fn confirmed_within(account: &ProviderAccount, seconds: u64, now: Timestamp) -> bool {
    let age = account.confirmed_at.map(|at| now.since(at) / 1_000);
    age.is_some_and(|age| u64::try_from(age).unwrap_or(0) < seconds)
}

/// Refuses everybody but administrators.
pub(crate) fn administrators_only(actor: &Actor) -> api::Result<()> {
    if actor.admin {
        return Ok(());
    }
    Err(Error::new(ErrorCode::ForbiddenUserError, "only administrators may do this"))
}

/// Refuses everybody but the owner and administrators.
pub(crate) fn owner_only(actor: &Actor, owner: &UserName, what: &str) -> api::Result<()> {
    if actor.admin || actor.user == *owner {
        return Ok(());
    }
    let message = format!("only {owner} and administrators may {what}");
    Err(Error::new(ErrorCode::ForbiddenUserError, message))
}

/// A user, with all that follows from groups.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) actor: Actor,
    pub(crate) memberships: Vec<Membership>,
    pub(crate) account: Option<ProviderAccount>,
}

impl Standing {
    /// What all of this says of a user at this moment.
    pub(crate) fn of(
        options: &SignInOptions,
        user: &UserRecord,
        (stored, written): (Vec<groups::Membership>, &BTreeSet<GroupName>),
        account: Option<ProviderAccount>,
    ) -> Self {
        let memberships = options.memberships(stored, account.as_ref(), now());
        let admin = user.admin || options.administrator(&memberships, written);
        Self { actor: Actor { user: user.name.clone(), admin }, memberships, account }
    }

    /// Whether a virtual cluster may be used.
    pub(crate) fn may_use(&self, settings: &VirtualClusterSettings) -> bool {
        may_use(&self.actor, &self.memberships, settings)
    }

    /// Whether his jobs may have a storage.
    pub(crate) fn may_have(&self, settings: &StorageSettings) -> bool {
        self.actor.admin || is_meant_by(&self.actor, &self.memberships, settings)
    }
}

fn may_use(actor: &Actor, groups: &[Membership], settings: &VirtualClusterSettings) -> bool {
    let counting = groups.iter().filter(|group| group.counts).map(|group| &group.group);
    actor.admin || settings.admits(&actor.user, counting)
}

/// Whether a storage is for somebody, be he an administrator or not.
fn is_meant_by(actor: &Actor, groups: &[Membership], settings: &StorageSettings) -> bool {
    let counting = groups.iter().filter(|group| group.counts).map(|group| &group.group);
    settings.admits(&actor.user, counting)
}

/// What is known of a user; `None`: the account is nobody's any more.
pub(crate) async fn standing(
    shared: &Shared,
    user: &UserRecord,
) -> Result<Option<Standing>, database::Error> {
    let account = provider_accounts::get(shared.database.read(), &user.name).await?;
    let options = &shared.sign_in;
    if account.as_ref().is_some_and(|account| !options.stands(account)) {
        return Ok(None);
    }
    let stored = groups::of_user(shared.database.read(), &user.name).await?;
    let written = if user.admin || stored.is_empty() {
        BTreeSet::new()
    } else {
        group_settings::of_administrators(shared.database.read()).await?
    };
    Ok(Some(Standing::of(options, user, (stored, &written), account)))
}

/// Whether tokens of an account are still good: they are not, when its provider has not been asked
/// about it for too long.
pub(crate) fn tokens_are_good(shared: &Shared, standing: &Standing) -> bool {
    let limit = shared.sign_in.token_seconds;
    standing.account.as_ref().is_none_or(|account| confirmed_within(account, limit, now()))
}

/// Whether somebody may use a virtual cluster. What is known of his groups is read where it decides.
pub(crate) async fn may_use_now(
    shared: &Shared,
    actor: &Actor,
    settings: &VirtualClusterSettings,
) -> Result<bool, database::Error> {
    Ok(may_use(actor, &[], settings) || Usable::by(shared, actor).await?.admits(settings))
}

/// The virtual clusters and storages that somebody may use.
pub(crate) struct Usable<'a> {
    actor: &'a Actor,
    groups: Vec<Membership>,
}

impl<'a> Usable<'a> {
    pub(crate) async fn by(shared: &Shared, actor: &'a Actor) -> Result<Self, database::Error> {
        let conn = shared.database.read();
        let account = provider_accounts::get(conn, &actor.user).await?;
        let stored = groups::of_user(conn, &actor.user).await?;
        let groups = shared.sign_in.memberships(stored, account.as_ref(), now());
        Ok(Self { actor, groups })
    }

    pub(crate) fn admits(&self, settings: &VirtualClusterSettings) -> bool {
        may_use(self.actor, &self.groups, settings)
    }

    /// Whether his jobs may have a storage.
    pub(crate) fn opens(&self, settings: &StorageSettings) -> bool {
        self.actor.admin || is_meant_by(self.actor, &self.groups, settings)
    }

    /// Whether his jobs have a storage that name none. An administrator may have any, and not without
    /// a word those that are others'.
    pub(crate) fn has_by_default(&self, settings: &StorageSettings) -> bool {
        settings.default && is_meant_by(self.actor, &self.groups, settings)
    }
}

/// What all users' groups and accounts say, for lists.
#[derive(Debug)]
pub(crate) struct Everybody {
    groups: BTreeMap<UserName, Vec<groups::Membership>>,
    /// The groups that make administrators because somebody wrote it here.
    of_administrators: BTreeSet<GroupName>,
    accounts: BTreeMap<UserName, ProviderAccount>,
}

impl Everybody {
    pub(crate) async fn read(shared: &Shared) -> Result<Self, database::Error> {
        let mut of_users = BTreeMap::<_, Vec<_>>::new();
        for membership in groups::list(shared.database.read()).await? {
            of_users.entry(membership.user.clone()).or_default().push(membership);
        }
        let accounts = provider_accounts::list(shared.database.read()).await?;
        let accounts = accounts.into_iter().map(|account| (account.user.clone(), account));
        let of_administrators = group_settings::of_administrators(shared.database.read()).await?;
        Ok(Self { groups: of_users, of_administrators, accounts: accounts.collect() })
    }

    /// What is known of one of them.
    pub(crate) fn standing(&mut self, options: &SignInOptions, user: &UserRecord) -> Standing {
        let groups = self.groups.remove(&user.name).unwrap_or_default();
        let account = self.accounts.remove(&user.name);
        Standing::of(options, user, (groups, &self.of_administrators), account)
    }
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
