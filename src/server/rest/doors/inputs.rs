use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use schemars::JsonSchema;

use super::operation::{Content, Operation, schema};
use crate::auth::{ClientAddress, Signed, Still};
use crate::rest::body::{Fields, Params};
use crate::rest::person::Person;

/// What a handler takes of a request.
pub(crate) trait Input {
    /// Says what it is; of what nobody sends there is nothing to say.
    fn describe(_operation: &mut Operation) {}
}

/// Bytes that are taken as they come.
const BYTES: &str = "application/octet-stream";

impl<T> Input for State<T> {}
impl<T> Input for Extension<T> {}
impl Input for HeaderMap {}
impl Input for ClientAddress {}
impl Input for Still {}

impl Input for Signed {
    fn describe(operation: &mut Operation) {
        operation.signed = true;
    }
}

impl Input for Person {
    fn describe(operation: &mut Operation) {
        operation.signed = true;
    }
}

impl<T: JsonSchema> Input for Path<T> {
    fn describe(operation: &mut Operation) {
        operation.path = Some(schema::<T>);
    }
}

impl<T: JsonSchema> Input for Params<T> {
    fn describe(operation: &mut Operation) {
        operation.query.push(schema::<T>);
    }
}

impl<T: JsonSchema> Input for Query<T> {
    fn describe(operation: &mut Operation) {
        operation.query.push(schema::<T>);
    }
}

impl<T: JsonSchema> Input for Fields<T> {
    fn describe(operation: &mut Operation) {
        operation.takes.push(Content::Json(schema::<T>));
    }
}

impl Input for Body {
    fn describe(operation: &mut Operation) {
        operation.takes.push(Content::Raw(BYTES));
    }
}

macro_rules! together {
    ($($argument:ident)*) => {
        impl<$($argument: Input),*> Input for ($($argument,)*) {
            fn describe(operation: &mut Operation) {
                $($argument::describe(operation);)*
            }
        }
    };
}

impl Input for () {}
together!(A);
together!(A B);
together!(A B C);
together!(A B C D);
together!(A B C D E);
together!(A B C D E F);
