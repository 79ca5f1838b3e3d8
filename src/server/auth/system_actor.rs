use api::Actor;
use protocol::ids::UserName;

/// The actor of the server itself, for what nobody in particular asks.
pub(crate) fn system_actor() -> Actor {
    let user = UserName::new("system").expect("the word is a valid user name");
    Actor { user, admin: true }
}
