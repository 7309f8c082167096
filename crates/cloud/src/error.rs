//! Errors of object stores as errors of drivers. No text contains credentials.

use std::error::Error as _;
use std::fmt::{self, Write as _};
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

/// The cause of an error whose operation took longer than its deadline.
#[derive(Debug)]
pub(crate) struct Late;

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no answer before the deadline")
    }
}

impl std::error::Error for Late {}

/// Returns whether an operation took longer than its deadline, or waited that long for the next
/// byte. The time of a connection has another limit.
pub(crate) fn is_late(error: &StoreError) -> bool {
    causes(error).any(|error| {
        #[cfg(feature = "client")]
        let is_idle = error
            .downcast_ref::<reqwest::Error>()
            .is_some_and(|error| error.is_timeout() && !error.is_connect());
        #[cfg(not(feature = "client"))]
        let is_idle = false;
        is_idle || error.is::<Late>()
    })
}

/// Returns the causes of an error, from the outermost to the innermost one.
fn causes(error: &StoreError) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |error| (*error).source())
}

fn kind(error: &StoreError) -> ErrorKind {
    causes(error)
        .find_map(|error| error.downcast_ref::<io::Error>())
        .map_or(ErrorKind::Other, io::Error::kind)
}

/// Returns the text of the innermost cause of an error, which is the most precise one.
fn cause(error: &StoreError) -> String {
    let text = causes(error).last().map_or_else(|| error.to_string(), ToString::to_string);
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
