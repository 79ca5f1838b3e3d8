use api::jobs::{ConfigForm, JobConfig, Syntax};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::de::IgnoredAny;

use super::media::{JSON, TEXT, YAML};

/// The notation that an `Accept` header prefers; without a preference, as the job was written.
pub(crate) fn config_form(headers: &HeaderMap) -> ConfigForm {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("");
    let kinds = accept.split(',').map(|kind| kind.split(';').next().unwrap_or("").trim());
    for kind in kinds {
        match kind {
            "application/json" => return ConfigForm::Json,
            "text/yaml" | "text/x-yaml" | "application/yaml" | "application/x-yaml" => {
                return ConfigForm::Yaml;
            }
            _ => {}
        }
    }
    ConfigForm::Written
}

/// A job file with its notation's media type. One written with comments is no JSON to those who read JSON.
pub(crate) fn config_response(config: JobConfig) -> Response {
    let kind = match config.syntax {
        Syntax::Json if serde_json::from_str::<IgnoredAny>(&config.text).is_err() => TEXT,
        Syntax::Json => JSON,
        Syntax::Yaml => YAML,
    };
    ([(header::CONTENT_TYPE, kind), (header::VARY, "accept")], config.text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_kind_decides() {
        let cases = [
            ("", ConfigForm::Written),
            ("*/*", ConfigForm::Written),
            ("application/json", ConfigForm::Json),
            ("text/html, text/yaml;q=0.9, application/json", ConfigForm::Yaml),
        ];
        for (accept, form) in cases {
            let headers =
                HeaderMap::from_iter([(header::ACCEPT, accept.parse().expect("a header value"))]);
            assert_eq!(config_form(&headers), form, "{accept}");
        }
    }
}
