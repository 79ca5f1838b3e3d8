//! Which headers pass, and how they are changed on their way. Pure: headers in, headers out.

use std::net::IpAddr;

use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue};

/// Cookies whose names begin so are ours, whatever a browser's prefix says before it.
const OURS: &str = "berth_";
/// What browsers take as a promise about a cookie.
const PREFIXES: [&str; 2] = ["__host-", "__secure-"];

/// They are about one connection, and there are two of them.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// They would speak for more than the task: for its host's other services, for all of a browser's
/// cookies, or to the server in front of us.
const PRESUMPTUOUS: [&str; 12] = [
    "strict-transport-security",
    "alt-svc",
    "clear-site-data",
    "public-key-pins",
    "nel",
    "report-to",
    "set-cookie2",
    "x-accel-redirect",
    "x-accel-buffering",
    "x-accel-charset",
    "x-accel-limit-rate",
    "x-sendfile",
];

/// Those that are not about the one connection on which they came.
pub(crate) fn end_to_end(from: &HeaderMap) -> HeaderMap {
    let named = named_in_connection(from);
    let passing = from.iter().filter(|(name, _)| passes(name, &named));
    passing.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The two ends of a request and how they see each other.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    /// The task as we reach it: address and port.
    pub(super) upstream: String,
    /// The origin that the client sees.
    pub(super) own: String,
    /// Where the client is.
    pub(super) client: IpAddr,
    /// Below which path of the portal the task is; `None`: it has a host of its own.
    pub(super) prefix: Option<String>,
}

/// The headers of a request on its way to the task.
pub(super) fn of_request(from: &HeaderMap, ends: &Ends) -> HeaderMap {
    let named = named_in_connection(from);
    let direct = ends.prefix.is_some();
    let mut headers = HeaderMap::with_capacity(from.len() + 6);
    for (name, value) in from {
        let word = name.as_str();
        let forged = word.starts_with("x-forwarded-")
            || matches!(word, "forwarded" | "x-real-ip" | "host" | "expect" | "cookie")
            // Programs behind CGI take `_` for `-`: such a name would be another one there.
            || word.contains('_');
        // On the portal's address these are meant for us.
        let ours = direct && matches!(word, "authorization" | "referer");
        if !forged && !ours && passes(name, &named) {
            headers.append(name, value.clone());
        }
    }
    as_seen_by_the_task(&mut headers, ends);
    if let Some(cookies) = cookies(from) {
        headers.insert(header::COOKIE, cookies);
    }
    forwarded(&mut headers, ends);
    headers
}

/// What pages say about where they are, as the task sees it: programs compare it with `Host`.
fn as_seen_by_the_task(headers: &mut HeaderMap, ends: &Ends) {
    put(headers, header::HOST, &ends.upstream);
    let own = |value: &HeaderValue| {
        value.to_str().ok().and_then(|v| v.strip_prefix(&ends.own)).map(str::to_owned)
    };
    for name in [header::ORIGIN, header::REFERER] {
        if let Some(rest) = headers.get(&name).and_then(own)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            put(headers, name, &format!("http://{}{rest}", ends.upstream));
        }
    }
}

fn forwarded(headers: &mut HeaderMap, ends: &Ends) {
    let (scheme, host) = ends.own.split_once("://").unwrap_or(("http", &ends.own));
    put(headers, HeaderName::from_static("x-forwarded-for"), &ends.client.to_string());
    put(headers, HeaderName::from_static("x-forwarded-proto"), scheme);
    put(headers, HeaderName::from_static("x-forwarded-host"), host);
    if let Some(prefix) = &ends.prefix {
        put(headers, HeaderName::from_static("x-forwarded-prefix"), prefix);
    }
}

/// What is put there was read from headers and addresses, and is one.
fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// The headers of an answer on its way to the client.
pub(super) fn of_response(from: &HeaderMap, ends: &Ends) -> HeaderMap {
    let named = named_in_connection(from);
    let mut headers = HeaderMap::with_capacity(from.len() + 2);
    for (name, value) in from {
        if !passes(name, &named) || PRESUMPTUOUS.contains(&name.as_str()) {
            continue;
        }
        let value = match name {
            &header::SET_COOKIE => confined(value, ends.prefix.as_deref()),
            &header::LOCATION | &header::CONTENT_LOCATION => located(value, ends),
            _ => Some(value.clone()),
        };
        if let Some(value) = value {
            headers.append(name, value);
        }
    }
    let policy = match ends.prefix {
        // Nobody else shows the task's pages inside his own.
        None => "frame-ancestors 'self'",
        // On the portal's own address a page has no origin at all.
        Some(_) => "sandbox",
    };
    headers.append(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers
}

fn passes(name: &HeaderName, named: &[String]) -> bool {
    let word = name.as_str();
    !HOP_BY_HOP.contains(&word) && !named.iter().any(|other| other == word)
}

/// What `Connection` says to be about the connection, too. How long a body is never is.
fn named_in_connection(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(','));
    let names = names.map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| name != "content-length").collect()
}

