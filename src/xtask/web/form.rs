//! How much work goes into the front end.

/// How the front end is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Quickly: not optimised, lightly compressed.
    Quick,
    /// Small: what is released and measured.
    Small,
}

impl Form {
    /// What is remembered of a site made in this form.
    pub(super) fn stamp(self, inputs: &str) -> String {
        match self {
            Self::Quick => format!("quick {inputs}"),
            Self::Small => format!("small {inputs}"),
        }
    }

    /// Whether a site in this form will do where another form is wanted.
    pub(super) fn serves(self, wanted: Self) -> bool {
        self == wanted || wanted == Self::Quick
    }
}
