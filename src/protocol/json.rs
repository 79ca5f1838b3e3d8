//! JSON that has been read, as what it becomes. A reader that says of every mistake what was expected
//! where is compiled once more for each type that it reads, and the browser loads all that code. This one
//! says of everything that it is not what was expected.

use std::{fmt, mem, vec};

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Value, map};

/// Not what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not what was expected")]
pub struct Unreadable;

impl de::Error for Unreadable {
    fn custom<W: fmt::Display>(_why: W) -> Self {
        Self
    }
}

/// A value that is to become one of a type.
#[derive(Debug)]
pub struct Tree(Value);

impl From<Value> for Tree {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

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
        // Where a word among others tells the variant, the others are there in any case.
        let is_bare = matches!(self.0, Value::Null | Value::Object(_));
        is_bare.then_some(()).ok_or(Unreadable)
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
