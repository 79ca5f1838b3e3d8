//! Parts of pages as pieces of code, each of which the browser fetches when it is opened for the first
//! time. A page takes over what the server sent only when all code for it is there, so a page's route
//! fetches the page itself and the parts that are open at first.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, join};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::ChooseView;

/// Makes the view of a page.
pub(crate) type MakeView = fn() -> AnyView;

/// A page whose code the browser fetches when it is opened for the first time. Routes to all pages are of
/// this one type, so that what leads to them is compiled once.
#[derive(Clone, Copy)]
pub(crate) struct Page {
    code: fn() -> LocalBoxFuture<'static, MakeView>,
    /// Fetches the parts that the address names.
    parts: fn() -> LocalBoxFuture<'static, ()>,
}

impl Page {
    /// A page in one piece.
    pub(crate) fn whole(code: fn() -> LocalBoxFuture<'static, MakeView>) -> Self {
        Self::of_parts(code, || async {}.boxed_local())
    }

    /// A page some of whose parts are pieces of their own.
    pub(crate) fn of_parts(
        code: fn() -> LocalBoxFuture<'static, MakeView>,
        parts: fn() -> LocalBoxFuture<'static, ()>,
    ) -> Self {
        Self { code, parts }
    }
}

impl ChooseView for Page {
    async fn choose(self) -> AnyView {
        ((self.code)().await)()
    }

    /// What the address names is asked for first: it may come with the page in one file.
    async fn preload(&self) {
        join((self.parts)(), (self.code)()).await;
    }
}

/// The part that is to be shown. When another one is chosen, the one before stays until the code of the
/// other is there; so it does when none is. On the server the code of all is there at once.
pub(crate) fn opened<W, P, C>(
    wanted: Signal<Option<W>>,
    code: impl Fn(W) -> C + 'static,
) -> Signal<Option<P>>
where
    W: Copy + PartialEq + Send + Sync + 'static,
    P: Copy + Send + Sync + 'static,
    C: Future<Output = P> + 'static,
{
    arranged(wanted, Rc::new(move |part| code(part).boxed_local()))
}

/// Fetches a part's code.
type Fetch<W, P> = Rc<dyn Fn(W) -> LocalBoxFuture<'static, P>>;

/// It is the same code for all parts that are made alike.
fn arranged<W, P>(wanted: Signal<Option<W>>, fetch: Fetch<W, P>) -> Signal<Option<P>>
where
    W: Copy + PartialEq + Send + Sync + 'static,
    P: Copy + Send + Sync + 'static,
{
    let first = wanted.get_untracked();
    let first = first.and_then(|part| fetch(part).now_or_never().map(|made| (part, made)));
    let opened = RwSignal::new(first);
    let is_open =
        move |part: W| opened.with_untracked(|open| open.is_some_and(|(of, _)| of == part));
    Effect::new(move |_| {
        let Some(part) = wanted.get().filter(|part| !is_open(*part)) else { return };
        let fetched = fetch(part);
        spawn_local(async move {
            let made = fetched.await;
            // By now another one may be wanted, or the page be gone.
            if wanted.try_get_untracked() == Some(Some(part)) && !is_open(part) {
                opened.set(Some((part, made)));
            }
        });
    });
    Signal::derive(move || opened.get().map(|(_, made)| made))
}