/// Whether a cookie of this name could be taken for one of ours.
fn is_ours(name: &str) -> bool {
    let mut name = name.trim().to_ascii_lowercase();
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)) {
        name = rest.to_owned();
    }
    name.starts_with(OURS)
}

/// The cookies of a request without ours.
fn cookies(from: &HeaderMap) -> Option<HeaderValue> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for value in from.get_all(header::COOKIE) {
        for pair in value.as_bytes().split(|byte| *byte == b';') {
            let pair = pair.trim_ascii();
            let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
            if !pair.is_empty() && !is_ours(&String::from_utf8_lossy(name)) {
                kept.push(pair);
            }
        }
    }
    if kept.is_empty() {
        return None;
    }
    HeaderValue::from_bytes(&kept.join(&b"; "[..])).ok()
}

/// A task's cookie, for its own host or below its own path only; `None`: it could be taken for ours.
fn confined(value: &HeaderValue, prefix: Option<&str>) -> Option<HeaderValue> {
    let text = value.to_str().ok()?;
    let mut parts = text.split(';');
    let pair = parts.next()?.trim();
    let (name, _) = pair.split_once('=')?;
    // A cookie without a name is sent as its value alone, which may look like any other.
    if name.trim().is_empty() || is_ours(name) {
        return None;
    }
    let mut kept = vec![pair.to_owned()];
    let mut path = None;
    for part in parts.map(str::trim) {
        let (word, value) = part.split_once('=').unwrap_or((part, ""));
        match word.trim().to_ascii_lowercase().as_str() {
            "domain" => {}
            "path" => path = Some(value.trim().to_owned()),
            _ => kept.push(part.to_owned()),
        }
    }
    match (prefix, path.filter(|path| path.starts_with('/'))) {
        (Some(prefix), Some(path)) => kept.push(format!("Path={}", below(prefix, &path))),
        (Some(prefix), None) => kept.push(format!("Path={prefix}/")),
        (None, Some(path)) => kept.push(format!("Path={path}")),
        (None, None) => {}
    }
    HeaderValue::from_str(&kept.join("; ")).ok()
}

/// A path of the task as the client sees it. Programs that know the prefix have put it there.
fn below(prefix: &str, path: &str) -> String {
    let knows =
        path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if knows { path.to_owned() } else { format!("{prefix}{path}") }
}

