//! Files for asynchronous code. Work on a file runs with the bytes that are there; a read of other
//! bytes notes them and fails; the noted bytes are fetched together, and the work runs again.

use std::ops::Range;
use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt as _};
use hyperslab::{ArrayD, Dataset, Error, File, H5Type, IntoSelection, IxDyn, ObjectKind, Region, Result};
use hyperslab_exact::to_u64;
use object_store::ObjectStore;
use object_store::path::Path;
use tokio::task::JoinHandle;

use crate::counters::Usage;
use crate::driver::CloudDriver;
use crate::error::io_error;
use crate::fetcher::Fetcher;
use crate::held::Keep;
use crate::location::Location;
use crate::notes::Notes;
use crate::reader::{RangeReader, ReaderStore};
use crate::{CloudOptions, options};

/// The largest number of attempts of one run. Each attempt needs bytes that no earlier one needed,
/// so real work ends far earlier.
const MAX_ATTEMPTS: usize = 10_000;

/// The number of blocks of a stream that are fetched at the same time.
const CONCURRENT_BLOCKS: usize = 2;

/// A file in an object store or on a web server, for asynchronous code. Clones share one open file.
///
/// No method blocks a thread while bytes come. The futures run on every executor. A dropped future
/// cancels its requests.
///
/// Files to which links, virtual datasets and external raw data lead are read by a blocking driver.
///
/// ```no_run
/// # async fn example() -> hyperslab::Result<()> {
/// use hyperslab::s;
/// use hyperslab_cloud::{AsyncFile, CloudOptions};
///
/// let file = AsyncFile::open("s3://bucket/run42.h5", CloudOptions::new()).await?;
/// let names = file.run(|file| file.member_names()).await?;
/// let frames = file.dataset("entry/frames").await?;
/// let frame = frames.read_slice::<u16>(s![17, .., ..]).await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct AsyncFile {
    file: File,
    opened: Opened,
}

/// A driver whose reads note missing bytes, and its notes.
#[derive(Debug, Clone)]
struct Opened {
    driver: CloudDriver,
    notes: Arc<Notes>,
    fetcher: Arc<Fetcher>,
    memory: u64,
}

/// Raw data that stays in memory until work is done. Dropping the value releases the bytes.
struct KeptRaw {
    fetcher: Arc<Fetcher>,
    ranges: Vec<Range<u64>>,
}

impl Drop for KeptRaw {
    fn drop(&mut self) {
        self.fetcher.held().release(&self.ranges);
    }
}

/// A task on the runtime thread, which is cancelled when the value is dropped.
struct Cancelled<T>(JoinHandle<T>);

impl<T> Drop for Cancelled<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl AsyncFile {
    /// Opens the HDF5 file at a URL for reading.
    ///
    /// # Errors
    /// Returns the errors of [`CloudOptions::open`].
    pub async fn open(url: &str, options: CloudOptions) -> Result<Self> {
        Self::open_location(Location::of(url, &options)?, options).await
    }

    /// Opens the HDF5 file at `path` in a store for reading.
    ///
    /// # Errors
    /// Returns the errors of [`CloudOptions::open`].
    pub async fn open_store(store: Arc<dyn ObjectStore>, path: &Path, options: CloudOptions) -> Result<Self> {
        Self::open_location(Location::of_store(store, path), options).await
    }

    /// Opens the HDF5 file that a reader of the program reads. Links to other files, and data in
    /// other files, cannot be followed.
    ///
    /// # Errors
    /// Returns the errors of [`CloudOptions::open`].
    pub async fn open_reader(reader: Arc<dyn RangeReader>, options: CloudOptions) -> Result<Self> {
        let (store, path) = ReaderStore::new(reader);
        Self::open_store(store, &path, options).await
    }

    async fn open_location(location: Location, options: CloudOptions) -> Result<Self> {
        let runtime = options::runtime(&location)?;
        let opening = options.fetcher_at(&location, &runtime);
        let mut task = Cancelled(runtime.spawn(opening));
        let fetcher = (&mut task.0).await.map_err(|error| ended(&error.to_string()))??;
        let notes = Arc::new(Notes::default());
        let driver = CloudDriver::noting(Arc::clone(&fetcher), options.line_bytes(), Arc::clone(&notes));
        let opened = Opened { driver, notes, fetcher, memory: options.memory() };
        let file = opened.run(|| options.open_with(&location, &opened.driver)).await?;
        Ok(Self { file, opened })
    }

