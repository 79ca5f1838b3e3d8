//! What all tasks of an attempt need is read once for all that want it at the same time.

use std::fmt;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::error::LaunchError;

/// Read by the first who asks; whoever asks meanwhile waits for him, and fails with him.
pub(super) struct Once<T>(Mutex<Option<Answer<T>>>);

struct Answer<T> {
    at: Instant,
    read: Result<T, LaunchError>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

/// It may be a secret.
impl<T> fmt::Debug for Once<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Once")
    }
}

impl<T: Clone> Once<T> {
    /// What was read, as long as it `holds` at its age, or else what is read now. A failure holds
    /// for those only that have waited for it: were each of thousands to wait for a database that
    /// does not answer, one after the other, none of them would come to an end.
    pub(super) async fn get(
        &self,
        holds: impl FnOnce(&T, Duration) -> bool,
        read: impl Future<Output = Result<T, LaunchError>>,
    ) -> Result<T, LaunchError> {
        let asked = Instant::now();
        let mut answer = self.0.lock().await;
        if let Some(known) = &*answer {
            let stands = match &known.read {
                Ok(value) => holds(value, known.at.elapsed()),
                Err(_) => asked <= known.at,
            };
            if stands {
                return known.read.clone();
            }
        }
        let read = read.await;
        *answer = Some(Answer { at: Instant::now(), read: read.clone() });
        read
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures::future::join_all;

    use super::*;

    const TASKS: usize = 2_500;

    /// Asks for all tasks at the same time, and says how often was read and how many got something.
    async fn ask(once: &Once<u32>, answer: Result<u32, LaunchError>) -> (u32, usize) {
        let reads = AtomicU32::new(0);
        let asked = (0..TASKS).map(|_| {
            once.get(|_, _| true, async {
                reads.fetch_add(1, Ordering::Relaxed);
                // Meanwhile the others ask.
                tokio::task::yield_now().await;
                answer.clone()
            })
        });
        let got = join_all(asked).await.into_iter().filter(Result::is_ok).count();
        (reads.into_inner(), got)
    }

    #[tokio::test]
    async fn what_thousands_want_is_read_once() {
        let once = Once::default();
        assert_eq!(ask(&once, Ok(7)).await, (1, TASKS));
        assert_eq!(ask(&once, Ok(8)).await, (0, TASKS), "it is known by now");
        assert_eq!(once.get(|known, _| *known == 7, async { Ok(9) }).await.unwrap(), 7);
        assert_eq!(once.get(|known, _| *known == 8, async { Ok(9) }).await.unwrap(), 9);
    }

    #[tokio::test]
    async fn a_failure_is_everybodys_who_waited_for_it_and_nobodys_afterwards() {
        let once = Once::default();
        let failed = || Err(LaunchError::Records("out of reach".to_owned()));
        assert_eq!(ask(&once, failed()).await, (1, 0));
        assert_eq!(ask(&once, failed()).await, (1, 0), "it is tried again");
        assert_eq!(ask(&once, Ok(7)).await, (1, TASKS));
    }
}
