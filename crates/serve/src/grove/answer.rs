//! Answers, and the failures that become answers.

use std::fmt;

use hyperslab::{Error, ErrorKind};
use serde_json::{Value, json};

/// The answer to a request: a status of HTTP, headers and a body.
#[derive(Debug)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// The value of the header `Content-Type`.
    pub content_type: &'static str,
    /// The value of the header `Content-Disposition`, if the answer is a file to save.
    pub disposition: Option<&'static str>,
    /// The length of the body in bytes, if it is known before the body.
    pub length: Option<u64>,
    /// The body.
    pub body: Body,
}

/// The body of an answer.
pub enum Body {
    /// The whole body.
    Bytes(Vec<u8>),
    /// The pieces of the body in order. Each piece is made when it is taken, so that memory holds
    /// one piece. After a failure there are no further pieces.
    Pieces(Pieces),
}

/// The pieces of a body.
pub type Pieces = Box<dyn Iterator<Item = Result<Vec<u8>, Failure>> + Send>;

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::Pieces(_) => f.write_str("Pieces"),
        }
    }
}

impl Body {
    /// Returns the whole body in memory.
    ///
    /// # Errors
    /// Returns the failure of the first piece that fails.
    pub fn into_bytes(self) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Pieces(pieces) => {
                let mut all = Vec::new();
                for piece in pieces {
                    all.append(&mut piece?);
                }
                Ok(all)
            }
        }
    }
}

impl Answer {
    /// Creates an answer with a JSON document.
    pub(crate) fn json(value: &Value) -> Self {
        Self::bytes("application/json", value.to_string().into_bytes())
    }

    /// Creates an answer with a body that is in memory.
    pub(crate) fn bytes(content_type: &'static str, bytes: Vec<u8>) -> Self {
        let length = Some(hyperslab_exact::to_u64(bytes.len()));
        Self { status: 200, content_type, disposition: None, length, body: Body::Bytes(bytes) }
    }
}

/// The reason for which a request has no other answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The status of HTTP.
    pub status: u16,
    /// The text for the user.
    pub message: String,
}

impl Failure {
    /// Creates the failure of a request that names something that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self { status: 404, message: message.into() }
    }

    /// Creates the failure of a request that cannot be answered as it is.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { status: 422, message: message.into() }
    }

    /// Creates the failure of a request for something that the server must not read.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self { status: 403, message: message.into() }
    }

    /// Creates the failure of a request whose answer takes too long.
    pub fn slow() -> Self {
        Self { status: 504, message: "the answer takes too long; select less".to_owned() }
    }

    /// Creates the failure of a request by an error of the server.
    pub fn internal(message: impl Into<String>) -> Self {
        Self { status: 500, message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NotFound => 404,
            ErrorKind::Internal | ErrorKind::Io => 500,
            _ => 422,
        };
        // The errors of drivers name paths of this machine.
        let message = match error.io_error() {
            Some(cause) => format!("the file cannot be read: {cause}"),
            None => error.to_string(),
        };
        Self { status, message }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self { status: failure.status, ..Self::json(&json!({ "message": failure.message })) }
    }
}
