//! Which names are ours.
//!
//! A page of somebody else, whose name was made to lead here, is of one origin with us for its
//! reader's browser. It cannot make the browser say another name than its own, so a name that is
//! not ours is refused. Nobody can make an address of his, or `localhost`, lead here: they are
//! served, whoever came by which detour (a forwarded port, the engine's address translation). What
//! is merely served is still not put into links, which may carry a token.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Version, header};
use axum::response::IntoResponse;

use super::tls::Tls;
use crate::task_hosts::{TaskHosts, without_port};

/// Where browsers take every name for this machine.
const LOCALHOST: &str = "localhost";
/// What those who look whether we are well ask, by whatever name they have.
const CHECKS: [&str; 2] = ["/healthz", "/readyz"];

/// The names that we go by.
#[derive(Debug)]
pub struct OwnHosts {
    names: BTreeSet<String>,
    tasks: TaskHosts,
    /// What it says to be for is ours.
    certificate: Option<Tls>,
}

/// The names that this machine goes by, without asking anybody.
#[derive(Debug, Default)]
pub struct Machine(BTreeSet<String>);

/// The host that absolute links may be made of; `None`: the one in the request may be anybody's.
#[derive(Debug, Clone)]
pub(crate) struct LinkHost(pub(crate) Option<String>);

/// On what way a request came.
pub(super) struct Asked<'a> {
    pub(super) peer: IpAddr,
    pub(super) local: SocketAddr,
    pub(super) trusted: &'a [IpAddr],
    /// Another server of the cluster passed it on, which goes by that name itself.
    pub(super) passed_on: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Ours,
    /// It leads here, and may be somebody else's elsewhere.
    Harmless,
    Foreign,
}

impl Machine {
    /// Reads them from the machine's own files.
    #[must_use]
    pub fn read() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let name = read("/proc/sys/kernel/hostname");
        Self::of(name.trim(), &read("/etc/hosts"), &read("/etc/resolv.conf"))
    }

    /// Its name, alone and below the domains that it searches, and whatever else stands for it
    /// among its known hosts.
    fn of(name: &str, hosts: &str, resolver: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let mut names = BTreeSet::new();
        if !name.is_empty() {
            names.insert(format!("{name}.local"));
            names.extend(domains(resolver).map(|domain| format!("{name}.{domain}")));
            names.insert(name.clone());
        }
        for line in hosts.lines() {
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            let address = words.next().and_then(|word| word.parse::<IpAddr>().ok());
            let others: Vec<String> = words.map(str::to_ascii_lowercase).collect();
            if address.is_some_and(|ip| ip.is_loopback()) || others.contains(&name) {
                names.extend(others);
            }
        }
        Self(names)
    }
}

fn domains(resolver: &str) -> impl Iterator<Item = String> {
    let lines = resolver.lines().map(str::split_whitespace);
    let lines = lines
        .filter_map(|mut words| matches!(words.next(), Some("search" | "domain")).then_some(words));
    lines.flatten().map(|domain| domain.trim_matches('.').to_ascii_lowercase())
}

impl OwnHosts {
    /// The machine's names, those that are configured, and those of the configured addresses of the
    /// portal and of the tasks.
    #[must_use]
    pub fn new<'a>(
        machine: Machine,
        configured: impl IntoIterator<Item = &'a str>,
        public_url: Option<&str>,
        proxy_url: Option<&str>,
    ) -> Self {
        let Machine(mut names) = machine;
        let of_portal = public_url.and_then(|url| url.split_once("://")).map(|(_, rest)| rest);
        let of_portal = of_portal.map(|rest| plain(rest.split('/').next().unwrap_or(rest)));
        names.extend(configured.into_iter().map(plain).chain(of_portal));
        Self { names, tasks: TaskHosts::new(proxy_url), certificate: None }
    }

    /// The same with all names that a certificate is for.
    #[must_use]
    pub fn with_certificate(mut self, certificate: Option<Tls>) -> Self {
        self.certificate = certificate;
        self
    }

    /// Looks whether a request is for us, and notes which host links may be made of. That it names
    /// two hosts is refused later on.
    pub(super) fn receive(&self, parts: &mut Parts, asked: &Asked<'_>) -> Result<(), Foreign> {
        let named = parts.headers.get_all(header::HOST).iter().count();
        let target = parts.uri.authority().map(|authority| authority.as_str().to_owned());
        if let Some(target) = target.filter(|_| named == 0 && parts.version >= Version::HTTP_2)
            && let Ok(value) = HeaderValue::from_str(&target)
        {
            parts.headers.insert(header::HOST, value);
        }
        if named > 1 {
            return Ok(());
        }
        let Some(host) = parts.headers.get(header::HOST) else {
            parts.extensions.insert(LinkHost(Some(asked.local.to_string())));
            return Ok(());
        };
        let Ok(host) = host.to_str().map(str::to_owned) else { return Ok(()) };
        let standing = self.standing(&host, asked);
        let is_served = asked.passed_on || CHECKS.contains(&parts.uri.path());
        if standing == Standing::Foreign && !is_served {
            return Err(Foreign { host });
        }
        parts.extensions.insert(LinkHost((standing == Standing::Ours).then_some(host)));
        Ok(())
    }

    fn standing(&self, host: &str, asked: &Asked<'_>) -> Standing {
        let name = plain(host);
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if self.names.contains(&name) || name == LOCALHOST || self.tasks.label(host).is_some() {
            return Standing::Ours;
        }
        if let Ok(address) = address {
            let ours = address.is_loopback() || address.to_canonical() == asked.local.ip();
            return if ours { Standing::Ours } else { Standing::Harmless };
        }
        let vouched = asked.trusted.contains(&asked.peer)
            || self.certificate.as_ref().is_some_and(|certificate| certificate.is_for(&name));
        let below_localhost = name.strip_suffix(LOCALHOST).is_some_and(|rest| rest.ends_with('.'));
        // A name of one word is given by whoever keeps the local net, and to us when it leads here.
        let of_the_net = !name.contains('.') && !asked.local.ip().is_loopback();
        if vouched {
            Standing::Ours
        } else if below_localhost || of_the_net {
            Standing::Harmless
        } else {
            Standing::Foreign
        }
    }
}

