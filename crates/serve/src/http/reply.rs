//! Answers as responses of HTTP: work on blocking threads, and bodies that are sent piece by piece.

use std::io;
use std::sync::Arc;

use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::timeout;

use super::Shared;
use super::recent::Whole;
use crate::grove::{self, Answer, Failure, Pieces};

/// The number of pieces that are ready before the client has taken the previous ones.
const PIECES_AHEAD: usize = 1;

/// The status and the headers of an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) disposition: Option<&'static str>,
    pub(super) length: Option<u64>,
}

/// The body of a reply. Several replies may share its bytes.
pub(super) enum Body {
    Whole(Bytes),
    Pieces(Pieces),
}

/// An answer with further headers.
pub(super) struct Reply {
    pub(super) head: Head,
    pub(super) body: Body,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        let Answer { status, content_type, disposition, length, body } = answer;
        let body = match body {
            grove::Body::Bytes(bytes) => Body::Whole(bytes.into()),
            grove::Body::Pieces(pieces) => Body::Pieces(pieces),
        };
        Self { head: Head { status, content_type, disposition, length }, body, headers: Vec::new() }
    }
}

impl From<Whole> for Reply {
    fn from(answer: Whole) -> Self {
        Self { head: answer.head, body: Body::Whole(answer.body), headers: Vec::new() }
    }
}

/// Returns the response for a failure.
pub(super) fn failure(failure: &Failure) -> Response {
    respond(Answer::from(failure.clone()).into(), None)
}

/// Answers a request on a blocking thread. At most `requests` of the options run at once.
/// The pieces of the body are made while the client takes them.
pub(super) async fn work(
    shared: Arc<Shared>,
    make: impl FnOnce(&Shared) -> Reply + Send + 'static,
) -> Response {
    let limit = shared.options.timeout;
    let busy = || Failure { status: 503, message: "the server has too many requests; try again".into() };
    let permit = match timeout(limit, Arc::clone(&shared.requests).acquire_owned()).await {
        Ok(Ok(permit)) => permit,
        _ => return failure(&busy()),
    };
    let (head, receive_head) = oneshot::channel();
    let (send, receive) = mpsc::channel(PIECES_AHEAD);
    tokio::task::spawn_blocking(move || produce(&shared, permit, make, head, &send));
    match timeout(limit, receive_head).await {
        Ok(Ok(reply)) => respond(reply, Some(receive)),
        // The thread ended by a panic.
        Ok(Err(_)) => failure(&Failure::internal("internal error; please report it")),
        Err(_) => failure(&Failure::slow()),
    }
}

/// A part of a body. A body without its end is incomplete: the thread that makes it failed, or the
/// client was too slow.
enum Part {
    Bytes(Vec<u8>),
    End,
}

type Piece = io::Result<Part>;

fn produce(
    shared: &Shared,
    permit: OwnedSemaphorePermit,
    make: impl FnOnce(&Shared) -> Reply,
    head: oneshot::Sender<Reply>,
    send: &mpsc::Sender<Piece>,
) {
    let Reply { head: start, body, headers } = make(shared);
    let (body, pieces) = match body {
        whole @ Body::Whole(_) => (whole, None),
        Body::Pieces(pieces) => (Body::Pieces(Box::new(std::iter::empty())), Some(pieces)),
    };
    // Without a receiver, the client is gone.
    if head.send(Reply { head: start, body, headers }).is_ok()
        && let Some(pieces) = pieces
    {
        send_pieces(shared, pieces, send);
    }
    drop(permit);
}

fn send_pieces(shared: &Shared, pieces: Pieces, send: &mpsc::Sender<Piece>) {
    let parts = pieces.map(|piece| piece.map(Part::Bytes)).chain(std::iter::once(Ok(Part::End)));
    for piece in parts {
        // The end of a body that fails is missing, so that the client notices.
        let piece = piece.map_err(|failure| {
            tracing::warn!("an answer ended early: {failure}");
            io::Error::other(failure.message)
        });
        let is_last = piece.is_err();
        let sent =
            tokio::runtime::Handle::current().block_on(timeout(shared.options.timeout, send.send(piece)));
        if is_last || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

/// Returns the next part of a body for the client. A body that ends without its end is an error, so
/// that the client does not take a part for the whole.
async fn next_part(
    receive: Option<mpsc::Receiver<Piece>>,
) -> Option<(io::Result<Bytes>, Option<mpsc::Receiver<Piece>>)> {
    let mut receive = receive?;
    let error = match receive.recv().await {
        Some(Ok(Part::Bytes(bytes))) => return Some((Ok(bytes.into()), Some(receive))),
        Some(Ok(Part::End)) => return None,
        Some(Err(error)) => error,
        None => io::Error::other("the answer ended early"),
    };
    // The connection sends what it has while the body makes it wait. After an error, the connection
    // drops the rest, and the client would miss the head and the parts before the failure.
    tokio::task::yield_now().await;
    Some((Err(error), None))
}

/// Returns the response of a reply, whose pieces come from `pieces`.
fn respond(reply: Reply, pieces: Option<mpsc::Receiver<Piece>>) -> Response {
    let Reply { head, body, headers: further } = reply;
    let status = StatusCode::from_u16(head.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = match (body, pieces) {
        (Body::Whole(bytes), _) => axum::body::Body::from(bytes),
        (Body::Pieces(_), Some(receive)) => {
            axum::body::Body::from_stream(futures_util::stream::unfold(Some(receive), next_part))
        }
        (Body::Pieces(_), None) => axum::body::Body::empty(),
    };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(head.content_type));
    if let Some(disposition) = head.disposition {
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition));
    }
    if let Some(length) = head.length {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    headers.extend(further);
    response
}
