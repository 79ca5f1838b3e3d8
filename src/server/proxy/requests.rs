//! What a request asks for, and whether it is one that may be passed on at all.

use api::proxy::TaskPort;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Uri, header};
use protocol::ids::{JobKey, UserName};

use super::page::Reason;

/// Where a path below `/proxy/` leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) port: TaskPort,
    /// The part of the path that names the port, as it was sent.
    pub(super) prefix: String,
    /// The rest, from its slash on.
    pub(super) rest: String,
}

impl Address {
    /// Reads `/proxy/<job>/<role>/<index>/<port>/…`. A job without an owner is `user`'s own.
    pub(super) fn read(path: &str, user: &UserName) -> Option<Self> {
        let mut parts = path.strip_prefix("/proxy/")?.splitn(5, '/');
        let mut next = || Some(parts.next()?.replace("%7E", "~").replace("%7e", "~"));
        let (job, role, index, port) = (next()?, next()?, next()?, next()?);
        let job = match job.contains('~') {
            true => job.parse().ok()?,
            false => JobKey { user: user.clone(), name: job.parse().ok()? },
        };
        let rest = parts.next().unwrap_or_default();
        let prefix = &path[..path.len() - rest.len()];
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix).to_owned();
        let port = TaskPort {
            job,
            role: role.parse().ok()?,
            index: index.parse().ok()?,
            port: port.parse().ok()?,
        };
        Some(Self { port, prefix, rest: format!("/{rest}") })
    }
}

/// The host that a request is for. What its target says must be what its header says.
pub(super) fn host(uri: &Uri, headers: &HeaderMap) -> Result<Option<String>, Reason> {
    let mut named = headers.get_all(header::HOST).iter();
    let header = named.next().map(|host| host.to_str().map(str::to_owned));
    if named.next().is_some() {
        return Err(Reason::Malformed);
    }
    let header = header.transpose().map_err(|_| Reason::Malformed)?;
    let target = uri.authority().map(|authority| authority.as_str().to_owned());
    match (target, header) {
        (Some(target), Some(header)) if !target.eq_ignore_ascii_case(&header) => {
            Err(Reason::Malformed)
        }
        (target, header) => Ok(target.or(header)),
    }
}

/// Refuses what two programs could read in two ways. (That a body is chunked and has a length as
/// well is settled before: hyper takes the chunks and drops the length.)
pub(super) fn check(request: &Parts) -> Result<(), Reason> {
    let headers = &request.headers;
    let lengths = headers.get_all(header::CONTENT_LENGTH).iter().count();
    let odd = matches!(request.method, Method::CONNECT | Method::TRACE);
    let path = request.uri.path();
    if lengths > 1 || odd || !path.starts_with('/') || climbs(path) {
        return Err(Reason::Malformed);
    }
    Ok(())
}

/// Whether a path has `.` or `..` in it, however it is written: browsers and programs have resolved
/// them before they ask.
fn climbs(path: &str) -> bool {
    let plain = path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/");
    let plain = plain.replace("%5c", "/").replace('\\', "/");
    plain.split('/').any(|segment| matches!(segment, "." | ".."))
}

/// Whether a request to a task's host comes from that task's own pages, or is somebody opening one
/// of them.
pub(super) fn is_own_or_opening(request: &Parts, own: &str) -> bool {
    let headers = &request.headers;
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(origin) = headers.get(header::ORIGIN)
        && !origin.to_str().is_ok_and(|origin| origin.eq_ignore_ascii_case(own))
    {
        return false;
    }
    match text("sec-fetch-site") {
        None | Some("same-origin" | "none") => true,
        Some(_other) => opens(request),
    }
}

/// Whether it opens a page of its own, not a part of another one.
pub(super) fn opens(request: &Parts) -> bool {
    let text = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
    let reads = matches!(request.method, Method::GET | Method::HEAD);
    let alone = text("sec-fetch-dest").is_none_or(|dest| dest == "document");
    reads && alone && !asks_for_upgrade(&request.headers)
}

/// Whether the connection shall become something else.
pub(super) fn asks_for_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(header::UPGRADE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Option<(String, String, String)> {
        let user = "alice".parse().unwrap();
        let Address { port, prefix, rest } = Address::read(path, &user)?;
        let TaskPort { job, role, index, port } = port;
        Some((format!("{job} {role} {index} {port}"), prefix, rest))
    }

    #[test]
    fn an_address_names_a_port_and_a_path() {
        let cases = [
            ("/proxy/a/worker/0/http", "alice~a worker 0 http", "/proxy/a/worker/0/http", "/"),
            ("/proxy/a/worker/0/http/", "alice~a worker 0 http", "/proxy/a/worker/0/http", "/"),
            (
                "/proxy/bob~a/worker/12/8888/lab/x%2Fy//z",
                "bob~a worker 12 8888",
                "/proxy/bob~a/worker/12/8888",
                "/lab/x%2Fy//z",
            ),
            ("/proxy/bob%7Ea/0/0/h/8", "bob~a 0 0 h", "/proxy/bob%7Ea/0/0/h", "/8"),
        ];
        for (path, port, prefix, rest) in cases {
            let expected = (port.to_owned(), prefix.to_owned(), rest.to_owned());
            assert_eq!(read(path), Some(expected), "{path}");
        }
        for bad in ["/proxy/", "/proxy/a/b", "/proxy/a/b/c/d", "/proxy/a b/w/0/http", "/x/a/b/0/h"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_path_does_not_climb() {
        for bad in ["/a/../b", "/a/%2e%2E/b", "/..%2fb", "/a/.", "/a/..\\b", "/a%5c..%5Cb", "/%2E"]
        {
            assert!(climbs(bad), "{bad}");
        }
        for good in ["/", "/a..b/...", "/.hidden", "/a%2Fb", "/x/...%2F"] {
            assert!(!climbs(good), "{good}");
        }
    }

    fn request(headers: &[(&str, &str)]) -> Parts {
        let mut request = axum::http::Request::builder().uri("/x");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn target_and_header_name_the_same_host() {
        let mut two = request(&[("host", "a")]);
        two.uri = "http://b/x".parse().unwrap();
        assert_eq!(host(&two.uri, &two.headers), Err(Reason::Malformed));
        two.uri = "http://A/x".parse().unwrap();
        assert_eq!(host(&two.uri, &two.headers), Ok(Some("A".to_owned())));
        let doubled = request(&[("host", "a"), ("host", "a")]);
        assert_eq!(host(&doubled.uri, &doubled.headers), Err(Reason::Malformed));
        let none = request(&[]);
        assert_eq!(host(&none.uri, &none.headers), Ok(None));
    }

    #[test]
    fn other_sites_open_pages_and_nothing_else() {
        let own = "http://t-1.localhost:8080";
        let good: [&[(&str, &str)]; 5] = [
            &[],
            &[("origin", own)],
            &[("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")],
            &[("sec-fetch-site", "none")],
        ];
        for headers in good {
            assert!(is_own_or_opening(&request(headers), own), "{headers:?}");
        }
        let bad: [&[(&str, &str)]; 4] = [
            &[("origin", "http://127.0.0.1:8080")],
            &[("origin", "null")],
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "iframe")],
            &[("sec-fetch-site", "cross-site"), ("upgrade", "websocket")],
        ];
        for headers in bad {
            assert!(!is_own_or_opening(&request(headers), own), "{headers:?}");
        }
    }
}
