//! Further addresses of our doors, which OpenPAI's clients have built in. A request that comes by one
//! of them is given the one address of its door before anything looks at it: whatever guards a door
//! guards it by all of its names.

use axum::extract::Request;
use axum::http::Uri;
use axum::http::uri::PathAndQuery;
use axum::middleware::Next;
use axum::response::Response;

use crate::webhdfs::address::PREFIX;

/// Where OpenPAI's portal had its REST server.
const REST_SERVER: &str = "/rest-server";
/// Where OpenPAI's portal had WebHDFS: for programs, and for libraries that put `/webhdfs/v1` behind what they
/// are told.
const WEBHDFS: [&str; 2] = ["/webhdfs/api/v1", "/webhdfs/webhdfs/v1"];
/// The programs' doors.
const API: &str = "/api";
/// What follows these is a path of the user's own, and a slash at its end is his.
const PATHS: [&str; 2] = ["/api/v2/files", "/api/v2/uploads"];

/// Puts the door's own address in the place of the one that was asked for.
pub(crate) async fn resolve(mut request: Request, next: Next) -> Response {
    let uri = request.uri();
    if let Some(own) = own_path(uri.path()).and_then(|path| with_path(uri, &path)) {
        *request.uri_mut() = own;
    }
    next.run(request).await
}

/// The path of the door, where it is another one than was asked for.
fn own_path(asked: &str) -> Option<String> {
    let of_api = below(asked, REST_SERVER).filter(|rest| below(rest, API).is_some());
    let of_files = WEBHDFS.iter().find_map(|prefix| below(asked, prefix));
    let of_files = of_files.map(|rest| format!("{PREFIX}{rest}"));
    let renamed = of_api.map(str::to_owned).or(of_files);
    match without_slash(renamed.as_deref().unwrap_or(asked)) {
        Some(path) => Some(path.to_owned()),
        None => renamed,
    }
}

/// What follows a prefix that ends where a part of the path ends.
fn below<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    path.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path without the slash at its end, where that means nothing.
fn without_slash(path: &str) -> Option<&str> {
    below(path, API)?;
    let is_users = PATHS.iter().any(|prefix| below(path, prefix).is_some());
    path.strip_suffix('/').filter(|_| !is_users)
}

fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let address = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(address).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_door_has_one_address() {
        let cases = [
            ("/rest-server/api/v2/jobs", Some("/api/v2/jobs")),
            ("/rest-server/api/v1/", Some("/api/v1")),
            ("/rest-server/api", Some("/api")),
            ("/webhdfs/api/v1/alice/a%20b/", Some("/webhdfs/v1/alice/a%20b/")),
            ("/webhdfs/api/v1", Some("/webhdfs/v1")),
            ("/webhdfs/webhdfs/v1/alice/a", Some("/webhdfs/v1/alice/a")),
            ("/webhdfs/webhdfs/v1", Some("/webhdfs/v1")),
            ("/api/v2/users/", Some("/api/v2/users")),
            ("/rest-server/api/v2/files/alice/", Some("/api/v2/files/alice/")),
            ("/api/v2/files/alice/", None),
            ("/api/v2/uploads/alice/", None),
            ("/api/v2/jobs", None),
            ("/rest-server", None),
            ("/rest-server/", None),
            ("/rest-server/healthz", None),
            ("/rest-server/webhdfs/v1/alice", None),
            ("/rest-server/rest-server/api/v1", None),
            ("/rest-server//api/v1", None),
            ("/rest-serverapi/v1", None),
            ("/rest-server/apis", None),
            ("/rest-server/api%2fv1", None),
            ("/webhdfs/api/v1x", None),
            ("/webhdfs/webhdfs/v1x", None),
            ("/webhdfs/webhdfs/webhdfs/v1", None),
            ("/jobs/", None),
            ("/", None),
        ];
        for (asked, own) in cases {
            assert_eq!(own_path(asked).as_deref(), own, "{asked}");
        }
    }

    #[test]
    fn what_was_asked_for_beside_the_path_stays() {
        let resolved = |uri: &str| {
            let uri = uri.parse::<Uri>().unwrap();
            with_path(&uri, &own_path(uri.path()).unwrap()).unwrap().to_string()
        };
        assert_eq!(
            resolved("/rest-server/api/v2/jobs/?limit=1&q=a%2Fb"),
            "/api/v2/jobs?limit=1&q=a%2Fb"
        );
        let absolute = "https://berth.example.org:8443/rest-server/api/v1/jobs";
        assert_eq!(resolved(absolute), "https://berth.example.org:8443/api/v1/jobs");
    }
}
