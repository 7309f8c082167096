//! Transfers of whole objects: from a store to a local file, and from a local file to a store.

use std::io::{self, Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use hyperslab::vfd::{Driver as _, DriverError};
use hyperslab::{Error, Result};
use hyperslab_exact::{to_u64, to_usize};
use object_store::path::Path;
use object_store::{
    Error as StoreError, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload, UpdateVersion,
    WriteMultipart,
};

use crate::CloudOptions;
use crate::error::{driver_error, io_error, without_secrets};
use crate::location::Location;
use crate::runtime::Runtime;

/// The number of bytes that a transfer holds at once, and of one part of an upload.
const PART_BYTES: usize = 16 << 20;

/// The largest object that one request uploads. Larger objects are uploaded in parts.
const SINGLE_BYTES: usize = 64 << 20;

/// The largest number of parts that are uploaded at the same time.
const CONCURRENT_PARTS: usize = 4;

/// The treatment of an object that exists already where a file is uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Existing {
    /// The object stays, and the upload fails.
    #[default]
    Refuse,
    /// The object is replaced.
    Replace,
    /// The object is replaced if it still has this version: [`CloudDriver::version`].
    ///
    /// [`CloudDriver::version`]: crate::CloudDriver::version
    ReplaceVersion(String),
}

impl CloudOptions {
    /// Copies all bytes of the object at a URL to `target`, and returns their number.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`](hyperslab::ErrorKind::Io) if the object cannot be read or `target`
    /// cannot be written.
    pub fn download(&self, url: &str, target: &mut dyn Write) -> Result<u64> {
        let driver = self.driver(url)?;
        let failed = |source| Error::Io { action: format!("cannot copy `{}`", driver.name()), source };
        let length = driver.len().map_err(failed)?;
        let mut buffer = Vec::new();
        let mut at = 0;
        while at < length {
            let count = to_usize((length - at).min(4 * to_u64(PART_BYTES)))?;
            buffer.resize(count, 0);
            driver.read_at(at, &mut buffer).map_err(failed)?;
            target.write_all(&buffer).map_err(|error| failed(io_error(driver.name(), error)))?;
            at += to_u64(count);
        }
        Ok(length)
    }

    /// Uploads all bytes of `source` as the object at a URL. The object appears as a whole or not
    /// at all. Objects of more than 64 MiB are uploaded in parts; then `existing` is examined
    /// before the upload, and another program can create the object in the meantime.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Exists`](hyperslab::ErrorKind::Exists) if the object exists and is not
    /// to be replaced, [`ErrorKind::Unsupported`](hyperslab::ErrorKind::Unsupported) if the store
    /// cannot write, and [`ErrorKind::Io`](hyperslab::ErrorKind::Io) if the upload fails.
    pub fn upload(&self, mut source: impl Read, url: &str, existing: Existing) -> Result<()> {
        let location = Location::of(url, self)?;
        let name = location.name_of(&location.path);
        let failed =
            |error| Error::Io { action: format!("cannot upload `{name}`"), source: io_error(&name, error) };
        let runtime = Runtime::get().map_err(failed)?;
        let first = read_part(&mut source, SINGLE_BYTES + 1).map_err(failed)?;
        let (store, path) = (Arc::clone(&location.store), location.path.clone());
        if first.len() <= SINGLE_BYTES {
            let options = PutOptions { mode: mode(existing), ..PutOptions::default() };
            let put = async move { store.put_opts(&path, PutPayload::from_bytes(first), options).await };
            return runtime.wait(put).map_err(failed)?.map(drop).map_err(|error| upload_error(&name, &error));
        }
        let begin = begin_parts(store, path, existing);
        let begun = runtime.wait(begin).map_err(failed)?;
        let mut parts = begun.map_err(|error| upload_error(&name, &error))?;
        let mut part = first;
        while !part.is_empty() {
            let sent = runtime.wait(send_part(parts, part)).map_err(failed)?;
            parts = sent.map_err(|error| upload_error(&name, &error))?;
            part = match read_part(&mut source, PART_BYTES) {
                Ok(part) => part,
                Err(error) => {
                    let aborted = runtime.wait(parts.abort());
                    tracing::debug!(?aborted, "an upload was given up");
                    return Err(failed(error));
                }
            };
        }
        runtime.wait(parts.finish()).map_err(failed)?.map(drop).map_err(|error| upload_error(&name, &error))
    }
}

fn mode(existing: Existing) -> PutMode {
    match existing {
        Existing::Refuse => PutMode::Create,
        Existing::Replace => PutMode::Overwrite,
        Existing::ReplaceVersion(tag) => PutMode::Update(UpdateVersion { e_tag: Some(tag), version: None }),
    }
}

/// Begins an upload in parts, after it has examined the existing object.
async fn begin_parts(
    store: Arc<dyn ObjectStore>,
    path: Path,
    existing: Existing,
) -> object_store::Result<WriteMultipart> {
    let found = match existing {
        Existing::Replace => None,
        _ => match store.head(&path).await {
            Ok(meta) => Some(meta),
            Err(StoreError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        },
    };
    let path_text = path.to_string();
    match (existing, found) {
        (Existing::Refuse, Some(_)) => {
            Err(StoreError::AlreadyExists { path: path_text, source: "the object exists".into() })
        }
        (Existing::ReplaceVersion(tag), found)
            if found.as_ref().and_then(|meta| meta.e_tag.as_ref()) != Some(&tag) =>
        {
            Err(StoreError::Precondition { path: path_text, source: "the object has another version".into() })
        }
        _ => Ok(WriteMultipart::new_with_chunk_size(store.put_multipart(&path).await?, PART_BYTES)),
    }
}

async fn send_part(mut parts: WriteMultipart, part: Bytes) -> object_store::Result<WriteMultipart> {
    parts.put(part);
    match parts.wait_for_capacity(CONCURRENT_PARTS).await {
        Ok(()) => Ok(parts),
        Err(error) => {
            let aborted = parts.abort().await;
            tracing::debug!(?aborted, "an upload was given up");
            Err(error)
        }
    }
}

/// Reads at most `count` bytes; fewer at the end of the source.
fn read_part(source: &mut impl Read, count: usize) -> io::Result<Bytes> {
    let mut part = Vec::new();
    source.take(to_u64(count)).read_to_end(&mut part)?;
    Ok(part.into())
}

fn upload_error(name: &str, error: &StoreError) -> Error {
    match error {
        StoreError::AlreadyExists { .. } => Error::Exists { subject: "object", name: name.to_owned() },
        StoreError::NotImplemented { .. } | StoreError::NotSupported { .. } => {
            Error::unsupported(format!("this kind of upload to `{}`", without_secrets(name)))
        }
        error => {
            let source = match driver_error(name, error, None) {
                DriverError::Io { source, .. } => {
                    DriverError::Io { name: name.to_owned(), operation: "cannot write the object", source }
                }
                other => other,
            };
            Error::Io { action: format!("cannot upload `{name}`"), source }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_the_source() {
        let mut source = &b"abcde"[..];
        let mut lengths = Vec::new();
        for _ in 0..3 {
            lengths.push(read_part(&mut source, 3).unwrap().len());
        }
        assert_eq!(lengths, [3, 2, 0]);
    }
}
