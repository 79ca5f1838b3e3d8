//! The host names of tasks.

use api::proxy::TaskPort;
use sha2::{Digest, Sha256};

/// Begins the name of every task's host.
const MARK: &str = "t-";
/// Hexadecimal digits of it.
const DIGITS: usize = 24;
/// Where the portal is reached by a loopback address: browsers take all names below it for the same.
const LOOPBACK: &str = "localhost";

/// Below which name tasks have theirs.
#[derive(Debug, Default)]
pub(crate) struct TaskHosts {
    /// As configured; `None`: below `localhost`, where that will do.
    configured: Option<Below>,
}

#[derive(Debug, PartialEq, Eq)]
struct Below {
    scheme: String,
    /// The name with its port, if it has one.
    authority: String,
}

impl Below {
    /// `https://*.tasks.example.org`, with a port or without.
    fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://*.")?;
        let authority = rest.strip_suffix('/').unwrap_or(rest).to_ascii_lowercase();
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
        let good = matches!(scheme, "http" | "https")
            && authority.starts_with(|c: char| c.is_ascii_alphanumeric())
            && authority.chars().all(allowed);
        good.then(|| Self { scheme: scheme.to_owned(), authority })
    }

    fn name(&self) -> &str {
        without_port(&self.authority)
    }
}

/// Whether a `proxy.url` is one.
pub(crate) fn is_pattern(url: &str) -> bool {
    Below::parse(url).is_some()
}

impl TaskHosts {
    /// Takes the configured `proxy.url`.
    pub(crate) fn new(url: Option<&str>) -> Self {
        Self { configured: url.and_then(Below::parse) }
    }

    /// The first label of the host of a task's port: the same each time, so that what its pages
    /// keep in a browser is found again.
    pub(crate) fn label_of(port: &TaskPort) -> String {
        let TaskPort { job, role, index, port } = port;
        let digest = Sha256::digest(format!("{job}/{role}/{index}/{port}"));
        format!("{MARK}{}", &hex::encode(digest)[..DIGITS])
    }

    /// The first label of a host, if it is a task's.
    pub(crate) fn label(&self, host: &str) -> Option<String> {
        let host = without_port(host).to_ascii_lowercase();
        let (label, rest) = host.split_once('.')?;
        let digits = label.strip_prefix(MARK)?;
        let hexadecimal = digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let below = self.configured.as_ref().map_or(LOOPBACK, Below::name);
        (digits.len() == DIGITS && hexadecimal && rest == below).then(|| label.to_owned())
    }

    /// The origin of a task's host for whoever reaches the portal at `own`; `None`: none can be
    /// made up for that address.
    pub(crate) fn origin(&self, own: &str, label: &str) -> Option<String> {
        if let Some(Below { scheme, authority }) = &self.configured {
            return Some(format!("{scheme}://{label}.{authority}"));
        }
        let (scheme, authority) = own.split_once("://")?;
        let name = without_port(authority);
        let loopback = name.eq_ignore_ascii_case(LOOPBACK)
            || name == "[::1]"
            || name.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| ip.is_loopback());
        loopback.then(|| format!("{scheme}://{label}.{LOOPBACK}{}", &authority[name.len()..]))
    }

    /// Whether tasks' hosts are reached by https, when the portal is at `own`.
    pub(crate) fn scheme<'a>(&'a self, own: &'a str) -> &'a str {
        match &self.configured {
            Some(below) => &below.scheme,
            None => own.split_once("://").map_or("http", |(scheme, _)| scheme),
        }
    }
}

/// The name or the address, in brackets where it is one of IPv6.
pub(crate) fn without_port(authority: &str) -> &str {
    match authority.rfind(':') {
        Some(colon) if !authority[colon..].contains(']') => &authority[..colon],
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: &str = "t-0123456789abcdef01234567";

    #[test]
    fn loopback_addresses_have_names_below_localhost() {
        let hosts = TaskHosts::new(None);
        let cases = [
            ("http://127.0.0.1:8080", Some(format!("http://{LABEL}.localhost:8080"))),
            ("http://localhost:8080", Some(format!("http://{LABEL}.localhost:8080"))),
            ("http://[::1]:8080", Some(format!("http://{LABEL}.localhost:8080"))),
            ("http://127.0.0.1", Some(format!("http://{LABEL}.localhost"))),
            ("http://10.0.0.8:8080", None),
            ("https://berth.example.org", None),
        ];
        for (own, origin) in cases {
            assert_eq!(hosts.origin(own, LABEL), origin, "{own}");
        }
        assert_eq!(hosts.label(&format!("{LABEL}.localhost:8080")).as_deref(), Some(LABEL));
        assert_eq!(hosts.label(&format!("{LABEL}.LOCALHOST")).as_deref(), Some(LABEL));
    }

    #[test]
    fn only_hosts_of_tasks_are_taken_for_such() {
        let hosts = TaskHosts::new(None);
        let deep = format!("a.{LABEL}.localhost");
        let other = format!("{LABEL}.example.org");
        for host in ["127.0.0.1:8080", "localhost", "t-1.localhost", "[::1]:80", "", &deep, &other]
        {
            assert_eq!(hosts.label(host), None, "{host}");
        }
        let hosts = TaskHosts::new(Some("https://*.Tasks.example.org"));
        let host = format!("{LABEL}.tasks.example.org");
        assert_eq!(hosts.label(&host).as_deref(), Some(LABEL));
        assert_eq!(hosts.label(&format!("{LABEL}.localhost")), None);
        let origin = hosts.origin("https://berth.example.org", LABEL);
        assert_eq!(origin, Some(format!("https://{host}")));
    }

    #[test]
    fn a_pattern_has_one_star_in_front() {
        for good in ["https://*.tasks.example.org", "http://*.localhost:8080", "https://*.x.org/"] {
            assert!(is_pattern(good), "{good}");
        }
        for bad in ["https://tasks.example.org", "*.x", "ftp://*.x", "https://*.", "https://*.a/b"]
        {
            assert!(!is_pattern(bad), "{bad}");
        }
    }

    #[test]
    fn each_port_has_a_host_of_its_own() {
        let port = |job: &str, index, port: &str| TaskPort {
            job: job.parse().unwrap(),
            role: "worker".parse().unwrap(),
            index,
            port: port.parse().unwrap(),
        };
        let label = TaskHosts::label_of(&port("alice~a", 0, "http"));
        assert_eq!(TaskHosts::label_of(&port("alice~a", 0, "http")), label);
        for other in [port("bob~a", 0, "http"), port("alice~a", 1, "http"), port("alice~a", 0, "x")]
        {
            assert_ne!(TaskHosts::label_of(&other), label);
        }
        assert_eq!(TaskHosts::default().label(&format!("{label}.localhost")), Some(label));
    }
}
