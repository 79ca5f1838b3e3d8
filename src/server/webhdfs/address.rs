use axum::http::Uri;

/// Where everything is.
pub(crate) const PREFIX: &str = "/webhdfs/v1";

/// Whether a request says by a parameter who asks: then only [`super::ask`] finds it out, and counts it.
pub(crate) fn names_its_caller(uri: &Uri) -> bool {
    uri.path().starts_with(PREFIX) && uri.query().is_some_and(|query| query.contains("delegation="))
}
