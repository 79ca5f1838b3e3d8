use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::time::Duration;

use anyhow::Context;
use app::i18n::Language;
use protocol::problem::Problem;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body, RequestBuilder};

use super::outcome::{CommandError, Outcome};
use super::reach::{Common, login_file};
use super::text;
use super::words::{Words, of_terminal, words};

const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";
/// How long a server may take to begin its answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// What `berth login` remembers.
#[derive(Serialize, Deserialize)]
pub(super) struct Login {
    pub(super) server: String,
    pub(super) user: String,
    pub(super) token: String,
}

impl Login {
    fn read() -> Option<Self> {
        let text = fs::read_to_string(login_file()?).ok()?;
        figment::Figment::from(<figment::providers::Toml as figment::providers::Format>::string(
            &text,
        ))
        .extract()
        .ok()
    }

    /// Writes the file so that nobody else can read it.
    pub(super) fn write(&self) -> anyhow::Result<()> {
        let path = login_file().context("neither XDG_CONFIG_HOME nor HOME is set")?;
        let place = || path.display().to_string();
        if let Some(folder) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(place)?;
        }
        let fresh = path.with_extension("new");
        let _none_left_over = fs::remove_file(&fresh);
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh)
            .with_context(place)?;
        let Self { server, user, token } = self;
        writeln!(file, "server = {server:?}\nuser = {user:?}\ntoken = {token:?}")
            .with_context(place)?;
        fs::rename(&fresh, &path).with_context(place)
    }
}

/// A server, and who we are there.
pub(super) struct Client {
    /// What serves there.
    kind: &'static str,
    agent: Agent,
    pub(super) server: String,
    token: Option<String>,
    /// In which its refusals are read.
    pub(super) language: Language,
}

impl Client {
    /// With a token from `BERTH_TOKEN` or from `berth login`; the latter only for its own server.
    pub(super) fn signed_in(common: &Common) -> anyhow::Result<Self> {
        let login = Login::read();
        let mut client = Self::guest(common);
        client.token = std::env::var("BERTH_TOKEN").ok().or_else(|| {
            login.filter(|login| login.server == client.server).map(|login| login.token)
        });
        if client.token.is_none() {
            let message = (client.words().nobody_signed_in)(&client.server);
            return Err(CommandError::new(message).into());
        }
        Ok(client)
    }

    /// Without a token.
    pub(super) fn guest(common: &Common) -> Self {
        let server = common.server.clone().or_else(|| Login::read().map(|login| login.server));
        let server = server.unwrap_or_else(|| DEFAULT_SERVER.to_owned());
        Self::new("Berth", &server, None, common.language())
    }

    /// With a token, at a server of another kind that answers in the same shapes.
    pub(super) fn of(kind: &'static str, server: &str, token: &str) -> Self {
        Self::new(kind, server, Some(token.to_owned()), of_terminal())
    }

    fn new(kind: &'static str, server: &str, token: Option<String>, language: Language) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE))
            .build();
        let server = server.trim_end_matches('/').to_owned();
        Self { kind, agent: agent.into(), server, token, language }
    }

