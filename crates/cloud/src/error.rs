//! Errors of object stores as errors of drivers. No text contains credentials.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io::{self, ErrorKind};

use hyperslab::vfd::DriverError;
use object_store::Error as StoreError;

/// The operation that the errors of this crate name.
const OPERATION: &str = "cannot read the object";

/// Converts an error of an object store. `status` is the last status of the server, if the store
/// speaks HTTP.
pub(crate) fn driver_error(name: &str, error: &StoreError, status: Option<u16>) -> DriverError {
    if status == Some(412) || matches!(error, StoreError::Precondition { .. }) {
        return DriverError::Changed { name: name.to_owned() };
    }
    let (kind, text) = match (status, error) {
        (Some(404 | 410), _) | (_, StoreError::NotFound { .. }) => {
            (ErrorKind::NotFound, "the object does not exist (404)".to_owned())
        }
        (Some(401), _) | (_, StoreError::Unauthenticated { .. }) => (
            ErrorKind::PermissionDenied,
            "the store requires credentials, or does not accept them (401)".to_owned(),
        ),
        (Some(403), _) | (_, StoreError::PermissionDenied { .. }) => (
            ErrorKind::PermissionDenied,
            "access is denied (403): the object does not exist, or the credentials do not allow to read it"
                .to_owned(),
        ),
        (Some(416), _) => (
            ErrorKind::UnexpectedEof,
            "the object has no bytes in the requested range (416): it is empty or became shorter".to_owned(),
        ),
        (Some(200), _) => (
            ErrorKind::Unsupported,
            "the server ignored the requested byte range and answered with the whole object (200)".to_owned(),
        ),
        (Some(206), _) => (
            ErrorKind::InvalidData,
            format!("the answer does not have the requested bytes: {}", cause(error)),
        ),
        (Some(status @ 300..=399), _) => {
            (ErrorKind::Other, format!("the server redirects to another place ({status})"))
        }
        (Some(status @ 500..=599), _) => {
            (ErrorKind::Other, format!("the server failed ({status}), also when asked again"))
        }
        (Some(status @ 400..=499), _) => {
            (ErrorKind::Other, format!("the server refused the request ({status})"))
        }
        _ => (kind(error), cause(error)),
    };
    io_error(name, io::Error::new(kind, text))
}

/// Returns the error of a driver for an I/O error.
pub(crate) fn io_error(name: &str, source: io::Error) -> DriverError {
    // `DriverError::io` would replace the text of an unsupported operation.
    DriverError::Io { name: name.to_owned(), operation: OPERATION, source }
}

/// Returns the error of an answer that contradicts the request.
pub(crate) fn invalid(name: &str, text: impl Into<String>) -> DriverError {
    io_error(name, io::Error::new(ErrorKind::InvalidData, text.into()))
}

/// Returns the error of an operation that took too long.
pub(crate) fn late(name: &str, seconds: u64) -> DriverError {
    io_error(name, io::Error::new(ErrorKind::TimedOut, format!("no answer within {seconds} seconds")))
}

fn kind(error: &StoreError) -> ErrorKind {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return error.kind();
        }
        source = error.source();
    }
    ErrorKind::Other
}

/// Returns the text of the innermost cause of an error, which is the most precise one.
fn cause(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = error.to_string();
        source = error.source();
    }
    without_secrets(&text)
}

/// Removes from each URL in a text the parts that may have credentials: the user, and the query.
pub(crate) fn without_secrets(text: &str) -> String {
    let mut shown = String::new();
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            shown.push(' ');
        }
        match word.split_once("://") {
            None => shown.push_str(word),
            Some((scheme, rest)) => {
                let rest = rest.split(['?', '#']).next().unwrap_or(rest);
                let host_end = rest.find('/').unwrap_or(rest.len());
                let (host, path) = rest.split_at(host_end);
                let host = host.rsplit('@').next().unwrap_or(host);
                // Writing to a string does not fail.
                let _ = write!(shown, "{scheme}://{host}{path}");
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_no_credentials() {
        let text = "GET https://me:secret@host/a/b.h5?X-Amz-Signature=secret failed";
        assert_eq!(without_secrets(text), "GET https://host/a/b.h5 failed");
        assert_eq!(without_secrets("s3://bucket/key and more"), "s3://bucket/key and more");
    }

    #[test]
    fn each_status_has_a_text_of_its_own() {
        let error = || StoreError::Generic { store: "test", source: "inner".into() };
        let text = |status| match driver_error("x", &error(), status) {
            DriverError::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        let texts: std::collections::BTreeSet<String> = [
            None,
            Some(200),
            Some(206),
            Some(302),
            Some(401),
            Some(403),
            Some(404),
            Some(412),
            Some(416),
            Some(503),
        ]
        .into_iter()
        .map(text)
        .collect();
        assert_eq!(texts.len(), 10, "{texts:?}");
    }
}
