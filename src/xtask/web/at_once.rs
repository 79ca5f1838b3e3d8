use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::{iter, panic, thread};

use anyhow::Result;

/// Works on all items, as many at once as there are processors.
pub(super) fn at_once<T: Send>(
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> Result<()> + Sync,
) -> Result<()> {
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let worker = || iter::from_fn(next).try_for_each(&work);
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, NonZero::get);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
        })
    })
}
