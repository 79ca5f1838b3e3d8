//! Accounts of people who sign in by a provider: whom each belongs to there.

use protocol::ids::{ProviderName, UserName};
use protocol::person::Person;
use protocol::time::Timestamp;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Set};

use crate::convert::millis;
use crate::error::named;
use crate::{ConnectionTrait, Result};

pub(crate) mod row {
    use sea_orm::entity::prelude::*;

    use super::ProviderAccount;
    use crate::Result;
    use crate::convert::{Row, moment};

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "provider_accounts")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_name: String,
        pub provider: String,
        pub issuer: String,
        pub subject: String,
        pub mail: Option<String>,
        pub confirmed_at: Option<i64>,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_account(self) -> Result<ProviderAccount> {
            let row = Row::new("provider_accounts", &self.user_name);
            Ok(ProviderAccount {
                user: row.name(&self.user_name)?,
                provider: row.name(&self.provider)?,
                confirmed_at: moment(self.confirmed_at),
                issuer: self.issuer,
                subject: self.subject,
                mail: self.mail,
            })
        }
    }
}

/// Whom an account belongs to at its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderAccount {
    /// The account.
    pub user: UserName,
    /// The provider, by its name in the configuration.
    pub provider: ProviderName,
    /// Who issued the subject.
    pub issuer: String,
    /// What stays the same when the person gets another name.
    pub subject: String,
    /// Where mail reaches the person.
    pub mail: Option<String>,
    /// When the provider last vouched for the person; none: it says that there is no such person.
    pub confirmed_at: Option<Timestamp>,
}

/// The account of a user, if a provider vouches for it.
///
/// # Errors
/// See [`crate::Error`].
pub async fn get(conn: &impl ConnectionTrait, user: &UserName) -> Result<Option<ProviderAccount>> {
    let found = row::Entity::find_by_id(user.as_str()).one(conn).await?;
    found.map(row::Model::into_account).transpose()
}

/// The account of a person.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_person(
    conn: &impl ConnectionTrait,
    person: &Person,
) -> Result<Option<ProviderAccount>> {
    let query = row::Entity::find()
        .filter(row::Column::Issuer.eq(&*person.issuer))
        .filter(row::Column::Subject.eq(&*person.subject));
    query.one(conn).await?.map(row::Model::into_account).transpose()
}

/// All accounts by name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<Vec<ProviderAccount>> {
    let rows = row::Entity::find().order_by_asc(row::Column::UserName).all(conn).await?;
    rows.into_iter().map(row::Model::into_account).collect()
}

/// The accounts of a provider, by name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_provider(
    conn: &impl ConnectionTrait,
    provider: &ProviderName,
) -> Result<Vec<ProviderAccount>> {
    let query = row::Entity::find()
        .filter(row::Column::Provider.eq(provider.as_str()))
        .order_by_asc(row::Column::UserName);
    query.all(conn).await?.into_iter().map(row::Model::into_account).collect()
}

/// Gives an existing user to a person.
///
/// # Errors
/// [`crate::Error::Conflict`] when the user or the person has such an account.
pub async fn insert(
    conn: &impl ConnectionTrait,
    user: &UserName,
    person: &Person,
    now: Timestamp,
) -> Result<()> {
    let row = row::ActiveModel {
        user_name: Set(user.to_string()),
        provider: Set(person.provider.to_string()),
        issuer: Set(person.issuer.clone()),
        subject: Set(person.subject.clone()),
        mail: Set(person.mail.clone()),
        confirmed_at: Set(Some(now.0)),
    };
    row::Entity::insert(row)
        .exec_without_returning(conn)
        .await
        .map_err(named(format!("an account of {user} at a provider")))?;
    Ok(())
}

/// The provider has vouched for the person of this account just now.
///
/// # Errors
/// See [`crate::Error`].
pub async fn confirm(
    conn: &impl ConnectionTrait,
    user: &UserName,
    person: &Person,
    now: Timestamp,
) -> Result<()> {
    let change = row::ActiveModel {
        provider: Set(person.provider.to_string()),
        mail: Set(person.mail.clone()),
        confirmed_at: Set(millis(Some(now))),
        ..Default::default()
    };
    let whose = row::Entity::update_many().filter(row::Column::UserName.eq(user.as_str()));
    whose.set(change).exec(conn).await?;
    Ok(())
}

/// The provider says that there is no such person any more.
///
/// # Errors
/// See [`crate::Error`].
pub async fn deny(conn: &impl ConnectionTrait, user: &UserName) -> Result<()> {
    let change = row::ActiveModel { confirmed_at: Set(None), ..Default::default() };
    let whose = row::Entity::update_many().filter(row::Column::UserName.eq(user.as_str()));
    whose.set(change).exec(conn).await?;
    Ok(())
}
