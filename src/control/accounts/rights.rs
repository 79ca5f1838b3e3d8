//! What users may do by their groups, and what a company's accounts are good for.

use std::collections::{BTreeMap, BTreeSet};

use api::groups::Membership;
use api::{Actor, Error, ErrorCode};
use database::provider_accounts::ProviderAccount;
use database::users::UserRecord;
use database::{group_settings, groups, provider_accounts};
use protocol::cluster::VirtualClusterSettings;
use protocol::ids::{GroupName, UserName};
use protocol::storages::StorageSettings;

use crate::accounts::people::People;
use crate::accounts::sign_in_options::{SignInOptions, confirmed_within};
use crate::records::store::Store;
use crate::wake::now;

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
    store: &Store,
    people: &People,
    user: &UserRecord,
) -> Result<Option<Standing>, database::Error> {
    let account = provider_accounts::get(store.database.read(), &user.name).await?;
    let stored = groups::of_user(store.database.read(), &user.name).await?;
    standing_of(store, people, user, (account, stored)).await
}

/// The same of whom account and groups were read already.
pub(crate) async fn standing_of(
    store: &Store,
    people: &People,
    user: &UserRecord,
    (account, stored): (Option<ProviderAccount>, Vec<groups::Membership>),
) -> Result<Option<Standing>, database::Error> {
    let options = &people.sign_in;
    if account.as_ref().is_some_and(|account| !options.stands(account)) {
        return Ok(None);
    }
    let written = if user.admin || stored.is_empty() {
        BTreeSet::new()
    } else {
        group_settings::of_administrators(store.database.read()).await?
    };
    Ok(Some(Standing::of(options, user, (stored, &written), account)))
}

/// Whether tokens of an account are still good: they are not, when its provider has not been asked
/// about it for too long.
pub(crate) fn tokens_are_good(people: &People, standing: &Standing) -> bool {
    let limit = people.sign_in.token_seconds;
    standing.account.as_ref().is_none_or(|account| confirmed_within(account, limit, now()))
}

/// Whether somebody may use a virtual cluster. What is known of his groups is read where it decides.
pub(crate) async fn may_use_now(
    store: &Store,
    people: &People,
    actor: &Actor,
    settings: &VirtualClusterSettings,
) -> Result<bool, database::Error> {
    Ok(may_use(actor, &[], settings) || Usable::by(store, people, actor).await?.admits(settings))
}

/// The virtual clusters and storages that somebody may use.
pub(crate) struct Usable<'a> {
    actor: &'a Actor,
    groups: Vec<Membership>,
}

impl<'a> Usable<'a> {
    pub(crate) async fn by(
        store: &Store,
        people: &People,
        actor: &'a Actor,
    ) -> Result<Self, database::Error> {
        let conn = store.database.read();
        let account = provider_accounts::get(conn, &actor.user).await?;
        let stored = groups::of_user(conn, &actor.user).await?;
        let groups = people.sign_in.memberships(stored, account.as_ref(), now());
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
    pub(crate) async fn read(store: &Store) -> Result<Self, database::Error> {
        let mut of_users = BTreeMap::<_, Vec<_>>::new();
        for membership in groups::list(store.database.read()).await? {
            of_users.entry(membership.user.clone()).or_default().push(membership);
        }
        let accounts = provider_accounts::list(store.database.read()).await?;
        let accounts = accounts.into_iter().map(|account| (account.user.clone(), account));
        let of_administrators = group_settings::of_administrators(store.database.read()).await?;
        Ok(Self { groups: of_users, of_administrators, accounts: accounts.collect() })
    }

    /// What is known of one of them.
    pub(crate) fn standing(&mut self, options: &SignInOptions, user: &UserRecord) -> Standing {
        let groups = self.groups.remove(&user.name).unwrap_or_default();
        let account = self.accounts.remove(&user.name);
        Standing::of(options, user, (groups, &self.of_administrators), account)
    }
}
