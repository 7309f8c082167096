//! One object of a store: its state when it was opened, and reads of byte ranges that verify it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt as _;
use hyperslab::vfd::{DriverError, Result};
use hyperslab_exact::to_u64;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};

use crate::counters::Counters;
use crate::error::{Late, driver_error, invalid, is_late, late};

/// The number of bytes of the first request: the superblock and often all metadata.
pub(crate) const FIRST_BYTES: u64 = 1 << 20;

/// The largest object that is read as a whole from a server that ignores byte ranges.
const MAX_WHOLE_BYTES: u64 = 64 << 20;

/// An object in a store.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) path: Path,
    /// The URL without credentials, for messages.
    pub(crate) name: String,
    pub(crate) deadline: Duration,
    /// The number of bytes of the first request.
    pub(crate) first: u64,
}

/// Shows no store: the URL inside a store may have credentials.
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place")
            .field("name", &self.name)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// An open object: every read verifies that it has not changed.
#[derive(Debug)]
pub(crate) struct Remote {
    place: Place,
    meta: ObjectMeta,
    counters: Arc<Counters>,
    /// The bytes of an object whose server ignores byte ranges.
    whole: Option<Bytes>,
}

impl Remote {
    /// Opens an object with one request, which also fetches its first bytes.
    pub(crate) async fn open(place: Place, counters: Arc<Counters>) -> Result<(Self, Bytes)> {
        let first = GetOptions { range: Some(GetRange::Bounded(0..place.first)), ..GetOptions::default() };
        let (outcome, status) = place.send(first, &counters).await;
        let result = match outcome {
            Ok(result) => result,
            Err(_) if status == Some(200) => return Self::open_whole(place, counters).await,
            Err(error) => return Err(place.error(&error, status)),
        };
        let meta = result.meta.clone();
        let expected = meta.size.min(place.first);
        let bytes = place.body(result, expected).await?;
        counters.answer(to_u64(bytes.len()));
        Ok((Self { place, meta, counters, whole: None }, bytes))
    }

    /// Reads a whole object, because its server ignores byte ranges.
    async fn open_whole(place: Place, counters: Arc<Counters>) -> Result<(Self, Bytes)> {
        let (outcome, status) = place.send(GetOptions::default(), &counters).await;
        let result = outcome.map_err(|error| place.error(&error, status))?;
        let meta = result.meta.clone();
        if meta.size > MAX_WHOLE_BYTES {
            let text = format!(
                "the server ignores byte ranges, and the object of {} bytes is too large to be read as a whole \
                 ({MAX_WHOLE_BYTES} bytes)",
                meta.size
            );
            return Err(invalid(&place.name, text));
        }
        let bytes = place.body(result, meta.size).await?;
        counters.answer(to_u64(bytes.len()));
        Ok((Self { place, meta, counters, whole: Some(bytes.clone()) }, bytes))
    }

    pub(crate) fn name(&self) -> &str {
        &self.place.name
    }

    pub(crate) fn size(&self) -> u64 {
        self.meta.size
    }

    pub(crate) fn whole(&self) -> Option<&Bytes> {
        self.whole.as_ref()
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn tag(&self) -> Option<&str> {
        self.meta.e_tag.as_deref()
    }

    /// Returns whether the store can tell that the object has changed.
    pub(crate) fn is_guarded(&self) -> bool {
        self.meta.e_tag.is_some() || self.has_time()
    }

    fn has_time(&self) -> bool {
        self.meta.last_modified.timestamp() != 0
    }

    /// Reads a range of the object.
    ///
    /// # Errors
    /// [`DriverError::Changed`] if the object was replaced, [`DriverError::Io`] if the store fails.
    pub(crate) async fn get(&self, range: Range<u64>) -> Result<Bytes> {
        let length = range.end - range.start;
        let result = self.ask(range).await?;
        let bytes = self.place.body(result, length).await?;
        self.counters.answer(to_u64(bytes.len()));
        Ok(bytes)
    }

    /// Reads a range of the object, and calls `receive` with the offset and the bytes of each piece
    /// as it comes. Waits for `receive` before the next piece, and stops if it returns false.
    ///
    /// # Errors
    /// As [`get`](Self::get). Some pieces may have been received then.
    pub(crate) async fn get_pieces<F: Future<Output = bool> + Send>(
        &self,
        range: Range<u64>,
        mut receive: impl FnMut(u64, Bytes) -> F + Send,
    ) -> Result<()> {
        let result = self.ask(range.clone()).await?;
        let mut pieces = result.into_stream();
        let mut at = range.start;
        let received = async {
            while let Some(piece) = pieces.try_next().await.map_err(|error| self.place.error(&error, None))? {
                let end = at + to_u64(piece.len());
                if end > range.end {
                    return Err(wrong_length(self.name(), end - range.start, range.end - range.start));
                }
                if !receive(at, piece).await {
                    return Ok(());
                }
                at = end;
            }
            if at == range.end {
                return Ok(());
            }
            Err(wrong_length(self.name(), at - range.start, range.end - range.start))
        };
        let outcome = tokio::time::timeout(self.place.deadline, received).await;
        outcome.unwrap_or_else(|_| Err(self.place.late()))?;
        self.counters.answer(range.end - range.start);
        Ok(())
    }

    /// Reads a range of the object, and returns its bytes in the pieces in which they came.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(crate) async fn get_all_pieces(&self, range: Range<u64>) -> Result<Vec<Bytes>> {
        let mut pieces = Vec::new();
        let receive = |_, piece| {
            pieces.push(piece);
            std::future::ready(true)
        };
        self.get_pieces(range, receive).await?;
        Ok(pieces)
    }