    /// Runs `work` with the file, repeatedly: reads of bytes that have not come fail, the bytes are
    /// fetched, and `work` runs again, until all its bytes are there. Then its result is returned.
    ///
    /// The work runs on the thread that polls the future. It must not have effects that a
    /// repetition would spoil. If it continues after an error (as a walk does), the bytes of
    /// several reads are fetched together.
    ///
    /// # Errors
    /// Returns the error of the last run of `work`, [`ErrorKind::Io`](hyperslab::ErrorKind::Io) if
    /// the bytes cannot be fetched, and [`ErrorKind::Limit`](hyperslab::ErrorKind::Limit) if the
    /// work needs more raw data at once than half of [`CloudOptions::cache`].
    pub async fn run<T>(&self, work: impl Fn(&File) -> Result<T>) -> Result<T> {
        self.opened.run(|| work(&self.file)).await
    }

    /// Opens the dataset at a path.
    ///
    /// # Errors
    /// Returns the errors of [`hyperslab::Group::dataset`] and of [`run`](Self::run).
    pub async fn dataset(&self, path: &str) -> Result<AsyncDataset> {
        let dataset = self.run(|file| file.dataset(path)).await?;
        Ok(AsyncDataset { file: self.clone(), dataset })
    }

    /// Fetches the metadata of the object at a path, and of all objects below it, level by level.
    /// The bytes stay in memory as far as [`CloudOptions::cache`] allows.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run). Damaged objects are left out.
    pub async fn prefetch_metadata(&self, path: &str) -> Result<()> {
        let prefix = path.trim_matches('/').as_bytes();
        let is_inside = |found: &[u8]| {
            let rest = found.strip_prefix(b"/").unwrap_or(found).strip_prefix(prefix);
            prefix.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        self.run(|file| {
            for visited in file.walk().filter(|visited| is_inside(&visited.path)) {
                let Ok(object) = visited.object else { continue };
                // An error of one attribute is the subject of its reader.
                let _ = object.attributes().map(|attributes| {
                    attributes.iter().for_each(|attribute| drop(attribute.read_dyn()));
                });
                if object.kind() == Some(ObjectKind::Dataset) {
                    drop(object.into_dataset());
                }
            }
            Ok(())
        })
        .await
    }

    /// Returns the counts of requests, bytes and rounds since the file was opened.
    pub fn usage(&self) -> Usage {
        self.opened.driver.usage()
    }
}

impl Opened {
    /// Runs `work` until no read of it fails for missing bytes.
    async fn run<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        let mut kept = Vec::new();
        let mut raw_bytes = 0;
        for _ in 0..MAX_ATTEMPTS {
            let attempt = self.notes.begin();
            let outcome = work();
            let missing = attempt.end();
            if !missing.has_failed {
                return outcome;
            }
            drop(outcome);
            raw_bytes += missing.raw.iter().map(|range| range.end - range.start).sum::<u64>();
            if raw_bytes > self.memory / 2 {
                return Err(Error::Limit {
                    subject: "raw data of one asynchronous read: bytes".into(),
                    got: raw_bytes,
                    limit: self.memory / 2,
                });
            }
            kept.push(self.fetch(missing.lines, missing.raw).await?);
        }
        Err(Error::Limit {
            subject: "attempts of asynchronous work: their number".into(),
            got: to_u64(MAX_ATTEMPTS),
            limit: to_u64(MAX_ATTEMPTS),
        })
    }

    /// Fetches lines and raw data. The raw data stay in memory until the returned value is dropped.
    ///
    /// The task that fetches the raw data owns this value: if the task is cancelled while it
    /// receives its last answer, it drops the value after it has added the bytes.
    async fn fetch(&self, lines: Vec<Range<u64>>, raw: Vec<Range<u64>>) -> Result<KeptRaw> {
        self.fetcher.remote.counters().round();
        let spawn = |ranges: Vec<Range<u64>>, keep, kept: KeptRaw| {
            let fetched = Arc::clone(&self.fetcher).fetch(ranges, keep);
            let task = async move { fetched.await.map(|()| kept) };
            Cancelled(self.fetcher.runtime.spawn(task))
        };
        let kept = |ranges| KeptRaw { fetcher: Arc::clone(&self.fetcher), ranges };
        let lines = spawn(lines, Keep::Lines, kept(Vec::new()));
        let raw = spawn(raw.clone(), Keep::UntilReleased, kept(raw));
        self.end(lines).await?;
        self.end(raw).await
    }

    async fn end(&self, mut task: Cancelled<hyperslab::vfd::Result<KeptRaw>>) -> Result<KeptRaw> {
        let fetched = (&mut task.0).await.map_err(|error| ended(&error.to_string()))?;
        fetched.map_err(|source| Error::Io {
            action: format!("cannot read `{}`", self.fetcher.remote.name()),
            source,
        })
    }
}