/// Where the task sends the client, as the client sees it.
fn located(value: &HeaderValue, ends: &Ends) -> Option<HeaderValue> {
    let Ok(text) = value.to_str() else { return Some(value.clone()) };
    let prefix = ends.prefix.as_deref().unwrap_or_default();
    let own = ends.own.split_once("://").map_or("", |(_, host)| host);
    let rest = text.strip_prefix("http:").or_else(|| text.strip_prefix("https:")).unwrap_or(text);
    let Some(rest) = rest.strip_prefix("//") else {
        return if text.starts_with('/') {
            HeaderValue::from_str(&below(prefix, text)).ok()
        } else {
            Some(value.clone())
        };
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let its_own = [ends.upstream.as_str(), own].iter().any(|a| a.eq_ignore_ascii_case(authority));
    if !its_own {
        return Some(value.clone());
    }
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    HeaderValue::from_str(&below(prefix, &path)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(prefix: Option<&str>) -> Ends {
        let own =
            if prefix.is_some() { "http://127.0.0.1:8080" } else { "http://t-1.localhost:8080" };
        Ends {
            upstream: "10.0.0.8:20001".into(),
            own: own.into(),
            client: "10.0.0.9".parse().unwrap(),
            prefix: prefix.map(str::to_owned),
        }
    }

    fn map(headers: &[(&str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        map
    }

    fn sent(headers: &[(&str, &str)], prefix: Option<&str>) -> HeaderMap {
        of_request(&map(headers), &ends(prefix))
    }

    fn got(headers: &[(&str, &str)], prefix: Option<&str>) -> HeaderMap {
        of_response(&map(headers), &ends(prefix))
    }

    #[test]
    fn our_cookies_stay_with_us() {
        let cookies = "a=1; berth_session=x; __Host-berth_session=y; b=2;BERTH_TASK=z; __Secure-__Host-berth_x=1";
        assert_eq!(sent(&[("cookie", cookies)], None)["cookie"], "a=1; b=2");
        assert!(!sent(&[("cookie", "berth_session=x")], None).contains_key("cookie"));
        let two = [("cookie", "a=1"), ("cookie", "berth_task=1; b=2")];
        assert_eq!(sent(&two, None)["cookie"], "a=1; b=2");
    }

    #[test]
    fn our_token_stays_with_us_and_a_tasks_own_reaches_it() {
        let token = [("authorization", "Bearer x")];
        assert!(!sent(&token, Some("/proxy/a/w/0/http")).contains_key("authorization"));
        assert_eq!(sent(&token, None)["authorization"], "Bearer x");
    }

    #[test]
    fn headers_of_one_connection_do_not_pass() {
        let headers = [
            ("connection", "keep-alive, X-Secret, content-length"),
            ("keep-alive", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("proxy-authorization", "x"),
            ("x-secret", "x"),
            ("content-length", "3"),
            ("accept", "*/*"),
        ];
        let passed = sent(&headers, None);
        let names = ["connection", "keep-alive", "te", "transfer-encoding", "upgrade", "x-secret"];
        assert!(names.iter().all(|name| !passed.contains_key(*name)), "{passed:?}");
        assert_eq!(
            (&passed["content-length"], &passed["accept"]),
            (&"3".parse().unwrap(), &"*/*".parse().unwrap())
        );
    }

    #[test]
    fn nobody_says_where_he_comes_from_but_we() {
        let forged = [
            ("x-forwarded-for", "6.6.6.6"),
            ("x-forwarded-user", "root"),
            ("x_forwarded_for", "6.6.6.6"),
            ("forwarded", "for=6.6.6.6"),
            ("x-real-ip", "6.6.6.6"),
        ];
        let passed = sent(&forged, None);
        assert_eq!(passed["x-forwarded-for"], "10.0.0.9");
        assert_eq!(passed["x-forwarded-host"], "t-1.localhost:8080");
        assert_eq!(passed.len(), 4, "{passed:?}");
        let passed = sent(&forged, Some("/proxy/a/w/0/http"));
        assert_eq!(passed["x-forwarded-prefix"], "/proxy/a/w/0/http");
    }

    #[test]
    fn a_page_of_the_task_is_from_where_the_task_thinks_it_is() {
        let own = [
            ("origin", "http://t-1.localhost:8080"),
            ("referer", "http://t-1.localhost:8080/lab?x"),
        ];
        let passed = sent(&own, None);
        assert_eq!(passed["host"], "10.0.0.8:20001");
        assert_eq!(passed["origin"], "http://10.0.0.8:20001");
        assert_eq!(passed["referer"], "http://10.0.0.8:20001/lab?x");
        let foreign = [("origin", "http://t-1.localhost:80801")];
        assert_eq!(sent(&foreign, None)["origin"], "http://t-1.localhost:80801");
    }

    #[test]
    fn a_tasks_cookies_are_its_own() {
        let cases = [
            ("a=1; Path=/; Domain=localhost; HttpOnly", Some("a=1; HttpOnly; Path=/")),
            ("a=1", Some("a=1")),
            ("berth_session=1", None),
            ("__Host-berth_task=1; Path=/; Secure", None),
            (" BERTH_Session =1", None),
            ("=berth_session=1", None),
            ("berth_session", None),
        ];
        for (cookie, expected) in cases {
            let headers = got(&[("set-cookie", cookie)], None);
            let found = headers.get("set-cookie").map(|value| value.to_str().unwrap());
            assert_eq!(found, expected, "{cookie}");
        }
        let prefix = Some("/proxy/a/w/0/http");
        let headers = got(&[("set-cookie", "a=1; Path=/lab"), ("set-cookie", "b=2")], prefix);
        let found: Vec<_> = headers.get_all("set-cookie").iter().collect();
        assert_eq!(found, ["a=1; Path=/proxy/a/w/0/http/lab", "b=2; Path=/proxy/a/w/0/http/"]);
    }

    #[test]
    fn a_task_sends_nobody_to_its_bare_address() {
        let prefix = "/proxy/a/w/0/http";
        let cases = [
            ("/lab", "/lab", "/proxy/a/w/0/http/lab"),
            ("lab?x", "lab?x", "lab?x"),
            ("http://10.0.0.8:20001/lab", "/lab", "/proxy/a/w/0/http/lab"),
            ("//10.0.0.8:20001?x=1", "/?x=1", "/proxy/a/w/0/http/?x=1"),
            ("https://example.org/lab", "https://example.org/lab", "https://example.org/lab"),
            ("http://10.0.0.8:2000/", "http://10.0.0.8:2000/", "http://10.0.0.8:2000/"),
            ("/proxy/a/w/0/http/lab", "/proxy/a/w/0/http/lab", "/proxy/a/w/0/http/lab"),
        ];
        for (location, on_its_host, below_the_prefix) in cases {
            assert_eq!(got(&[("location", location)], None)["location"], on_its_host);
            assert_eq!(got(&[("location", location)], Some(prefix))["location"], below_the_prefix);
        }
    }

    #[test]
    fn a_task_speaks_for_itself_only() {
        let headers = PRESUMPTUOUS.map(|name| (name, "x"));
        let passed = got(&headers, None);
        assert_eq!(passed.len(), 1, "{passed:?}");
        assert_eq!(passed["content-security-policy"], "frame-ancestors 'self'");
        assert_eq!(got(&[], Some("/p"))["content-security-policy"], "sandbox");
        let both = got(&[("content-security-policy", "script-src 'self'")], None);
        assert_eq!(both.get_all("content-security-policy").iter().count(), 2);
    }
}
