//! What pages read of the server: it comes with the page, and anew from a server function whenever what
//! it depends on changes.

use leptos::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failed::Failed;
use crate::json::Json;

/// Something that is read.
pub(crate) type Reading<T> = Resource<Result<T, Failed>, Json>;

/// Reads by `read` what `source` asks for.
pub(crate) fn reading<S, T, F>(
    source: impl Fn() -> S + Send + Sync + 'static,
    read: impl Fn(S) -> F + Send + Sync + 'static,
) -> Reading<T>
where
    S: PartialEq + Clone + Send + Sync + 'static,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
    F: Future<Output = Result<T, Failed>> + Send + 'static,
{
    Resource::new_with_options(source, read, false)
}

/// The same, and the answer's status and head wait for it.
pub(crate) fn reading_first<S, T, F>(
    source: impl Fn() -> S + Send + Sync + 'static,
    read: impl Fn(S) -> F + Send + Sync + 'static,
) -> Reading<T>
where
    S: PartialEq + Clone + Send + Sync + 'static,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
    F: Future<Output = Result<T, Failed>> + Send + 'static,
{
    Resource::new_with_options(source, read, true)
}
