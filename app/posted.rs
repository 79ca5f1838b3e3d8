//! The submit form as a browser without JavaScript posts it.

use api::jobs::Submission;
use api::{Error, ErrorCode, Result};
use server_fn::codec::MultipartData;

use crate::address;

/// A text up to this length, in bytes as written in an address, is carried back to the page.
const LONGEST_ADDRESS: usize = 48 * 1024;

/// The form has fewer parts; all of them together are no longer than a request may be.
const MOST_PARTS: usize = 16;

/// Reads the form: the file, if one was chosen, else the text.
pub(crate) async fn read(form: MultipartData) -> Result<Submission> {
    let mut submission = Submission { text: String::new(), cloned_from: None, expected_name: None };
    let mut parts = form.into_inner().ok_or_else(unreadable)?;
    let mut seen = 0;
    while let Some(part) = parts.next_field().await.map_err(|_| unreadable())? {
        seen += 1;
        if seen > MOST_PARTS {
            return Err(unreadable());
        }
        let name = part.name().unwrap_or_default().to_owned();
        let value = part.text().await.map_err(|_| unreadable())?;
        match name.as_str() {
            "text" if submission.text.is_empty() => submission.text = value,
            "file" if !value.is_empty() => submission.text = value,
            "cloned_from" => submission.cloned_from = value.parse().ok(),
            _other => {}
        }
    }
    Ok(submission)
}

fn unreadable() -> Error {
    Error::new(ErrorCode::InvalidParametersError, "the form could not be read")
}

/// Where the browser goes when the job was refused: back to the text, where the check says why.
pub(crate) fn back(submission: &Submission, error: &Error) -> String {
    let text = address::encode(&submission.text);
    let mut back = format!("/submit?refused={}", error.code);
    if text.len() <= LONGEST_ADDRESS {
        back.push_str("&text=");
        back.push_str(&text);
    }
    if let Some(key) = &submission.cloned_from {
        back.push_str(&format!("&clone={key}"));
    }
    back
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_text_comes_back_with_the_clone_it_was() {
        let submission = Submission {
            text: "{ }".to_owned(),
            cloned_from: "ada~first".parse().ok(),
            expected_name: None,
        };
        let error = Error::new(ErrorCode::InvalidJob, "no");
        let back = back(&submission, &error);
        assert_eq!(back, "/submit?refused=InvalidProtocolError&text=%7B+%7D&clone=ada~first");
    }

    #[test]
    fn a_text_too_long_for_an_address_does_not_come_back() {
        let text = "x".repeat(LONGEST_ADDRESS + 1);
        let submission = Submission { text, cloned_from: None, expected_name: None };
        let error = Error::new(ErrorCode::ConflictJobError, "taken");
        assert_eq!(back(&submission, &error), "/submit?refused=ConflictJobError");
    }
}
