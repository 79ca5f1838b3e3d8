//! JSON as pages read it. What pages read the server has written, from the same types: where it cannot be
//! read, one of them is older than the other, and that is all there is to say.

use std::fmt;

use leptos::server::codee::{Decoder, Encoder};
use protocol::json::Tree;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use server_fn::codec::Post;
use server_fn::{Bytes, ContentType, Decodes, Encodes, Format, FormatType};

/// How server functions answer.
pub(crate) type Answer = Post<Json>;

/// Reads a text.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    from_bytes(text.as_bytes())
}

/// One of an enum by its name.
pub(crate) fn from_word<T: DeserializeOwned>(word: String) -> Option<T> {
    Deserialize::deserialize(Tree::from(Value::String(word))).ok()
}

fn from_bytes<T: DeserializeOwned>(text: &[u8]) -> Result<T, Unreadable> {
    let read: serde_json::Result<Value> = serde_json::from_slice(text);
    let tree = Tree::from(read.map_err(|_| Unreadable)?);
    Deserialize::deserialize(tree).map_err(|_| Unreadable)
}

/// Not what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the page is of another version than the server: load it anew")
    }
}

impl std::error::Error for Unreadable {}

/// JSON that comes with a page, and as the answer of a server function.
#[derive(Debug)]
pub struct Json;

impl<T: Serialize> Encoder<T> for Json {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, serde_json::Error> {
        serde_json::to_string(value)
    }
}

impl<T: DeserializeOwned> Decoder<T> for Json {
    type Error = Unreadable;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, Unreadable> {
        from_json(text)
    }
}

impl ContentType for Json {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for Json {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for Json {
    type Error = serde_json::Error;

    fn encode(value: &T) -> Result<Bytes, serde_json::Error> {
        serde_json::to_vec(value).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for Json {
    type Error = Unreadable;

    fn decode(text: Bytes) -> Result<T, Unreadable> {
        from_bytes(&text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;

    use api::changes::Change;
    use api::node_map::{Does, MapGpu};
    use api::queue::{Alternative, Instead};
    use api::terminals::TerminalEnd;
    use api::{Error, ErrorCode};
    use protocol::amount::Amount;
    use protocol::exit::Cause;
    use protocol::ids::{JobId, JobKey};
    use protocol::resources::PortRange;
    use protocol::state::State;

    use super::*;
    use crate::failed::Failed;
    use crate::i18n::Language;

    fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T) {
        let text = <Json as Encoder<T>>::encode(&value).unwrap();
        let back = <Json as Decoder<T>>::decode(&text);
        assert_eq!(back.as_ref(), Ok(&value), "{text}");
        let answer = <Json as Encodes<T>>::encode(&value).unwrap();
        assert_eq!(<Json as Decodes<T>>::decode(answer), Ok(value), "{text}");
    }

    #[test]
    fn what_is_written_is_read_back() {
        comes_back((u64::MAX, i64::MIN, u8::MAX, -0.25_f64, 'é', true, ()));
        comes_back([Some("\"作业\"\u{2028}".to_owned()), None]);
        comes_back(BTreeMap::from([(State::Waiting, 3_u64), (State::Running, 0)]));
        let failed = Failed::from(Error::new(ErrorCode::NoJobError, "no"));
        comes_back::<[Result<(), Failed>; 2]>([Ok(()), Err(failed)]);
    }

    #[test]
    fn every_way_to_write_a_type_is_read() {
        let key: JobKey = "ada~a".parse().unwrap();
        let job = Change::Job { id: JobId(1), key: key.clone(), state: State::Running };
        comes_back([job, Change::Missed]);
        comes_back([TerminalEnd::Exited(Some(3)), TerminalEnd::Exited(None), TerminalEnd::Idle]);
        comes_back([Cause::Succeeded, Cause::OutOfMemory { limit_mb: 1 }]);
        let instead = Instead::Split { tasks: 2, gpus: 4 };
        comes_back(Alternative { instead, borrowed: true, before: Some(key.clone()) });
        let holders =
            vec![(key, Amount::from_milli(250)), ("bob~b".parse().unwrap(), Amount::whole(1))];
        let gpu_type = "A100".parse().unwrap();
        let does = Does { load: Some(3), memory: None, temperature: Some(61), idle: true };
        comes_back(MapGpu { index: 0, gpu_type, healthy: true, holders, does: Some(does) });
        comes_back(PortRange::default());
    }

    #[test]
    fn what_is_not_expected_is_unreadable() {
        fn is_unreadable<T: DeserializeOwned + PartialEq + Debug>(texts: &[&str]) {
            for text in texts {
                assert_eq!(from_json::<T>(text), Err(Unreadable), "{text}");
            }
        }
        is_unreadable::<u8>(&["", "300", "-1", "0.5", "\"1\"", "null", "1 1"]);
        is_unreadable::<String>(&["1", "null", "[]"]);
        is_unreadable::<Vec<u8>>(&["{}", "[1", "[\"1\"]"]);
        is_unreadable::<BTreeMap<String, u8>>(&["[]", "{\"a\":null}"]);
        is_unreadable::<State>(&["\"ODD\"", "1", "{}", "{\"WAITING\":1}"]);
        is_unreadable::<JobKey>(&["{\"user\":\"ada\"}", "[\"ada\",\"a\"]", "\"ada~a\""]);
        let told = Language::Chinese.told(&Unreadable.to_string());
        assert_ne!(told, Unreadable.to_string());
    }
}
