use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Its words for this server, and what proves that it is this server.
pub(crate) const CLIENT: &str = "berth";
pub(crate) const SECRET: &str = "a secret of the quay";

/// A provider of OpenID Connect on a free port, with the people ada and bob.
pub(crate) struct Provider {
    pub(crate) address: String,
    process: Child,
    /// It says things now and then, and ends when nobody hears them.
    _said: BufReader<ChildStdout>,
}

/// A browser without pages: it keeps cookies of the provider and follows where it is sent.
pub(crate) struct Browser {
    agent: ureq::Agent,
    cookies: Vec<(String, String)>,
}

impl Provider {
    pub(crate) fn start() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../directory/tests/provider");
        assert!(
            folder.join("node_modules/oidc-provider").is_dir(),
            "`npm ci` in {}, or `cargo xtask setup --for test`",
            folder.display()
        );
        let mut process = Command::new("node")
            .arg("provider.mjs")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node is installed");
        let mut said = BufReader::new(process.stdout.take().unwrap());
        let mut address = String::new();
        said.read_line(&mut address).unwrap();
        Self { address: address.trim().to_owned(), process, _said: said }
    }

    /// Makes it know a server whose people come back to `base`.
    pub(crate) fn serve(&self, base: &str, quiet: bool) {
        let redirect = format!("{base}/sign-in/oidc/company/callback");
        let logout = format!("{base}/sign-in");
        self.tell(
            "client",
            &format!(
                r#"{{"redirects": ["{redirect}"], "logouts": ["{logout}"], "quiet": {quiet}}}"#
            ),
        );
    }

    /// Says in which groups somebody is from now on.
    pub(crate) fn put_into(&self, name: &str, groups: &str) {
        self.tell("person", &format!(r#"{{"name": "{name}", "groups": {groups}}}"#));
    }

    fn tell(&self, what: &str, body: &str) {
        let answer = agent().post(format!("{}/test/{what}", self.address)).send(body).unwrap();
        assert_eq!(answer.status(), 200);
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(Duration::from_secs(30)))
        .build();
    config.into()
}

impl Browser {
    pub(crate) fn new() -> Self {
        Self { agent: agent(), cookies: Vec::new() }
    }

    /// Signs somebody in at the page of the provider that `address` leads to, and gives the address
    /// that the provider sends the browser to then: whoever was signed in before stays so.
    pub(crate) fn sign_in(&mut self, address: &str, name: &str, password: &str) -> String {
        let origin: String = address.split('/').take(3).collect::<Vec<_>>().join("/");
        let mut at = address.to_owned();
        let form = format!("login={name}&password={}", password.replace(' ', "+"));
        loop {
            let filled = at.contains("/interaction/").then_some(form.as_str());
            let next = self.ask(&at, filled);
            at = if next.starts_with('/') { format!("{origin}{next}") } else { next };
            if !at.starts_with(&origin) {
                return at;
            }
        }
    }

    /// Where an address leads.
    fn ask(&mut self, address: &str, form: Option<&str>) -> String {
        let jar: Vec<_> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let jar = jar.join("; ");
        let answer = match form {
            Some(form) => self
                .agent
                .post(address)
                .header("cookie", &jar)
                .content_type("application/x-www-form-urlencoded")
                .send(form),
            None => self.agent.get(address).header("cookie", &jar).call(),
        };
        let mut answer = answer.unwrap();
        for cookie in answer.headers().get_all("set-cookie") {
            let (name, rest) = cookie.to_str().unwrap().split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            self.cookies.retain(|(known, _)| known != name);
            if !value.is_empty() {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        let location = answer.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        location.unwrap_or_else(|| {
            let text = answer.body_mut().read_to_string().unwrap();
            panic!("{address} leads nowhere: {} {text}", answer.status())
        })
    }
}
