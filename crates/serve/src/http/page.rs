//! The page of the viewer, which was built from `viewer/` and is a part of the program.

use std::io::Read as _;

use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::reply::failure;
use crate::grove::Failure;

/// A file of the page, compressed by gzip.
struct Part {
    name: &'static str,
    content_type: &'static str,
    gzip: &'static [u8],
}

const PARTS: &[Part] = &[
    Part {
        name: "index.html",
        content_type: "text/html; charset=utf-8",
        gzip: include_bytes!("../../page/index.html.gz"),
    },
    Part {
        name: "viewer.js",
        content_type: "text/javascript; charset=utf-8",
        gzip: include_bytes!("../../page/viewer.js.gz"),
    },
    Part {
        name: "viewer.css",
        content_type: "text/css; charset=utf-8",
        gzip: include_bytes!("../../page/viewer.css.gz"),
    },
    Part {
        name: "licenses.txt",
        content_type: "text/plain; charset=utf-8",
        gzip: include_bytes!("../../page/licenses.txt.gz"),
    },
];

/// Returns the response with a file of the page.
pub(super) fn part(name: &str, headers: &HeaderMap) -> Response {
    let Some(part) = PARTS.iter().find(|part| part.name == name) else {
        return failure(&Failure::not_found("no such page"));
    };
    let mut response = if takes_gzip(headers) {
        ([(header::CONTENT_ENCODING, "gzip")], part.gzip).into_response()
    } else {
        let mut bytes = Vec::new();
        match flate2::read::GzDecoder::new(part.gzip).read_to_end(&mut bytes) {
            Ok(_) => bytes.into_response(),
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
