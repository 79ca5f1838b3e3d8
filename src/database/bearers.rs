//! Who asks by a token: each request wants to know all of this, and has it by one statement.

use protocol::time::Timestamp;
use sea_orm::{FromQueryResult, Statement, Value};

use crate::groups::{self, Membership};
use crate::provider_accounts::{self, ProviderAccount};
use crate::tokens::{self, TokenRecord};
use crate::users::{self, UserRecord};
use crate::{ConnectionTrait, Result};

/// A token with whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearer {
    /// The token.
    pub token: TokenRecord,
    /// Whose it is.
    pub user: UserRecord,
    /// His account at a provider, if one vouches for him.
    pub account: Option<ProviderAccount>,
    /// His groups, by source and name.
    pub memberships: Vec<Membership>,
}

/// A row for each of his groups, one for him who is in none.
const OF_HASH: &str = "SELECT tokens.id AS t_id, tokens.hash AS t_hash, tokens.user_name AS t_user_name, \
    tokens.label AS t_label, tokens.created_at AS t_created_at, tokens.expires_at AS t_expires_at, \
    tokens.made_by AS t_made_by, tokens.by_sign_in AS t_by_sign_in, \
    users.name AS u_name, users.password_hash AS u_password_hash, users.admin AS u_admin, \
    users.created_at AS u_created_at, users.password_changed_at AS u_password_changed_at, \
    users.password_temporary AS u_password_temporary, \
    provider_accounts.user_name AS a_user_name, provider_accounts.provider AS a_provider, \
    provider_accounts.issuer AS a_issuer, provider_accounts.subject AS a_subject, \
    provider_accounts.mail AS a_mail, provider_accounts.confirmed_at AS a_confirmed_at, \
    user_groups.user_name AS g_user_name, user_groups.source AS g_source, user_groups.name AS g_name \
    FROM tokens JOIN users ON users.name = tokens.user_name \
    LEFT JOIN provider_accounts ON provider_accounts.user_name = users.name \
    LEFT JOIN user_groups ON user_groups.user_name = users.name \
    WHERE tokens.hash = $1 ORDER BY user_groups.source, user_groups.name";

/// Whose the token of a hash is, unless it has expired by `now`.
///
/// # Errors
/// See [`crate::Error`].
pub async fn by_hash(
    conn: &impl ConnectionTrait,
    hash: &str,
    now: Timestamp,
) -> Result<Option<Bearer>> {
    let backend = conn.get_database_backend();
    let statement = Statement::from_sql_and_values(backend, OF_HASH, [Value::from(hash)]);
    let rows = conn.query_all_raw(statement).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let token = tokens::row::Model::from_query_result(row, "t_")?.into_record()?;
    if token.expires_at.is_some_and(|end| end <= now) {
        return Ok(None);
    }
    let user = users::row::Model::from_query_result(row, "u_")?.into_record()?;
    let account = Option::<provider_accounts::row::Model>::from_query_result(row, "a_")?;
    let account = account.map(provider_accounts::row::Model::into_account).transpose()?;
    let mut memberships = Vec::new();
    for row in &rows {
        let membership = Option::<groups::row::Model>::from_query_result(row, "g_")?;
        memberships.extend(membership.map(groups::row::Model::into_membership).transpose()?);
    }
    Ok(Some(Bearer { token, user, account, memberships }))
}
