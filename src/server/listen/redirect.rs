//! The plain door beside an encrypted one: it sends everybody there.

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::hosts::guarded;
use crate::task_hosts::{TaskHosts, without_port};

/// The port that an address of https need not name.
const HTTPS: u16 = 443;

/// Answers everything by where it is encrypted: at the address that users type, or else at the same
/// host's `port`.
pub fn redirect(public_url: Option<&str>, proxy_url: Option<&str>, port: u16) -> Router {
    let ways = std::sync::Arc::new(Ways {
        portal: public_url.map(|url| url.trim_end_matches('/').to_owned()),
        tasks: TaskHosts::new(proxy_url),
        port,
    });
    Router::new().fallback(async move |request: Request| ways.lead(&request))
}

struct Ways {
    portal: Option<String>,
    tasks: TaskHosts,
    port: u16,
}

impl Ways {
    fn lead(&self, request: &Request) -> Response {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let place = self.place(host).map(|place| format!("{place}{path}"));
        match place.and_then(|place| HeaderValue::from_str(&place).ok()) {
            Some(place) => {
                let mut response = StatusCode::PERMANENT_REDIRECT.into_response();
                response.headers_mut().extend(guarded());
                response.headers_mut().insert(header::LOCATION, place);
                response
            }
            None => (StatusCode::BAD_REQUEST, guarded(), "Use https.\n").into_response(),
        }
    }

    fn place(&self, host: Option<&str>) -> Option<String> {
        let of_task = host.is_some_and(|host| self.tasks.label(host).is_some());
        if let Some(portal) = self.portal.as_ref().filter(|_| !of_task) {
            return Some(portal.clone());
        }
        let name = without_port(host?);
        match self.port {
            HTTPS => Some(format!("https://{name}")),
            port => Some(format!("https://{name}:{port}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_led_to_the_same_page_under_https() {
        let place = |portal: Option<&str>, port, host| {
            let (portal, tasks) = (portal.map(str::to_owned), TaskHosts::new(None));
            Ways { portal, tasks, port }.place(host)
        };
        let portal = Some("https://berth.example");
        assert_eq!(place(portal, 443, Some("10.0.0.8")).as_deref(), portal);
        assert_eq!(place(None, 443, Some("gpu01:80")).as_deref(), Some("https://gpu01"));
        assert_eq!(place(None, 8443, Some("[::1]:80")).as_deref(), Some("https://[::1]:8443"));
        let task = "t-0123456789abcdef01234567.localhost";
        assert_eq!(place(portal, 443, Some(task)), Some(format!("https://{task}")));
        assert_eq!(place(None, 443, None), None);
    }
}
