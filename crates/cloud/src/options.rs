//! The options for opening remote files.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyperslab::vfd::DriverError;
use hyperslab::{Error, File, OpenOptions, Result};
use object_store::path::Path;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};

use crate::counters::Counters;
use crate::driver::CloudDriver;
use crate::error::io_error;
use crate::fetcher::Fetcher;
use crate::files::Siblings;
use crate::location::Location;
use crate::remote::{FIRST_BYTES, Place, Remote};
use crate::runtime::Runtime;
use crate::transfer::Existing;

/// The smallest amount of memory for bytes of one file: less would hold no read with its
/// neighbours.
const MIN_CACHE_BYTES: u64 = 80 << 20;

/// The largest line: the pages of a file can be longer, but a small read should not fetch more.
const MAX_LINE_BYTES: u64 = 4 << 20;

/// The options for opening a file in an object store or on a web server.
///
/// ```no_run
/// use hyperslab_cloud::CloudOptions;
///
/// let options = CloudOptions::new().cache(256 << 20).parallel(16).anonymous(true);
/// let file = options.open("s3://bucket/run42.h5")?;
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct CloudOptions {
    cache: u64,
    parallel: usize,
    line: u64,
    first: u64,
    pub(crate) anonymous: bool,
    plain_credentials: bool,
    deadline: Duration,
    retries: usize,
    pub(crate) config: Vec<(String, String)>,
    pub(crate) open: OpenOptions,
    /// The condition of the upload for which a store is made.
    pub(crate) completion: Option<Existing>,
    pub(crate) scratch: Option<PathBuf>,
}

impl Default for CloudOptions {
    fn default() -> Self {
        Self {
            cache: 256 << 20,
            parallel: 32,
            line: 64 << 10,
            first: FIRST_BYTES,
            anonymous: false,
            plain_credentials: false,
            deadline: Duration::from_secs(60),
            retries: 4,
            config: Vec::new(),
            open: OpenOptions::new(),
            completion: None,
            scratch: None,
        }
    }
}

/// Shows the names of the store's settings without their values, which may be credentials.
impl fmt::Debug for CloudOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&String> = self.config.iter().map(|(key, _)| key).collect();
        f.debug_struct("CloudOptions")
            .field("cache", &self.cache)
            .field("parallel", &self.parallel)
            .field("line", &self.line)
            .field("anonymous", &self.anonymous)
            .field("deadline", &self.deadline)
            .field("retries", &self.retries)
            .field("config", &keys)
            .finish_non_exhaustive()
    }
}

