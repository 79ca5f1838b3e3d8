use api::ErrorCode;

use crate::failure::Failure;

/// What is said in the address. Names are the same in small and capital letters, as in Hadoop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub(super) fn read(query: &str) -> Result<Self, Failure> {
        let pairs = serde_urlencoded::from_str::<Vec<(String, String)>>(query);
        let pairs = pairs.map_err(|error| {
            Failure::new(ErrorCode::InvalidParametersError, format!("the query: {error}"))
        })?;
        let lower = |(name, value): (String, String)| (name.to_ascii_lowercase(), value);
        Ok(Self(pairs.into_iter().map(lower).collect()))
    }

    /// The first value of that name; an empty one is not said.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// A truth value; not said is false.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Failure> {
        match self.text(name).map(str::to_ascii_lowercase).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(invalid(name, other, "true or false")),
        }
    }

    /// A number from 0.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Failure> {
        let number = |text: &str| text.parse().map_err(|_| invalid(name, text, "a number from 0"));
        self.text(name).map(number).transpose()
    }

    /// A text without which nothing can be done.
    pub(super) fn needed(&self, name: &str) -> Result<&str, Failure> {
        self.text(name).ok_or_else(|| invalid(name, "", "a value"))
    }
}

fn invalid(name: &str, value: &str, allowed: &str) -> Failure {
    let message =
        format!("Invalid value for webhdfs parameter \"{name}\": {value:?}; allowed is {allowed}");
    Failure::new(ErrorCode::InvalidParametersError, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_as_hadoop_reads_them() {
        let read = Parameters::read("OP=open&Offset=7&length=&x=%2Fa+b&overwrite=TRUE&offset=9");
        let read = read.unwrap();
        assert_eq!(read.text("op"), Some("open"));
        assert_eq!(read.number("offset").unwrap(), Some(7));
        assert_eq!(read.number("length").unwrap(), None);
        assert_eq!(read.text("x"), Some("/a b"));
        assert!(read.flag("overwrite").unwrap() && !read.flag("recursive").unwrap());
    }

    #[test]
    fn bad_values_are_named() {
        let read = Parameters::read("offset=-1&length=x&overwrite=yes").unwrap();
        for failure in [
            read.number("offset").unwrap_err(),
            read.number("length").unwrap_err(),
            read.flag("overwrite").unwrap_err(),
            read.needed("destination").unwrap_err(),
        ] {
            assert_eq!(failure.error.code, ErrorCode::InvalidParametersError);
            assert!(failure.error.message.contains("webhdfs parameter"), "{failure:?}");
        }
    }
}
