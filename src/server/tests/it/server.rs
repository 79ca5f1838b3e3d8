use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use api::Backend;
use async_trait::async_trait;
use database::Database;
use server::auth::session_store::{SessionDatabase, Store};
use server::health::{Check, Histogram, Measurement, Probe, Value};
use server::listen::tls::Tls;
use server::listen::{Door, Limits, Machine, OwnHosts, bind, serve};
use server::router::router;
use server::state::{AppState, StateOptions};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use ureq::Body;
use ureq::http::Response;

use crate::contract;
use crate::fakes::World;

/// A server on a free port, with a real database of sessions.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) shutdown: CancellationToken,
    pub(crate) ended: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(folder: &Path, world: &World) -> Self {
        Self::over(folder, world.backend()).await
    }

    pub(crate) async fn over(folder: &Path, backend: Backend) -> Self {
        Self::with(folder, backend, StateOptions::default()).await
    }

    pub(crate) async fn with(folder: &Path, backend: Backend, options: StateOptions) -> Self {
        Self::behind(folder, backend, options, Limits::default(), None).await
    }

    /// With a door of the test's own.
    pub(crate) async fn behind(
        folder: &Path,
        backend: Backend,
        options: StateOptions,
        limits: Limits,
        tls: Option<Tls>,
    ) -> Self {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        Self::at(anywhere, folder, backend, options, limits, tls).await
    }

    /// At a port of the test's own.
    pub(crate) async fn at(
        address: SocketAddr,
        folder: &Path,
        backend: Backend,
        options: StateOptions,
        limits: Limits,
        tls: Option<Tls>,
    ) -> Self {
        let url = format!("sqlite://{}", folder.join("sessions.db").display());
        let database = Arc::new(Database::open(&url).await.unwrap());
        Self::open(database, backend, options, (address, limits, tls)).await
    }

    /// With its sessions where those of `backend` are.
    pub(crate) async fn on(
        database: Arc<dyn SessionDatabase>,
        backend: Backend,
        options: StateOptions,
    ) -> Self {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        Self::open(database, backend, options, (anywhere, Limits::default(), None)).await
    }

    async fn open(
        database: Arc<dyn SessionDatabase>,
        backend: Backend,
        options: StateOptions,
        (address, limits, tls): (SocketAddr, Limits, Option<Tls>),
    ) -> Self {
        let shutdown = CancellationToken::new();
        let (public_url, proxy_url) = (options.public_url.as_deref(), options.proxy_url.as_deref());
        let hosts = OwnHosts::new(Machine::default(), [], public_url, proxy_url);
        let hosts = hosts.with_certificate(tls.clone());
        let door = Door::new(limits, hosts, options.trusted_proxies.clone(), tls);
        let options = StateOptions { shutdown: shutdown.clone(), ..options };
        let state = AppState::new(backend, AllWell::probe(), options);
        let app = router(state, Store::new(database));
        let sockets = bind(address).unwrap();
        let address = sockets[0].local_addr().unwrap();
        let stop = shutdown.clone();
        let ended = tokio::spawn(async move { serve(sockets, door, app, &stop).await });
        Self { address, shutdown, ended }
    }

    pub(crate) fn client(&self) -> Client {
        Self::client_of(self.address)
    }

    pub(crate) fn client_of(address: SocketAddr) -> Client {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(0)
            // A busy machine takes its time.
            .timeout_global(Some(Duration::from_secs(180)))
            .build();
        Client { agent: agent.into(), base: format!("http://{address}") }
    }

    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        self.ended.await.unwrap();
    }
}

pub(crate) struct AllWell;

impl AllWell {
    pub(crate) fn probe() -> Arc<dyn Probe> {
        Arc::new(Self)
    }
}

#[async_trait]
impl Probe for AllWell {
    async fn readiness(&self) -> Vec<Check> {
        let database = "database".to_owned();
        let images = "loop images".to_owned();
        let problem = Some("it panics again and again".to_owned());
        vec![
            Check { name: database, ready: true, needed: true, problem: None },
            Check { name: images, ready: false, needed: false, problem },
        ]
    }

