//! What pages read of the server: it comes with the page, and anew from a server function whenever what
//! it depends on changes.

use leptos::prelude::*;
use leptos::server::codee::{Decoder, Encoder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Failed;

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

/// Reads JSON as server functions read their answers: from bytes. Reading it from a text is other code,
/// once more for each type, which the browser would have to load.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_slice(text.as_bytes())
}

/// How JSON comes with a page.
#[derive(Debug)]
pub(crate) struct Json;

impl<T: Serialize> Encoder<T> for Json {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, serde_json::Error> {
        serde_json::to_string(value)
    }
}

impl<T: DeserializeOwned> Decoder<T> for Json {
    type Error = serde_json::Error;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, serde_json::Error> {
        from_json(text)
    }
}

#[cfg(test)]
mod tests {
    use api::{Error, ErrorCode};

    use super::*;

    #[test]
    fn what_comes_with_the_page_is_read_back() {
        let answers: [Result<String, Failed>; 2] = [
            Ok("\"作业\"\u{2028}".to_owned()),
            Err(Error::new(ErrorCode::NoJobError, "no").into()),
        ];
        for answer in answers {
            let text = Json::encode(&answer).unwrap();
            let back = <Json as Decoder<Result<String, Failed>>>::decode(&text).unwrap();
            assert_eq!(back, answer);
        }
    }
}
