//! Routes that describe themselves. What takes a request apart and what answers it say by their types
//! what they are, as they are mounted: the document of this server is made of that, and nothing is
//! mounted here that is not in it.

use std::any::type_name;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{self, MethodRouter};
use schemars::JsonSchema;

use crate::state::AppState;

mod inputs;
pub(crate) mod operation;
mod outputs;

pub(crate) use inputs::Input;
pub(crate) use operation::{Content, Operation, schema};
use outputs::Output;

impl Operation {
    fn of<H, I: Input, O: Output>(method: &'static str) -> Self {
        let mut operation = Self {
            method,
            handler: type_name::<H>(),
            signed: false,
            path: None,
            query: Vec::new(),
            takes: Vec::new(),
            answers: Vec::new(),
        };
        I::describe(&mut operation);
        O::describe(&mut operation);
        operation
    }
}

/// A handler with what it takes and gives: one type for each number of its arguments.
pub(crate) trait Describes<I, O> {}

macro_rules! describes {
    ($($argument:ident)*) => {
        impl<F, R, $($argument,)*> Describes<($($argument,)*), R::Output> for F
        where
            F: FnOnce($($argument,)*) -> R,
            R: Future,
        {
        }
    };
}

describes!();
describes!(A);
describes!(A B);
describes!(A B C);
describes!(A B C D);
describes!(A B C D E);
describes!(A B C D E G);

/// The methods of a route.
pub(crate) struct Door {
    methods: MethodRouter<AppState>,
    operations: Vec<Operation>,
}

/// The first method of a route.
macro_rules! begin {
    ($($name:ident as $method:literal)*) => {
        $(pub(crate) fn $name<H, T, I, O>(handler: H) -> Door
        where
            H: Handler<T, AppState> + Describes<I, O>,
            T: 'static,
            I: Input,
            O: Output,
        {
            let operations = vec![Operation::of::<H, I, O>($method)];
            Door { methods: routing::$name(handler), operations }
        })*
    };
}

// What answers every method is described by the one that is asked of it.
begin!(any as "get" get as "get" put as "put" post as "post" delete as "delete");

/// Further methods of a route.
macro_rules! go_on {
    ($($name:ident as $method:literal)*) => {
        $(pub(crate) fn $name<H, T, I, O>(mut self, handler: H) -> Self
        where
            H: Handler<T, AppState> + Describes<I, O>,
            T: 'static,
            I: Input,
            O: Output,
        {
            self.operations.push(Operation::of::<H, I, O>($method));
            Self { methods: self.methods.$name(handler), operations: self.operations }
        })*
    };
}

impl Door {
    go_on!(put as "put" post as "post" delete as "delete" patch as "patch");

    /// The method before this takes the settings of a thing, whose name is in the address.
    pub(crate) fn takes_unnamed<T: JsonSchema>(self) -> Self {
        self.with(|operation| operation.takes = vec![Content::Unnamed(schema::<T>)])
    }

    /// The method before this also answers so, in JSON. What answers a `Response` does not say by its
    /// type what is in it.
    pub(crate) fn gives<T: JsonSchema>(self, status: u16) -> Self {
        self.answers(status, Some(Content::Json(schema::<T>)))
    }

    /// The method before this also answers with bytes of a media type.
    pub(crate) fn sends(self, status: u16, kind: &'static str) -> Self {
        self.answers(status, Some(Content::Raw(kind)))
    }

    /// The method before this also answers without a body.
    pub(crate) fn says(self, status: u16) -> Self {
        self.answers(status, None)
    }

    fn answers(self, status: u16, content: Option<Content>) -> Self {
        self.with(|operation| operation.answers.push((status, content)))
    }

    fn with(mut self, change: impl FnOnce(&mut Operation)) -> Self {
        if let Some(operation) = self.operations.last_mut() {
            change(operation);
        }
        self
    }
}

/// Routes with what they are.
pub(crate) struct Doors {
    router: Router<AppState>,
    described: Vec<(String, Operation)>,
}

impl Doors {
    pub(crate) fn new() -> Self {
        Self { router: Router::new(), described: Vec::new() }
    }

    pub(crate) fn route(self, path: &str, door: Door) -> Self {
        let Self { router, mut described } = self;
        let Door { methods, operations } = door;
        described.extend(operations.into_iter().map(|operation| (path.to_owned(), operation)));
        Self { router: router.route(path, methods), described }
    }

    pub(crate) fn nest(self, prefix: &str, inner: Self) -> Self {
        let Self { router, mut described } = self;
        let below = |path: &str| format!("{prefix}{}", if path == "/" { "" } else { path });
        let inside = inner.described.into_iter();
        described.extend(inside.map(|(path, operation)| (below(&path), operation)));
        Self { router: router.nest(prefix, inner.router), described }
    }

    /// What is mounted.
    pub(crate) fn into_router(self) -> Router<AppState> {
        self.router
    }

    /// Paths, as routes are written, and what is there.
    pub(crate) fn into_described(self) -> Vec<(String, Operation)> {
        self.described
    }
}