impl CloudOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the largest number of bytes of a file that stay in memory: 256 MiB by default, at least
    /// 80 MiB. The caches of decoded metadata and chunks are separate ([`OpenOptions`]).
    #[must_use]
    pub fn cache(mut self, bytes: u64) -> Self {
        self.cache = bytes.max(MIN_CACHE_BYTES);
        self
    }

    /// Sets the largest number of requests for one file at the same time: 32 by default.
    #[must_use]
    pub fn parallel(mut self, requests: usize) -> Self {
        self.parallel = requests.max(1);
        self
    }

    /// Sets the number of bytes that a small read fetches: 64 KiB by default. Files with pages that
    /// are larger use their page size, up to 4 MiB.
    #[must_use]
    pub fn line(mut self, bytes: u64) -> Self {
        self.line = bytes.clamp(1, MAX_LINE_BYTES);
        self
    }

    /// Sets the number of bytes of the first request, which opens the file: 1 MiB by default.
    #[must_use]
    pub fn first(mut self, bytes: u64) -> Self {
        self.first = bytes.max(1);
        self
    }

    /// Sets whether requests have no credentials, as public buckets need it.
    #[must_use]
    pub fn anonymous(mut self, yes: bool) -> Self {
        self.anonymous = yes;
        self
    }

    /// Sets whether credentials may be sent without encryption (`http:`) to other machines, which
    /// is refused by default.
    #[must_use]
    pub fn plain_credentials(mut self, yes: bool) -> Self {
        self.plain_credentials = yes;
        self
    }

    /// Sets the longest time for the answer to one request, with its repetitions, and for its body:
    /// 60 seconds each by default.
    #[must_use]
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = time;
        self
    }

    /// Sets the number of times that a request is repeated after a failure of the server or the
    /// connection: 4 by default, with growing pauses.
    #[must_use]
    pub fn retries(mut self, count: usize) -> Self {
        self.retries = count;
        self
    }

    /// Sets a setting of the store, such as `aws_region` or `aws_endpoint`. The names are the ones
    /// of the crate [`object_store`]. A setting replaces the one of the environment.
    #[must_use]
    pub fn config(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.config.push((key.into(), value.into()));
        self
    }

    /// Sets the options for access to the file, such as limits and filters.
    #[must_use]
    pub fn open_options(mut self, options: OpenOptions) -> Self {
        self.open = options;
        self
    }

    /// Sets the folder of the local files of [drafts](crate::Draft): the folder for temporary files
    /// of the system by default.
    #[must_use]
    pub fn scratch_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scratch = Some(folder.into());
        self
    }

    /// Opens the HDF5 file at a URL for reading.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](hyperslab::ErrorKind::Misuse) if the text is not a URL,
    /// [`ErrorKind::Unsupported`](hyperslab::ErrorKind::Unsupported) if this build has no such
    /// store, [`ErrorKind::Io`](hyperslab::ErrorKind::Io) if the object cannot be read, and the
    /// errors of [`OpenOptions::open_driver`].
    pub fn open(&self, url: &str) -> Result<File> {
        Ok(self.open_with_driver(url)?.0)
    }

    /// Opens the HDF5 file at a URL for reading, and returns also its driver, which counts
    /// requests.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_with_driver(&self, url: &str) -> Result<(File, CloudDriver)> {
        self.open_location(Location::of(url, self)?)
    }

    /// Opens the HDF5 file at `path` in a store for reading.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_store(&self, store: Arc<dyn ObjectStore>, path: &Path) -> Result<File> {
        let location = Location::of_store(store, path);
        Ok(self.open_location(location)?.0)
    }

    /// Returns a driver for the object at a URL, which need not be an HDF5 file.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), except the ones about the contents.
    pub fn driver(&self, url: &str) -> Result<CloudDriver> {
        self.driver_at(&Location::of(url, self)?)
    }

    fn open_location(&self, location: Location) -> Result<(File, CloudDriver)> {
        let driver = self.driver_at(&location)?;
        let file = self.open_with(&location, &driver)?;
        Ok((file, driver))
    }

    /// Opens the file whose bytes a driver reads.
    pub(crate) fn open_with(&self, location: &Location, driver: &CloudDriver) -> Result<File> {
        let others = Siblings::of(location.clone(), self.clone());
        let file = self.open.clone().open_driver_with(Arc::new(driver.clone()), Arc::new(others))?;
        let page = file.info().file_space.page_size;
        if page > self.line {
            driver.set_line(page.min(MAX_LINE_BYTES));
        }
        Ok(file)
    }

    pub(crate) fn line_bytes(&self) -> u64 {
        self.line
    }

    pub(crate) fn memory(&self) -> u64 {
        self.cache
    }

    /// Returns a driver for the object of a store.
    pub(crate) fn driver_at(&self, location: &Location) -> Result<CloudDriver> {
        let runtime = runtime(location)?;
        let opened = runtime.wait(self.fetcher_at(location, &runtime));
        let fetcher =
            opened.map_err(|error| cannot_open(location, io_error(&name_of(location), error)))??;
        Ok(CloudDriver::new(fetcher, self.line))
    }

    /// Returns a future that opens an object.
    pub(crate) fn fetcher_at(
        &self,
        location: &Location,
        runtime: &Runtime,
    ) -> impl Future<Output = Result<Arc<Fetcher>>> + Send + 'static {
        let place = Place {
            store: Arc::clone(&location.store),
            path: location.path.clone(),
            name: name_of(location),
            deadline: self.deadline,
            first: self.first,
        };
        let (location, runtime) = (location.clone(), runtime.clone());
        let (cache, parallel) = (self.cache, self.parallel);
        async move {
            let counters = Arc::new(Counters::default());
            counters.round();
            let opened = Remote::open(place, counters).await;
            let (remote, first) = opened.map_err(|source| cannot_open(&location, source))?;
            Ok(Arc::new(Fetcher::new(remote, &first, runtime, cache, parallel)))
        }
    }

    #[cfg(feature = "client")]
    pub(crate) fn connector(&self) -> crate::connect::Connector {
        crate::connect::Connector {
            authorization: None,
            plain_credentials: self.plain_credentials,
            idle: self.deadline,
            completion: self.completion.as_ref().and_then(Existing::header),
        }
    }

    #[cfg(feature = "client")]
    pub(crate) fn retry(&self) -> RetryConfig {
        RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(100),
                max_backoff: Duration::from_secs(5),
                base: 2.0,
            },
            max_retries: self.retries,
            retry_timeout: self.deadline,
        }
    }
}

fn name_of(location: &Location) -> String {
    location.name_of(&location.path)
}

fn cannot_open(location: &Location, source: DriverError) -> Error {
    Error::Io { action: format!("cannot open `{}`", name_of(location)), source }
}

/// Returns the runtime of the process, to open an object.
pub(crate) fn runtime(location: &Location) -> Result<Runtime> {
    Runtime::get().map_err(|error| cannot_open(location, io_error(&name_of(location), error)))
}