fn ended(text: &str) -> Error {
    let source = std::io::Error::other(text.to_owned());
    Error::Io { action: "cannot fetch bytes".into(), source: io_error("runtime thread", source) }
}

/// A dataset of an [`AsyncFile`].
#[derive(Debug, Clone)]
pub struct AsyncDataset {
    file: AsyncFile,
    dataset: Dataset,
}

impl AsyncDataset {
    /// Returns the dataset, whose shape, datatype and other properties need no further bytes. Its
    /// reads belong into [`AsyncFile::run`].
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// Runs `work` with the dataset, as [`AsyncFile::run`] does.
    ///
    /// # Errors
    /// Returns the errors of [`AsyncFile::run`].
    pub async fn run<T>(&self, work: impl Fn(&Dataset) -> Result<T>) -> Result<T> {
        self.file.run(|_| work(&self.dataset)).await
    }

    /// Reads the selected elements into an array.
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::read`] and of [`AsyncFile::run`].
    pub async fn read_slice<T: H5Type>(&self, selection: impl IntoSelection + Clone) -> Result<ArrayD<T>> {
        self.run(|dataset| dataset.read::<T, IxDyn>(selection.clone())).await
    }

    /// Reads the selected elements into a vector, in C order.
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::read_raw`] and of [`AsyncFile::run`].
    pub async fn read_raw<T: H5Type>(&self, selection: impl IntoSelection + Clone) -> Result<Vec<T>> {
        self.run(|dataset| dataset.read_raw::<T>(selection.clone())).await
    }

    /// Returns a stream of the blocks of the dataset ([`Dataset::blocks`]) of about `bytes` bytes,
    /// with their elements. The next block is fetched while one is used.
    pub fn read_blocks<T: H5Type>(&self, bytes: u64) -> impl Stream<Item = Result<(Region, Vec<T>)>> + '_ {
        stream::iter(self.dataset.blocks(bytes))
            .map(move |region| async move {
                let elements = self.read_raw::<T>(&region).await?;
                Ok((region, elements))
            })
            .buffered(CONCURRENT_BLOCKS)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use hyperslab::FileOptions;
    use object_store::ObjectStoreExt as _;
    use object_store::memory::InMemory;
    use object_store::throttle::{ThrottleConfig, ThrottledStore};

    use super::*;
    use crate::runtime::Runtime;

    /// Polls a future until it has been pending `pauses` times, and then drops it. Returns its
    /// result if it ends earlier.
    fn poll<T>(future: impl Future<Output = T>, pauses: usize) -> Option<T> {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        for pause in 0..=pauses {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(result) => return Some(result),
                Poll::Pending if pause < pauses => std::thread::sleep(Duration::from_millis(2)),
                Poll::Pending => {}
            }
        }
        None
    }

    #[test]
    fn a_read_that_is_cancelled_at_any_point_leaves_nothing_behind() {
        let made = FileOptions::new().create_in_memory().unwrap();
        let values: Vec<u32> = (0..400_000).collect();
        made.new_dataset("x").shape(&[400_000]).chunks(&[1000]).write(&values).unwrap();
        let store = InMemory::new();
        let path = Path::from("a.h5");
        let bytes = made.to_bytes().unwrap();
        let runtime = Runtime::get().unwrap();
        let store = runtime
            .wait(async move { store.put(&Path::from("a.h5"), bytes.into()).await.map(|_| store) })
            .unwrap()
            .unwrap();
        let wait = Duration::from_millis(5);
        let config = ThrottleConfig { wait_get_per_call: wait, ..ThrottleConfig::default() };
        let store: Arc<dyn ObjectStore> = Arc::new(ThrottledStore::new(store, config));
        let options = || CloudOptions::new().first(512).line(512);
        let open = || AsyncFile::open_store(Arc::clone(&store), &path, options());
        let mut ended = 0;
        for pauses in 0..100 {
            let Some(file) = poll(open(), pauses) else { continue };
            let file = file.unwrap();
            let read = async {
                let dataset = file.dataset("x").await?;
                dataset.read_raw::<u32>(hyperslab::s![5_000..390_000]).await
            };
            if let Some(got) = poll(read, pauses) {
                assert_eq!(got.unwrap(), values[5_000..390_000]);
                ended += 1;
            }
            // A cancelled task ends as soon as the runtime thread reaches it.
            let held = &file.opened.fetcher;
            for _ in 0..1000 {
                if held.held().is_at_rest() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(held.held().is_at_rest(), "after {pauses} pauses: {:?}", held.held());
        }
        assert!((1..100).contains(&ended), "{ended} reads ended");
    }
}
