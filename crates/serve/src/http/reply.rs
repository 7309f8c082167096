//! Answers as responses of HTTP: work on blocking threads, and bodies that are sent piece by piece.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::timeout;

use super::Shared;
use crate::grove::{self, Answer, Failure, Pieces};

/// The number of pieces that are ready before the client has taken the previous ones.
const PIECES_AHEAD: usize = 1;

/// An answer with further headers.
pub(super) struct Reply {
    pub(super) answer: Answer,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self { answer, headers: Vec::new() }
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
    let slow = || Failure { status: 504, message: "the answer takes too long; select less".into() };
    match timeout(limit, receive_head).await {
        Ok(Ok(reply)) => respond(reply, Some(receive)),
        // The thread ended by a panic.
        Ok(Err(_)) => failure(&Failure::internal("internal error; please report it")),
        Err(_) => failure(&slow()),
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
    let mut reply = make(shared);
    let pieces = match std::mem::replace(&mut reply.answer.body, grove::Body::Bytes(Vec::new())) {
        bytes @ grove::Body::Bytes(_) => {
            reply.answer.body = bytes;
            None
        }
        grove::Body::Pieces(pieces) => {
            reply.answer.body = grove::Body::Pieces(Box::new(std::iter::empty()));
            Some(pieces)
        }
    };
    // Without a receiver, the client is gone.
    if head.send(reply).is_ok()
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
) -> Option<(io::Result<bytes::Bytes>, Option<mpsc::Receiver<Piece>>)> {
    let mut receive = receive?;
    match receive.recv().await {
        Some(Ok(Part::Bytes(bytes))) => Some((Ok(bytes.into()), Some(receive))),
        Some(Ok(Part::End)) => None,
        Some(Err(error)) => Some((Err(error), None)),
        None => Some((Err(io::Error::other("the answer ended early")), None)),
    }
}

/// Returns the response of a reply, whose pieces come from `pieces`.
fn respond(reply: Reply, pieces: Option<mpsc::Receiver<Piece>>) -> Response {
    let answer = reply.answer;
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = match (answer.body, pieces) {
        (grove::Body::Bytes(bytes), _) => Body::from(bytes),
        (grove::Body::Pieces(_), Some(receive)) => {
            Body::from_stream(futures_util::stream::unfold(Some(receive), next_part))
        }
        (grove::Body::Pieces(_), None) => Body::empty(),
    };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    if let Some(disposition) = answer.disposition {
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition));
    }
    if let Some(length) = answer.length {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    headers.extend(reply.headers);
    response
}
