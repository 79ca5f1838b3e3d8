//! What answers have in common.

use api::ErrorCode;
use api::groups::Granted;
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use protocol::ids::VirtualClusterName;

use crate::failure::Failure;

/// An answer that says what somebody may use beside what he was given.
pub(super) fn beside(granted: &Granted, answer: impl IntoResponse) -> Response {
    let names: Vec<_> = granted.beside.iter().map(VirtualClusterName::as_str).collect();
    if names.is_empty() {
        return answer.into_response();
    }
    let names = names.join(", ");
    let hint = "a virtual cluster that names nobody is everybody's, and one may name a group";
    warned(answer, &format!("may be used nevertheless: {names}; {hint}"))
}

/// An answer with something that is worth knowing.
pub(crate) fn warned(answer: impl IntoResponse, warning: &str) -> Response {
    let mut answer = answer.into_response();
    if let Ok(warning) = HeaderValue::from_bytes(warning.as_bytes()) {
        answer.headers_mut().append("x-warning", warning);
    }
    answer
}

/// There is no virtual cluster of that name, because there can be none.
pub(crate) fn not_a_virtual_cluster(name: &str) -> Failure {
    Failure::new(ErrorCode::NoVirtualClusterError, format!("Virtual cluster {name} is not found."))
}
