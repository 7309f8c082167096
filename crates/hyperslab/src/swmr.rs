//! Single writer, multiple readers (SWMR): reading a file while another program writes it.

use hyperslab_engine::Result;

use crate::known::Known;
use crate::{Dataset, File};

impl File {
    /// Makes this process the SWMR writer of the file (single writer, multiple readers). From now
    /// on SWMR readers of hyperslab or libhdf5 can open the file.
    ///
    /// A SWMR writer can write elements and extend datasets. All other changes return errors.
    /// Readers see the changes after each [`flush`](Self::flush). [`close`](Self::close) ends SWMR
    /// writing. A SWMR writer uses no journal, and freed space is lost. The file must have a
    /// superblock of version 3.
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
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file is open for reading only
    /// or its superblock has a lower version, and the errors of [`flush`](Self::flush).
    pub fn start_swmr_write(&self) -> Result<()> {
        self.root().file().start_swmr_write()
    }

    /// Refreshes the file: later reads of all its objects see the current contents. Has an effect
    /// only on a file that is open for [SWMR reading](crate::OpenOptions::swmr_read).
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let file = hyperslab::OpenOptions::new().swmr_read(true).open(path)?;
    /// file.refresh()?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the superblock is damaged, and
    /// I/O errors.
    pub fn refresh(&self) -> Result<()> {
        self.root().file().refresh()
    }

    /// Returns the number of repeated reads of file blocks. A read is repeated if the SWMR writer
    /// changed the block during the first read.
    pub fn swmr_retries(&self) -> u64 {
        self.root().file().container.store.retries()
    }
}

impl Dataset {
    /// Refreshes the dataset: later reads see its current shape, attributes and elements. Has an
    /// effect only on a file that is open for [SWMR reading](crate::OpenOptions::swmr_read). See
    /// [`File::start_swmr_write`] for an example.
    ///
    /// # Errors
    /// Returns the errors of reading the object header.
    pub fn refresh(&self) -> Result<()> {
        if self.object().file().container.store.is_swmr_reader() {
            self.object().forget_header();
            Known::forget(&self.now);
        }
        self.open().map(drop)
    }
}
