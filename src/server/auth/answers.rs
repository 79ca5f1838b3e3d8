//! The answers to whether somebody may still hold what he holds open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use api::users::Means;

/// The answers that are shared.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<HashMap<Means, Weak<Answer>>>);

/// The last answer, and when it was given.
pub(super) type Answer = tokio::sync::Mutex<Option<(Instant, bool)>>;

impl Answers {
    pub(super) fn about(&self, means: &Means) -> Arc<Answer> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|_, answer| answer.strong_count() > 0);
        if let Some(answer) = answers.get(means).and_then(Weak::upgrade) {
            return answer;
        }
        let answer = Arc::new(Answer::default());
        answers.insert(means.clone(), Arc::downgrade(&answer));
        answer
    }
}
