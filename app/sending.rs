//! Changes that forms ask for. What a form is filled with goes to its server function as the browser
//! itself would send it: forms need no code each of their own, which pages would load.

use leptos::prelude::*;
use leptos::server::ServerActionError;
use leptos::task::spawn_local;
use serde::de::DeserializeOwned;
use server_fn::client::Client;
use server_fn::client::browser::BrowserClient;
use server_fn::error::{FromServerFnError, ServerFnErrorErr, ServerFnUrlError};
use server_fn::redirect::call_redirect_hook;
use server_fn::request::ClientReq;
use server_fn::request::browser::BrowserRequest;
use server_fn::response::ClientRes;
use server_fn::response::browser::BrowserResponse;
use server_fn::{Bytes, ContentType, Decodes, ServerFn};

use crate::failed::Failed;
use crate::json::Json;

/// Where forms of one server function are sent to, and what it answered last.
pub(crate) struct Sending<T: Send + Sync + 'static = ()> {
    path: &'static str,
    answer: RwSignal<Option<Result<T, Failed>>>,
    version: RwSignal<usize>,
    sent: RwSignal<u32>,
    pending: RwSignal<bool>,
}

impl<T: Send + Sync + 'static> Clone for Sending<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Sending<T> {}

impl<T: DeserializeOwned + Send + Sync + 'static> Sending<T> {
    pub(crate) fn to<F: ServerFn<Output = T, Error = Failed>>() -> Self {
        // What was sent without a script is refused in the address.
        let refused = use_context::<ServerActionError>().filter(|error| error.path() == F::PATH);
        let refused = refused.map(|error| ServerFnUrlError::<Failed>::decode_err(error.err()));
        Self {
            path: F::PATH,
            answer: RwSignal::new(refused.map(Err)),
            version: RwSignal::new(0),
            sent: RwSignal::new(0),
            pending: RwSignal::new(false),
        }
    }

    pub(crate) fn path(self) -> &'static str {
        self.path
    }

    /// What was answered last.
    pub(crate) fn value(self) -> RwSignal<Option<Result<T, Failed>>> {
        self.answer
    }

    /// The last answer where it was that it is done.
    pub(crate) fn done(self) -> Signal<Option<Result<T, Failed>>>
    where
        T: Clone,
    {
        Signal::derive(move || self.answer.get().filter(Result::is_ok))
    }

    /// The last answer where it was a refusal.
    pub(crate) fn refused(self) -> Signal<Option<Result<T, Failed>>>
    where
        T: Clone,
    {
        Signal::derive(move || self.answer.get().filter(Result::is_err))
    }

    /// Forgets the answer: what it said has been done.
    pub(crate) fn clear(self) {
        self.answer.set(None);
    }

    /// How often something was answered.
    pub(crate) fn version(self) -> RwSignal<usize> {
        self.version
    }

    /// How often it was answered that it is done.
    pub(crate) fn sent(self) -> RwSignal<u32> {
        self.sent
    }

    /// Whether an answer is waited for.
    pub(crate) fn pending(self) -> RwSignal<bool> {
        self.pending
    }

    /// Sends what a form is filled with, as it stands in addresses.
    pub(crate) fn send(self, filled_in: String) {
        self.pending.set(true);
        spawn_local(async move {
            let answer = post(self.path, filled_in).await.and_then(read);
            let is_done = answer.is_ok();
            // The page may be another one by now.
            self.answer.try_set(Some(answer));
            if is_done {
                self.sent.try_update(|sent| *sent += 1);
            }
            self.version.try_update(|version| *version += 1);
            self.pending.try_set(false);
        });
    }
}

/// What was answered.
pub(crate) fn read<T: DeserializeOwned>(answer: Bytes) -> Result<T, Failed> {
    <Json as Decodes<T>>::decode(answer).map_err(|why| {
        Failed::from_server_fn_error(ServerFnErrorErr::Deserialization(why.to_string()))
    })
}

/// Sends what a form is filled with, as it stands in addresses, to a server function.
pub(crate) async fn post(path: &str, filled_in: String) -> Result<Bytes, Failed> {
    let form = "application/x-www-form-urlencoded";
    let request = <BrowserRequest as ClientReq<Failed>>::try_new_post(
        path,
        form,
        Json::CONTENT_TYPE,
        filled_in,
    )?;
    let response = <BrowserClient as Client<Failed>>::send(request).await?;
    let status = <BrowserResponse as ClientRes<Failed>>::status(&response);
    let elsewhere = <BrowserResponse as ClientRes<Failed>>::has_redirect(&response)
        .then(|| <BrowserResponse as ClientRes<Failed>>::location(&response));
    let answer = <BrowserResponse as ClientRes<Failed>>::try_into_bytes(response).await?;
    if (400..=599).contains(&status) {
        return Err(Failed::de(answer));
    }
    if let Some(elsewhere) = elsewhere {
        call_redirect_hook(&elsewhere);
    }
    Ok(answer)
}
