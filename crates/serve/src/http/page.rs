//! The responses with the files of the page.

use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::reply::failure;
use crate::grove::Failure;
use crate::page::PARTS;

/// Returns the response with a file of the page.
pub(super) fn part(name: &str, headers: &HeaderMap) -> Response {
    let Some(part) = PARTS.iter().find(|part| part.name == name) else {
        return failure(&Failure::not_found("no such page"));
    };
    let mut response = if takes_gzip(headers) {
        ([(header::CONTENT_ENCODING, "gzip")], part.gzip).into_response()
    } else {
        match part.contents() {
            Ok(bytes) => bytes.into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(part.content_type));
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    response
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut encodings = lines.flat_map(|line| line.split(','));
    encodings.any(|encoding| {
        let (name, quality) = encoding.split_once(';').unwrap_or((encoding, ""));
        name.trim().eq_ignore_ascii_case("gzip")
            && !matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}