    /// What is said to people.
    pub(super) fn words(&self) -> &'static Words {
        words(self.language)
    }

    /// A document.
    pub(super) fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let mut response = self.open(path)?;
        response.body_mut().read_json().with_context(|| self.not_understood())
    }

    /// Prints a document: for programs as it is, for people as `said` says it.
    pub(super) fn show<T: DeserializeOwned>(
        &self,
        common: &Common,
        path: &str,
        said: impl FnOnce(T),
    ) -> Outcome {
        if common.json {
            return text::json(&self.get::<Value>(path)?);
        }
        said(self.get(path)?);
        Ok(())
    }

    /// An answer whose body is still to come.
    pub(super) fn open(&self, path: &str) -> anyhow::Result<Response<Body>> {
        let request = self.agent.get(format!("{}{path}", self.server));
        self.checked(self.asked(request).call())
    }

    /// What a path is answered with, also when it is a refusal; nothing where that is no JSON.
    pub(super) fn said(&self, path: &str) -> anyhow::Result<Value> {
        let request = self.agent.get(format!("{}{path}", self.server));
        let mut response = self.asked(request).call().map_err(|error| self.silent(&error))?;
        Ok(response.body_mut().read_json().unwrap_or_default())
    }

    /// Sends a job file.
    pub(super) fn post_text<T: DeserializeOwned>(
        &self,
        path: &str,
        text: &str,
    ) -> anyhow::Result<T> {
        let request = self.agent.post(format!("{}{path}", self.server));
        let request = self.asked(request).header("content-type", "text/plain; charset=utf-8");
        self.answer(request.send(text))
    }

    pub(super) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        let request = self.agent.post(format!("{}{path}", self.server));
        self.answer(self.asked(request).send_json(body))
    }

    pub(super) fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        let request = self.agent.put(format!("{}{path}", self.server));
        self.answer(self.asked(request).send_json(body))
    }

    pub(super) fn delete<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let request = self.agent.delete(format!("{}{path}", self.server));
        self.answer(self.asked(request).call())
    }

    /// A request that says who asks, and in which language refusals are read.
    fn asked<Any>(&self, request: RequestBuilder<Any>) -> RequestBuilder<Any> {
        let request = request.header("accept-language", self.language.tag());
        match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    fn answer<T: DeserializeOwned>(
        &self,
        outcome: Result<Response<Body>, ureq::Error>,
    ) -> anyhow::Result<T> {
        let mut response = self.checked(outcome)?;
        response.body_mut().read_json().with_context(|| self.not_understood())
    }

    fn checked(
        &self,
        outcome: Result<Response<Body>, ureq::Error>,
    ) -> anyhow::Result<Response<Body>> {
        let mut response = outcome.map_err(|error| self.silent(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let refusal: Refusal = response.body_mut().read_json().map_err(|_| {
            let said = self.words().other_answer;
            CommandError::new(said(&self.server, &status.to_string(), self.kind))
        })?;
        Err(refusal.into_error(self.language).into())
    }

    fn silent(&self, error: &ureq::Error) -> CommandError {
        CommandError::new((self.words().silent)(&self.server, &error.to_string()))
    }

    fn not_understood(&self) -> String {
        (self.words().not_understood)(&self.server, self.kind)
    }
}

/// The body of every error.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refusal {
    message: String,
    #[serde(default)]
    problems: Vec<Problem>,
    #[serde(default)]
    request_id: String,
    #[serde(default)]
    code: String,
}

impl Refusal {
    fn into_error(self, language: Language) -> CommandError {
        let message = match (self.problems.len(), self.code.as_str()) {
            (0, "UnknownError") => (words(language).in_request)(&self.message, &self.request_id),
            (0, _) => self.message,
            (1, _) => language.told("the job file has a mistake"),
            (count, _) => language.told(&format!("the job file has {count} mistakes")),
        };
        let problems = self.problems.iter().map(|problem| language.told(&problem.to_string()));
        CommandError { message, problems: problems.collect() }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rest::{v1, v2};

    /// What the tests of REST's shapes have seen it answer.
    pub(in crate::commands) fn seen(shape: &str) -> Value {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/snapshots");
        let text = fs::read_to_string(format!("{folder}/it__shapes__{shape}.snap")).unwrap();
        let (_, answer) = text.rsplit_once("---\n").unwrap();
        serde_json::from_str(answer).unwrap()
    }

    fn is_read_whole<T: DeserializeOwned + Serialize>(answer: &Value) {
        let read: T = serde_json::from_value(answer.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), *answer);
    }

    #[test]
    fn answers_are_read_whole() {
        is_read_whole::<v1::wire::JobWire>(&seen("v1_job"));
        is_read_whole::<v2::wire::JobWire>(&seen("v2_job"));
        is_read_whole::<Vec<v2::wire::JobItem>>(&seen("v2_jobs")["data"]);
        is_read_whole::<v2::cluster::VirtualClusterWire>(&seen("v2_virtual_cluster"));
        is_read_whole::<Vec<v2::users::UserWire>>(&seen("v2_users"));
    }
}
