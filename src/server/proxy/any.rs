//! Whatever a client or a task sends, it is refused or passed on as one thing. `BERTH_CASES`
//! says how often it is tried.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use percent_encoding::percent_decode_str;
use proptest::prelude::*;

use super::headers::{self, Ends};
use super::requests::{self, Address};
use crate::task_hosts::TaskHosts;

fn cases(usual: u32) -> u32 {
    std::env::var("BERTH_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

/// Pieces that mean something to somebody on the way.
const PIECES: [&str; 40] = [
    "/",
    "//",
    "\\",
    ".",
    "..",
    "%2e",
    "%2E",
    "%2f",
    "%5C",
    "%00",
    "%25",
    "%",
    "~",
    "%7E",
    ":",
    "@",
    "?",
    "#",
    "proxy",
    "/proxy/",
    "alice",
    "bob~a",
    "worker",
    "0",
    "http",
    "18446744073709551616",
    "a",
    "é",
    " ",
    ";",
    "=",
    ",",
    "berth_session",
    "__Host-",
    "t-0123456789abcdef01234567",
    ".localhost",
    "localhost:80",
    "[::1]",
    "http://",
    "\t",
];

fn pieces(most: usize) -> impl Strategy<Value = String> {
    let piece = prop_oneof![8 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    proptest::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
}

const NAMES: [&str; 26] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "cookie",
    "set-cookie",
    "location",
    "authorization",
    "referer",
    "origin",
    "x-forwarded-for",
    "x_forwarded_for",
    "forwarded",
    "expect",
    "proxy-authorization",
    "x-real-ip",
    "clear-site-data",
    "x-accel-redirect",
    "sec-fetch-site",
    "sec-fetch-dest",
    "accept",
    "content-type",
];

const VALUES: [&str; 11] = [
    "chunked",
    "close, x-a, host",
    "upgrade",
    "websocket",
    "3",
    "3, 4",
    "berth_task=1; a=b",
    "a=b; Path=/; Domain=x; berth_x=1",
    "=berth_session",
    "//evil.example/",
    "http://10.0.0.8:20001/x",
];

fn header_map() -> impl Strategy<Value = HeaderMap> {
    let value = prop_oneof![
        4 => pieces(8),
        1 => prop::sample::select(VALUES.to_vec()).prop_map(str::to_owned),
    ];
    proptest::collection::vec((prop::sample::select(NAMES.to_vec()), value), 0..12).prop_map(
        |pairs| {
            let mut map = HeaderMap::new();
            for (name, value) in pairs {
                if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
                    map.append(HeaderName::from_static(name), value);
                }
            }
            map
        },
    )
}

fn ends(prefix: Option<&str>) -> Ends {
    Ends {
        upstream: "10.0.0.8:20001".into(),
        own: "http://t-1.localhost:8080".into(),
        client: "10.0.0.9".parse().unwrap(),
        prefix: prefix.map(str::to_owned),
    }
}

/// Whether a program that decodes a path once would leave the folder.
fn leaves(path: &str) -> bool {
    let decoded = percent_decode_str(path).decode_utf8_lossy().replace('\\', "/");
    decoded.split('/').any(|segment| segment == "..")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(256), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_path_names_a_port_or_nothing(path in pieces(16)) {
        let path = format!("/proxy/{path}");
        if let Some(Address { prefix, rest, .. }) = Address::read(&path, &"alice".parse().unwrap()) {
            prop_assert!(path == format!("{prefix}{rest}") || path == prefix, "{prefix} {rest}");
        }
    }

    #[test]
    fn what_passes_names_one_host_and_stays_where_it_is(target in pieces(12), map in header_map(), method in 0..9_usize) {
        let all = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::CONNECT, Method::TRACE, Method::OPTIONS, Method::PATCH];
        let Ok(mut request) = Request::builder().method(&all[method]).uri(&target).body(()) else { return Ok(()) };
        *request.headers_mut() = map;
        let (parts, ()) = request.into_parts();
        let hosts = parts.headers.get_all(header::HOST).iter().count();
        if requests::host(&parts.uri, &parts.headers).is_ok() {
            prop_assert!(hosts <= 1);
        }
        if requests::check(&parts).is_ok() {
            prop_assert!(!leaves(parts.uri.path()), "{}", parts.uri);
            prop_assert!(parts.headers.get_all(header::CONTENT_LENGTH).iter().count() <= 1);
        }
        requests::is_own_or_opening(&parts, "http://t-1.localhost:8080");
    }

    #[test]
    fn headers_of_any_request_reach_a_task_as_they_may(map in header_map(), direct: bool) {
        let passed = headers::of_request(&map, &ends(direct.then_some("/proxy/a/w/0/http")));
        prop_assert_eq!(passed.get_all(header::HOST).iter().count(), 1);
        for (name, value) in &passed {
            let name = name.as_str();
            prop_assert!(!["connection", "transfer-encoding", "upgrade", "te", "keep-alive", "trailer"].contains(&name));
            prop_assert!(!name.contains('_') && (!direct || name != "authorization"));
            let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
            prop_assert!(name != "cookie" || !text.split(';').any(|pair| pair.trim().starts_with("berth_")), "{text}");
        }
    }

    #[test]
    fn headers_of_any_answer_reach_the_client_as_they_may(map in header_map(), direct: bool) {
        let passed = headers::of_response(&map, &ends(direct.then_some("/proxy/a/w/0/http")));
        for value in passed.get_all(header::SET_COOKIE) {
            let text = value.to_str().unwrap().to_ascii_lowercase();
            prop_assert!(!text.starts_with("berth_") && !text.starts_with('=') && !text.contains("domain="), "{text}");
        }
        prop_assert!(!passed.contains_key("clear-site-data") && !passed.contains_key("connection"));
        prop_assert!(passed.contains_key(header::CONTENT_SECURITY_POLICY));
    }

    #[test]
    fn any_host_is_a_tasks_or_not(host in pieces(6)) {
        for hosts in [TaskHosts::new(None), TaskHosts::new(Some("https://*.tasks.example.org"))] {
            if let Some(label) = hosts.label(&host) {
                prop_assert_eq!(label.len(), 26);
                prop_assert!(label.starts_with("t-"));
            }
        }
    }
}
