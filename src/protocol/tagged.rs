//! Enums whose variant is told by a word among its fields: `{"code": "gang", "tasks": 4, "fit": 2}`.
//!
//! What serde itself would read them by keeps the fields in a form of its own until it knows the word, and
//! then reads them from there: whatever they are made of is compiled once more, for the browser to load.
//! Here they are kept as JSON, from which pages read everything.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::{Map, Value};

use crate::json::{Tree, Unreadable};

/// Reads an enum: `read` knows it as serde writes enums without a tag, `{"gang": {"tasks": 4, "fit": 2}}`.
///
/// # Errors
///
/// When the tag is missing, or what is beside it is not what `read` expects.
pub fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    tag: &'static str,
    read: fn(Tree) -> Result<T, Unreadable>,
) -> Result<T, D::Error> {
    let fields = Value::deserialize(deserializer)?;
    let word = fields.get(tag).and_then(Value::as_str).map(str::to_owned);
    let word = word.ok_or_else(|| D::Error::missing_field(tag))?;
    let mut outside = Map::new();
    outside.insert(word, fields);
    read(Tree::from(Value::Object(outside))).map_err(D::Error::custom)
}

/// Reads two whose fields stand in one object.
///
/// # Errors
///
/// When one of them cannot be read from it.
pub fn mixed<'de, D, A, B>(deserializer: D) -> Result<(A, B), D::Error>
where
    D: Deserializer<'de>,
    A: DeserializeOwned,
    B: DeserializeOwned,
{
    let fields = Value::deserialize(deserializer)?;
    let one = A::deserialize(Tree::from(fields.clone())).map_err(D::Error::custom)?;
    let other = B::deserialize(Tree::from(fields)).map_err(D::Error::custom)?;
    Ok((one, other))
}

/// Declares such an enum, after its tag and its own name as texts. It is written by what is derived.
#[macro_export]
macro_rules! tagged {
    ($tag:tt $text:tt $(#[$about:meta])* $visible:vis enum $name:ident { $($variants:tt)* }) => {
        $(#[$about])*
        #[serde(tag = $tag, rename_all = "snake_case")]
        $visible enum $name {
            $($variants)*
        }

        const _: () = {
            /// The same without its tag.
            #[derive(serde::Deserialize)]
            #[serde(remote = $text, rename_all = "snake_case")]
            enum Untagged {
                $($variants)*
            }

            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D>(deserializer: D) -> std::result::Result<Self, D::Error>
                where
                    D: serde::Deserializer<'de>,
                {
                    $crate::tagged::read(deserializer, $tag, |tree| Untagged::deserialize(tree))
                }
            }
        };
    };
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    tagged! {
        "kind" "Change"
        /// What becomes of something.
        #[derive(Debug, PartialEq, Eq, Serialize)]
        enum Change {
            Gone,
            Moved {
                from: u8,
                #[serde(default)]
                to: Option<Box<Change>>,
            },
            Grown(Size),
        }
    }

    #[derive(Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
    struct Size {
        bytes: u64,
    }

    #[test]
    fn the_word_stands_anywhere_among_the_fields() {
        for (text, change) in [
            (r#"{"kind":"gone"}"#, Change::Gone),
            (r#"{"kind":"gone","since":1}"#, Change::Gone),
            (r#"{"from":1,"kind":"moved"}"#, Change::Moved { from: 1, to: None }),
            (
                r#"{"to":{"bytes":9,"kind":"grown"},"from":1,"kind":"moved"}"#,
                Change::Moved { from: 1, to: Some(Box::new(Change::Grown(Size { bytes: 9 }))) },
            ),
        ] {
            let read: Change = serde_json::from_str(text).unwrap();
            assert_eq!(read, change, "{text}");
            let written = serde_json::to_string(&read).unwrap();
            assert_eq!(serde_json::from_str::<Change>(&written).unwrap(), change, "{written}");
            assert!(written.starts_with(r#"{"kind":"#), "{written}");
        }
    }

    #[test]
    fn what_is_no_variant_is_refused() {
        for (text, told) in [
            ("{}", "missing field `kind`"),
            (r#"{"kind":1}"#, "missing field `kind`"),
            ("[]", "missing field `kind`"),
            (r#"{"kind":"odd"}"#, "not what was expected"),
            (r#"{"kind":"moved","from":"a"}"#, "not what was expected"),
            (r#"{"kind":"moved"}"#, "not what was expected"),
        ] {
            let error = serde_json::from_str::<Change>(text).unwrap_err().to_string();
            assert!(error.starts_with(told), "{text}: {error}");
        }
    }
}
