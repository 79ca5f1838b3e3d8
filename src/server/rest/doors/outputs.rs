use axum::Json;
use axum::http::StatusCode;
use axum::response::{Html, Redirect, Response};
use schemars::JsonSchema;

use super::operation::{Content, Operation, schema};
use crate::failure::Failure;

/// What a handler gives. Where its type does not say what that is, its route does.
pub(crate) trait Output {
    /// Says what it is.
    fn describe(_operation: &mut Operation) {}
}

impl Output for Response {}
impl Output for StatusCode {}
impl<T> Output for (StatusCode, T) {}

impl Output for &'static str {
    fn describe(operation: &mut Operation) {
        operation.answers.push((200, Some(Content::Raw("text/plain; charset=utf-8"))));
    }
}

impl Output for Html<String> {
    fn describe(operation: &mut Operation) {
        operation.answers.push((200, Some(Content::Raw("text/html; charset=utf-8"))));
    }
}

impl Output for Redirect {
    fn describe(operation: &mut Operation) {
        operation.answers.push((303, None));
    }
}

impl<T: JsonSchema> Output for Json<T> {
    fn describe(operation: &mut Operation) {
        operation.answers.push((200, Some(Content::Json(schema::<T>))));
    }
}

impl<T: Output> Output for Result<T, Failure> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}