    async fn measurements(&self) -> Vec<Measurement> {
        let value = Value::Summary { count: 3, sum: 0.75 };
        vec![
            Measurement { name: "schedule_pass_seconds", help: "Passes", value },
            Measurement {
                name: "schedule_last_pass_seconds",
                help: "Last",
                value: Value::Gauge(0.5),
            },
            Measurement { name: "database_failures", help: "Failures", value: Value::Counter(2) },
            Measurement { name: "engine_call_seconds", help: "Calls", value: calls() },
            Measurement { name: "engine_failures", help: "Failures", value: failures() },
        ]
    }
}

fn calls() -> Value {
    let counts = Histogram { within: vec![(0.5, 1), (1.0, 3)], count: 4, sum: 9.5 };
    Value::Histograms(vec![(vec![("action", "start".to_owned())], counts)])
}

/// What it is of may be called anything.
fn failures() -> Value {
    let labels = vec![("node", "a\"b\\c\n".to_owned()), ("action", "start".to_owned())];
    Value::Counters(vec![(labels, 7)])
}

/// A program that asks: every call runs off the runtime's threads.
#[derive(Clone)]
pub(crate) struct Client {
    agent: ureq::Agent,
    pub(crate) base: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) text: String,
}

/// What came back, as it was transferred.
#[derive(Debug)]
pub(crate) struct Bytes {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Bytes {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Answer {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The session's cookie, as a browser sends it back.
    pub(crate) fn cookie(&self) -> String {
        let cookies = self.headers.get_all("set-cookie");
        // The device's comes before the session's.
        let cookie = cookies.iter().next_back().map_or("", |value| value.to_str().unwrap());
        cookie.split(';').next().unwrap().to_owned()
    }
}

type Headers<'a> = &'a [(&'a str, &'a str)];

impl Client {
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: &str,
    ) -> Answer {
        self.send_bytes(method, path, headers, body.as_bytes().to_vec()).await
    }

    pub(crate) async fn send_bytes(
        &self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: Vec<u8>,
    ) -> Answer {
        let mut request = ureq::http::Request::builder().method(method);
        request = request.uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).unwrap();
        let agent = self.agent.clone();
        let sent = move || match agent.run(request.clone()) {
            // The server had closed the connection that the client kept.
            Err(ureq::Error::Io(_)) => read(agent.run(request).unwrap()),
            answer => read(answer.unwrap()),
        };
        let answer = tokio::task::spawn_blocking(sent).await.unwrap();
        contract::check(method, path, &answer);
        answer
    }

    pub(crate) async fn get(&self, path: &str, headers: Headers<'_>) -> Answer {
        self.send("GET", path, headers, "").await
    }

    /// Brotli is left as it comes.
    pub(crate) async fn get_bytes(&self, path: &str, headers: Headers<'_>) -> Bytes {
        let mut request = self.agent.get(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = tokio::task::spawn_blocking(|| request.call().unwrap()).await.unwrap();
        let body = response.body_mut().read_to_vec().unwrap();
        Bytes { status: response.status().as_u16(), headers: response.headers().clone(), body }
    }

    /// Signs in as a page does and gives the cookie.
    pub(crate) async fn sign_in(&self, user: &str, password: &str) -> String {
        let body = format!("username={user}&password={password}&next=/jobs");
        let answer = self.send("POST", "/auth/sign-in", &[FORM], &body).await;
        assert_eq!((answer.status, answer.header("location")), (303, "/jobs"), "{answer:?}");
        answer.cookie()
    }
}

pub(crate) const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");
/// The token of `alice` in every world.
pub(crate) const ALICE: (&str, &str) = ("authorization", "Bearer token-of-alice");

/// The token of the administrator in every world.
pub(crate) const ADMIN: (&str, &str) = ("authorization", "Bearer token-of-admin");

fn read(mut response: Response<Body>) -> Answer {
    Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        text: response.body_mut().read_to_string().unwrap(),
    }
}