    /// Sends the request for a range, and verifies that the answer belongs to the same object.
    async fn ask(&self, range: Range<u64>) -> Result<GetResult> {
        let (outcome, status) = self.place.send(self.request(range), &self.counters).await;
        let result = outcome.map_err(|error| self.place.error(&error, status))?;
        if !self.is_same(&result.meta) {
            return Err(DriverError::Changed { name: self.name().to_owned() });
        }
        Ok(result)
    }

    /// Returns the request for a range, with the condition that the object has not changed.
    fn request(&self, range: Range<u64>) -> GetOptions {
        // A weak tag never matches, by the rules of HTTP; the answer's tag is compared instead.
        let tag = self.meta.e_tag.clone();
        let no_tag = tag.is_none();
        GetOptions {
            if_match: tag.filter(|tag| !tag.starts_with("W/")),
            if_unmodified_since: (no_tag && self.has_time()).then_some(self.meta.last_modified),
            range: Some(GetRange::Bounded(range)),
            ..GetOptions::default()
        }
    }

    fn is_same(&self, answer: &ObjectMeta) -> bool {
        let same_time = || self.meta.e_tag.is_some() || answer.last_modified == self.meta.last_modified;
        answer.size == self.meta.size && answer.e_tag == self.meta.e_tag && same_time()
    }
}

fn wrong_length(name: &str, got: u64, expected: u64) -> DriverError {
    invalid(name, format!("the answer has {got} bytes or more instead of {expected}"))
}

impl Place {
    /// Sends a request. Returns the status of the last answer beside the result.
    async fn send(
        &self,
        mut options: GetOptions,
        counters: &Counters,
    ) -> (object_store::Result<GetResult>, Option<u16>) {
        counters.request();
        #[cfg(feature = "client")]
        let status = crate::connect::LastStatus::default();
        #[cfg(feature = "client")]
        options.extensions.insert(status.clone());
        #[cfg(not(feature = "client"))]
        options.extensions.clear();
        let answer = tokio::time::timeout(self.deadline, self.store.get_opts(&self.path, options)).await;
        let outcome = answer.unwrap_or_else(|_| {
            Err(object_store::Error::Generic { store: "deadline", source: Box::new(Late) })
        });
        #[cfg(feature = "client")]
        return (outcome, status.get());
        #[cfg(not(feature = "client"))]
        (outcome, None)
    }

    /// Returns the error of a request or an answer. The deadline has one text, whether it ends the
    /// request or the wait for the next byte.
    fn error(&self, error: &object_store::Error, status: Option<u16>) -> DriverError {
        if is_late(error) { self.late() } else { driver_error(&self.name, error, status) }
    }

    fn late(&self) -> DriverError {
        late(&self.name, self.deadline.as_secs())
    }

    /// Receives the body of an answer, which must have exactly `expected` bytes.
    async fn body(&self, result: GetResult, expected: u64) -> Result<Bytes> {
        let received = tokio::time::timeout(self.deadline, self.receive(result, expected)).await;
        received.unwrap_or_else(|_| Err(self.late()))
    }

    async fn receive(&self, result: GetResult, expected: u64) -> Result<Bytes> {
        let wrong = |got: u64| wrong_length(&self.name, got, expected);
        let mut parts = result.into_stream();
        let mut bytes = BytesMut::new();
        let mut is_first = true;
        while let Some(part) = parts.try_next().await.map_err(|error| self.error(&error, None))? {
            let length = to_u64(bytes.len()) + to_u64(part.len());
            if length > expected {
                return Err(wrong(length));
            }
            if is_first && length == expected {
                return Ok(part);
            }
            if is_first {
                bytes.reserve(usize::try_from(expected).map_err(|_| wrong(length))?);
                is_first = false;
            }
            bytes.extend_from_slice(&part);
        }
        if to_u64(bytes.len()) == expected { Ok(bytes.freeze()) } else { Err(wrong(to_u64(bytes.len()))) }
    }
}
