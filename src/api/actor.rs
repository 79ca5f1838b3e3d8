use protocol::ids::UserName;
use serde::{Deserialize, Serialize};

/// Who asks. Every operation has it as its first argument and decides by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// The signed-in user.
    pub user: UserName,
    /// Whether it is an administrator.
    pub admin: bool,
}
