//! One writes to a file while others read it (single writer, multiple readers).

use hyperslab_engine::Result;

use crate::object::Known;
use crate::{Dataset, File};

impl File {
    /// Lets others read the file from now on while it is written (single writer, multiple readers): those that open it for SWMR
    /// reading, with hyperslab or libhdf5. From now on, datasets take elements and grow, and nothing else can be changed; each
    /// [`flush`](Self::flush) shows readers what was written until then, and [`close`](Self::close) ends it. There is no journal, and
    /// what is freed is lost. The file has a superblock of version 3.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("log.h5");
    /// use hyperslab::{FileOptions, LibraryVersion, LibverBounds, OpenOptions};
    /// let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST)?;
    /// let file = FileOptions::new().libver(bounds).create(&path)?;
    /// let log = file.new_dataset("log").of::<f64>().shape(&[0]).max_shape(&[None]).chunks(&[100]).create()?;
    /// file.start_swmr_write()?;
    /// let reader = OpenOptions::new().swmr_read(true).open(&path)?;
    /// let seen = reader.dataset("log")?;
    /// log.append(0, &[1.5, 2.5])?;
    /// file.flush()?;
    /// seen.refresh()?;
    /// assert_eq!(seen.read_raw::<f64>(..)?, [1.5, 2.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file is open for reading only or its superblock is older; as
    /// [`flush`](Self::flush).
    pub fn start_swmr_write(&self) -> Result<()> {
        self.root().file().start_swmr_write()
    }

    /// Takes all objects as they are now. Means something only in a file that is open for
    /// [SWMR reading](crate::OpenOptions::swmr_read).
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let file = hyperslab::OpenOptions::new().swmr_read(true).open(path)?;
    /// file.refresh()?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io); [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if there is no superblock any more.
    pub fn refresh(&self) -> Result<()> {
        self.root().file().refresh()
    }

    /// How often a block had to be read again, since a writer was in the middle of writing it.
    pub fn swmr_retries(&self) -> u64 {
        self.root().file().container.store.retries()
    }
}

impl Dataset {
    /// Takes the dataset as it is now: its shape, its attributes and what will be read. Means something only in a file that is
    /// open for [SWMR reading](crate::OpenOptions::swmr_read).
    ///
    /// # Errors
    /// The errors of reading its header.
    pub fn refresh(&self) -> Result<()> {
        if self.object().file().container.store.is_swmr_reader() {
            self.object().forget_header();
            Known::forget(&self.now);
        }
        self.open().map(drop)
    }
}
