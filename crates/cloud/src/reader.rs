//! Objects that the program itself reads by blocking calls, for [`AsyncFile`](crate::AsyncFile).

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use hyperslab_exact::to_u64;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// An object that the program reads itself, by calls that block.
///
/// The calls come from several threads at the same time, at most
/// [`CloudOptions::parallel`](crate::CloudOptions::parallel) of them.
pub trait RangeReader: Send + Sync + 'static {
    /// Returns the path of the object for messages.
    fn name(&self) -> &str;

    /// Returns the number of bytes of the object.
    fn size(&self) -> u64;

    /// Reads a range of bytes, which lies in the object.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be read, or if the object is not the one that was
    /// opened.
    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>>;
}

/// A store with one object, for reading only.
pub(crate) struct ReaderStore {
    reader: Arc<dyn RangeReader>,
    path: Path,
}

impl ReaderStore {
    /// Creates the store of an object, and returns it with the path of the object.
    pub(crate) fn new(reader: Arc<dyn RangeReader>) -> (Arc<Self>, Path) {
        let path = Path::from(reader.name());
        (Arc::new(Self { reader, path: path.clone() }), path)
    }
}

impl fmt::Debug for ReaderStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReaderStore").field(&self.reader.name()).finish()
    }
}

impl fmt::Display for ReaderStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reader.name())
    }
}

fn failed(source: io::Error) -> Error {
    Error::Generic { store: "reader", source: Box::new(source) }
}

fn read_only() -> Error {
    Error::NotSupported { source: "the object is only read".into() }
}

#[async_trait]
impl ObjectStore for ReaderStore {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if *location != self.path {
            return Err(Error::NotSupported {
                source: "a reader has one file, without the files beside it".into(),
            });
        }
        let reader = Arc::clone(&self.reader);
        let size = reader.size();
        let range = match options.range {
            Some(GetRange::Bounded(range)) => range.start.min(size)..range.end.min(size),
            Some(GetRange::Offset(start)) => start.min(size)..size,
            // A suffix that is longer than the object is the whole object.
            Some(GetRange::Suffix(length)) => size - length.min(size)..size,
            None => 0..size,
        };
        let wanted = range.clone();
        let read = tokio::task::spawn_blocking(move || reader.read(wanted)).await;
        let bytes = read.map_err(|error| failed(io::Error::other(error)))?.map_err(failed)?;
        if to_u64(bytes.len()) != range.end - range.start {
            return Err(failed(io::Error::other(
                "the reader returned another number of bytes than requested",
            )));
        }
        let meta = ObjectMeta {
            location: location.clone(),
            // The reader itself notices changes.
            last_modified: Default::default(),
            size,
            e_tag: None,
            version: None,
        };
        let payload = GetResultPayload::Stream(stream::iter([Ok(Bytes::from(bytes))]).boxed());
        Ok(GetResult { payload, meta, range, attributes: Default::default(), extensions: Default::default() })
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(read_only())
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Err(read_only())
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        stream::iter([Err(read_only())]).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        stream::iter([Err(read_only())]).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        Err(read_only())
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(read_only())
    }
}
