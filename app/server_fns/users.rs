use api::users::{NewToken, TokenView, UserView};
use leptos::prelude::*;
use protocol::ids::UserName;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// All users.
#[server(prefix = "/fn", endpoint = "users/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_users() -> Result<Vec<UserView>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.users.list(&actor).await.map_err(failed)
}

/// Adds a user.
#[server(prefix = "/fn", endpoint = "users/add", output = Answer)]
pub(crate) async fn add_user(
    name: UserName,
    password: String,
    #[server(default)] admin: bool,
    #[server(default)] temporary: bool,
) -> Result<(), Failed> {
    use api::users::NewUser;

    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let user = NewUser { name, password, admin, temporary };
    backend.users.create(&actor, user).await.map_err(failed)
}

/// Sets somebody's password, as an administrator; `temporary`: he is to choose another one.
#[server(prefix = "/fn", endpoint = "users/password", output = Answer)]
pub(crate) async fn set_password(
    user: UserName,
    new: String,
    #[server(default)] temporary: bool,
) -> Result<(), Failed> {
    use api::users::PasswordChange;

    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let change = PasswordChange { user, old: None, new, keep: None, temporary };
    backend.users.set_password(&actor, change).await.map_err(failed)
}

/// Removes a user.
#[server(prefix = "/fn", endpoint = "users/remove", output = Answer)]
pub(crate) async fn remove_user(name: UserName) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.users.remove(&actor, &name).await.map_err(failed)
}

/// Makes a user an administrator, or no more.
#[server(prefix = "/fn", endpoint = "users/admin", output = Answer)]
pub(crate) async fn set_admin(name: UserName, admin: bool) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.users.set_admin(&actor, &name, admin).await.map_err(failed)
}

/// Ends all sessions and tokens of a user.
#[server(prefix = "/fn", endpoint = "users/end-access", output = Answer)]
pub(crate) async fn end_access(name: UserName) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.users.end_access(&actor, &name).await.map_err(failed)
}

/// Changes one's own password; `keep`: this session goes on, all others and all tokens end.
#[server(prefix = "/fn", endpoint = "profile/password", output = Answer)]
pub(crate) async fn change_password(
    old: String,
    new: String,
    #[server(default)] keep: bool,
) -> Result<(), Failed> {
    use api::users::PasswordChange;

    use crate::edge::{call, failed, means};
    let (backend, actor) = call()?;
    let keep = means().filter(|_| keep);
    let user = actor.user.clone();
    let change = PasswordChange { user, old: Some(old), new, keep, temporary: false };
    backend.users.set_password(&actor, change).await.map_err(failed)
}

/// One's own tokens.
#[server(prefix = "/fn", endpoint = "tokens/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_tokens() -> Result<Vec<TokenView>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.users.tokens(&actor).await.map_err(failed)
}

/// Makes a token; 0 days: as long as one may live.
#[server(prefix = "/fn", endpoint = "tokens/create", output = Answer)]
pub(crate) async fn create_token(label: String, days: u64) -> Result<NewToken, Failed> {
    use api::users::Means;

    use crate::edge::{call, failed, means};
    let (backend, actor) = call()?;
    let by = means().unwrap_or(Means::Password);
    let lifetime = (days > 0).then_some(days.saturating_mul(86_400));
    backend.users.create_token(&actor, &by, &label, lifetime).await.map_err(failed)
}

/// Revokes a token.
#[server(prefix = "/fn", endpoint = "tokens/revoke", output = Answer)]
pub(crate) async fn revoke_token(id: i64) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.users.revoke_token(&actor, id).await.map_err(failed)
}