/// A host's name as it is compared.
fn plain(host: &str) -> String {
    without_port(host).trim_end_matches('.').to_ascii_lowercase()
}

/// A host that is not one of ours.
#[derive(Debug)]
pub(super) struct Foreign {
    host: String,
}

impl IntoResponse for Foreign {
    fn into_response(self) -> Response<Body> {
        let name = plain(&self.host);
        tracing::debug!(name, "a request for a host that is not one of ours was refused");
        let text = format!(
            "This server does not go by the name {name}.\n\
             If it should, its administrator writes into its configuration: hosts = [\"{name}\"], \
             or public_url = \"https://{name}\".\n\
             此服务器不使用名称 {name}。如应使用，请管理员在配置中写入 hosts = [\"{name}\"] \
             或 public_url = \"https://{name}\"。\n"
        );
        (StatusCode::MISDIRECTED_REQUEST, guarded(), text).into_response()
    }
}

/// What keeps a browser from making more of a plain text.
pub(super) fn guarded() -> HeaderMap {
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let value = |(name, value): (HeaderName, _)| (name, HeaderValue::from_static(value));
    headers.into_iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTS: &str = "127.0.0.1 localhost\n127.0.1.1 gpu01.corp.example gpu01 # me\n\
                         10.0.0.5 other.corp.example other\n10.0.0.9 Portal gpu01";

    fn asked(local: &'static str) -> Asked<'static> {
        let local = SocketAddr::new(local.parse().unwrap(), 8080);
        Asked { peer: "10.0.0.77".parse().unwrap(), local, trusted: &[], passed_on: false }
    }

    fn hosts(configured: &[&'static str], public_url: Option<&str>) -> OwnHosts {
        let machine = Machine::of("GPU01", HOSTS, "search lab.example. corp.example\n");
        OwnHosts::new(machine, configured.iter().copied(), public_url, None)
    }

    #[test]
    fn a_machine_knows_its_names() {
        let machine = Machine::of("GPU01", HOSTS, "# x\nsearch lab.example.\n");
        let names: Vec<&str> = machine.0.iter().map(String::as_str).collect();
        let known = ["gpu01", "gpu01.corp.example", "gpu01.lab.example", "gpu01.local"];
        assert_eq!(names, [&known[..], &["localhost", "portal"]].concat());
    }

    #[test]
    fn names_that_lead_a_browser_astray_are_foreign() {
        let hosts = hosts(&["Berth.example"], Some("https://portal.example.org:8443/"));
        let ours = [
            "localhost:8080",
            "LOCALHOST",
            "127.0.0.1:9",
            "[::1]:8080",
            "10.0.0.8:80",
            "gpu01",
            "gpu01.lab.example:8080",
            "berth.example.",
            "portal.example.org",
            "t-0123456789abcdef01234567.localhost:8080",
        ];
        for host in ours {
            assert_eq!(hosts.standing(host, &asked("10.0.0.8")), Standing::Ours, "{host}");
        }
        for host in ["192.0.2.7", "[2001:db8::1]:8080", "berth:8080", "x.localhost", "0.0.0.0"] {
            assert_eq!(hosts.standing(host, &asked("10.0.0.8")), Standing::Harmless, "{host}");
        }
        for host in
            ["evil.example", "gpu01.evil.example", "localhost.evil.example", "evillocalhost.x"]
        {
            assert_eq!(hosts.standing(host, &asked("10.0.0.8")), Standing::Foreign, "{host}");
        }
        assert_eq!(hosts.standing("berth", &asked("127.0.0.1")), Standing::Foreign);
        let trusted = ["10.0.0.77".parse().unwrap()];
        let asked = Asked { trusted: &trusted, ..asked("10.0.0.8") };
        assert_eq!(hosts.standing("any.example", &asked), Standing::Ours);
    }
}
