//! JSON as pages read it. A reader that says of every mistake what was expected where is compiled once
//! more for each type that it reads, and the browser loads all that code. But what pages read the server
//! has written, from the same types: where it cannot be read, one of them is older than the other, and
//! that is all there is to say.

use std::{fmt, mem, vec};

use leptos::server::codee::{Decoder, Encoder};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};
use serde_json::{Value, map};
use server_fn::codec::Post;
use server_fn::{Bytes, ContentType, Decodes, Encodes, Format, FormatType};

/// How server functions answer.
pub(crate) type Answer = Post<Json>;

/// Reads a text.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    from_bytes(text.as_bytes())
}

fn from_bytes<T: DeserializeOwned>(text: &[u8]) -> Result<T, Unreadable> {
    let read: serde_json::Result<Value> = serde_json::from_slice(text);
    Deserialize::deserialize(Tree(read.map_err(|_| Unreadable)?))
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

impl de::Error for Unreadable {
    fn custom<W: fmt::Display>(_why: W) -> Self {
        Self
    }
}

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

/// A value that is to become one of a type.
struct Tree(Value);

impl Tree {
    fn text(self) -> Result<String, Unreadable> {
        match self.0 {
            Value::String(text) => Ok(text),
            _other => Err(Unreadable),
        }
    }

    fn items(self) -> Result<Items, Unreadable> {
        match self.0 {
            Value::Array(items) => Ok(Items(items.into_iter())),
            _other => Err(Unreadable),
        }
    }

    fn entries(self) -> Result<Entries, Unreadable> {
        match self.0 {
            Value::Object(entries) => Ok(Entries { rest: entries.into_iter(), value: Value::Null }),
            _other => Err(Unreadable),
        }
    }

    /// A variant is its name alone, or the one key before its content.
    fn variant(self) -> Result<Variant, Unreadable> {
        match self.0 {
            Value::String(name) => Ok(Variant { name, content: Value::Null }),
            Value::Object(entries) => {
                let mut entries = entries.into_iter();
                let (name, content) = entries.next().ok_or(Unreadable)?;
                entries.next().is_none().then_some(Variant { name, content }).ok_or(Unreadable)
            }
            _other => Err(Unreadable),
        }
    }
}

/// What is read by one question to the value.
macro_rules! plain {
    ($($method:ident: $value:ident => $visit:ident),+ $(,)?) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
                visitor.$visit(self.0.$value().ok_or(Unreadable)?)
            }
        )+
    };
}

impl<'de> Deserializer<'de> for Tree {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::String(text) => visitor.visit_string(text),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().ok_or(Unreadable)?),
            },
            Value::Array(_) => visitor.visit_seq(self.items()?),
            Value::Object(_) => visitor.visit_map(self.entries()?),
        }
    }

    plain! {
        deserialize_bool: as_bool => visit_bool,
        deserialize_u8: as_u64 => visit_u64,
        deserialize_u16: as_u64 => visit_u64,
        deserialize_u32: as_u64 => visit_u64,
        deserialize_u64: as_u64 => visit_u64,
        deserialize_i8: as_i64 => visit_i64,
        deserialize_i16: as_i64 => visit_i64,
        deserialize_i32: as_i64 => visit_i64,
        deserialize_i64: as_i64 => visit_i64,
        deserialize_f32: as_f64 => visit_f64,
        deserialize_f64: as_f64 => visit_f64,
        deserialize_char: as_str => visit_str,
        deserialize_identifier: as_str => visit_str,
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_string(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_string(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.0.as_null().ok_or(Unreadable)?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_seq(self.items()?)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_seq(self.items()?)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_seq(self.items()?)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_map(self.entries()?)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_map(self.entries()?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_enum(self.variant()?)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { bytes byte_buf }
}

/// The items of a list, one after the other.
struct Items(vec::IntoIter<Value>);

impl<'de> SeqAccess<'de> for Items {
    type Error = Unreadable;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Unreadable> {
        self.0.next().map(|item| seed.deserialize(Tree(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The entries of an object, one after the other.
struct Entries {
    rest: map::IntoIter,
    /// The value of the key that was read last.
    value: Value,
}

impl Entries {
    fn key(&mut self) -> Option<Tree> {
        let (key, value) = self.rest.next()?;
        self.value = value;
        Some(Tree(Value::String(key)))
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = Unreadable;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Unreadable> {
        self.key().map(|key| seed.deserialize(key)).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, Unreadable> {
        seed.deserialize(Tree(mem::take(&mut self.value)))
    }
}

/// One of an enum.
struct Variant {
    name: String,
    /// Null where there is none.
    content: Value,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Unreadable;
    type Variant = Tree;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Tree), Unreadable> {
        let name = seed.deserialize(Tree(Value::String(self.name)))?;
        Ok((name, Tree(self.content)))
    }
}

impl<'de> VariantAccess<'de> for Tree {
    type Error = Unreadable;

    fn unit_variant(self) -> Result<(), Unreadable> {
        self.0.as_null().ok_or(Unreadable)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, Unreadable> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_seq(self.items()?)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_map(self.entries()?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;

    use api::changes::Change;
    use api::node_map::MapGpu;
    use api::queue::{Alternative, Instead};
    use api::terminals::TerminalEnd;
    use api::{Error, ErrorCode};
    use protocol::amount::Amount;
    use protocol::exit::Cause;
    use protocol::ids::{JobId, JobKey};
    use protocol::resources::PortRange;
    use protocol::state::State;

    use super::*;
    use crate::Failed;
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
        comes_back(MapGpu { index: 0, gpu_type, healthy: true, holders });
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
