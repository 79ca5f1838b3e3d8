use axum::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer to a request that was taken and changes something.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Message {
    message: String,
}

pub(super) fn message(text: impl Into<String>) -> Json<Message> {
    Json(Message { message: text.into() })
}
