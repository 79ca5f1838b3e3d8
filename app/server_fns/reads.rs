//! How the browser sends the functions that only read: where nothing answers at all, once more and
//! again. Those that change something are sent once, since they may have been done.

use std::time::Duration;

use futures::{Sink, Stream};
use leptos::prelude::set_timeout;
use send_wrapper::SendWrapper;
use server_fn::Bytes;
use server_fn::client::Client;
use server_fn::client::browser::BrowserClient;
use server_fn::error::FromServerFnError;
use server_fn::request::ClientReq;
use server_fn::request::browser::BrowserRequest;
use server_fn::response::browser::BrowserResponse;

/// The waits before the second try and the third.
const PAUSES: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(900)];

/// Sends what only reads.
#[derive(Debug)]
pub(crate) struct Reads;

impl<E, I, O> Client<E, I, O> for Reads
where
    E: FromServerFnError,
    I: FromServerFnError,
    O: FromServerFnError,
{
    type Request = BrowserRequest;
    type Response = BrowserResponse;

    fn send(request: BrowserRequest) -> impl Future<Output = Result<BrowserResponse, E>> + Send {
        SendWrapper::new(async move {
            let mut request = request;
            for pause in PAUSES {
                let again = again::<E>(&request);
                match (<BrowserClient as Client<E, I, O>>::send(request).await, again) {
                    (Ok(response), _) => return Ok(response),
                    (Err(error), None) => return Err(error),
                    (Err(_), Some(again)) => request = again,
                }
                wait(pause).await;
            }
            <BrowserClient as Client<E, I, O>>::send(request).await
        })
    }

    fn open_websocket(
        path: &str,
    ) -> impl Future<
        Output = Result<
            (
                impl Stream<Item = Result<Bytes, Bytes>> + Send + 'static,
                impl Sink<Bytes> + Send + 'static,
            ),
            E,
        >,
    > + Send {
        <BrowserClient as Client<E, I, O>>::open_websocket(path)
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        <BrowserClient as Client<E, I, O>>::spawn(future);
    }
}

/// The same request once more; `None`: it is not one that only reads.
fn again<E: FromServerFnError>(request: &BrowserRequest) -> Option<BrowserRequest> {
    let method = request.method();
    let url = request.url();
    let (path, query) = url.split_once('?')?;
    let header = |name| request.headers().get(name).unwrap_or_default();
    let (kind, accepts) = (header("content-type"), header("accept"));
    let copy = || {
        <BrowserRequest as ClientReq<E>>::try_new_req_query(
            path,
            &kind,
            &accepts,
            query,
            method.clone(),
        )
    };
    (method == http::Method::GET).then(copy)?.ok()
}

async fn wait(time: Duration) {
    let (sender, over) = futures::channel::oneshot::channel();
    set_timeout(
        move || {
            // Nobody waits any more: the page is another one.
            let _gone = sender.send(());
        },
        time,
    );
    let _either_way = over.await;
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    #[test]
    fn what_reads_is_sent_so_and_nothing_else_is() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("server_fns");
        let mut seen = 0;
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            for function in text.split("#[server(").skip(1) {
                let said = function.split(")]").next().unwrap_or_default();
                let reads = said.contains("input = GetUrl");
                assert_eq!(reads, said.contains("client = Reads"), "{path:?}: {said}");
                let named = said.contains("endpoint = ");
                assert_eq!(named, said.contains("output = Answer"), "{path:?}: {said}");
                seen += usize::from(reads);
            }
        }
        assert!(seen > 10, "{seen}");
    }
}
