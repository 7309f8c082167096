//! Reads of metadata, through the page buffer, and of raw data.

use std::ops::Range;

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::{Address, Structure};
use hyperslab_format::metadata_cache_image::{MetadataCacheBlock, MetadataCacheContext};
use hyperslab_vfd::{DriverError, ReadRequest};

use super::bytes::Bytes;
use super::{Store, at};
use crate::error::{Error, Result};
use crate::memory::zeros;

/// Largest size in bytes of a raw data read that uses the page buffer, like metadata. After such a
/// short read, a read of the neighbouring bytes is likely.
const MAX_BUFFERED_READ_BYTES: usize = 2048;

/// Largest size in bytes of a raw data read that is copied from a page of the page buffer.
const MAX_SHORT_READ_BYTES: usize = 1024;

impl Store {
    /// Returns bytes of metadata at a file address, which are read through the page buffer.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the block is larger than the limits allow, [`Error::Corrupt`] if
    /// the bytes do not lie in the file, and I/O errors.
    pub fn read(&self, address: Address, length: u64, structure: &'static str) -> Result<Bytes> {
        if length > self.limits.metadata_block {
            return Err(Error::Limit {
                subject: format!("{structure}: bytes of one block"),
                got: length,
                limit: self.limits.metadata_block,
            });
        }
        if !self.caches.image.is_empty()
            && let Some(bytes) = self.caches.image_block(address, length)
        {
            return Ok(bytes);
        }
        if self.is_swmr_reader() {
            return self.read_uncached(address, length, structure);
        }
        self.encode_dirty_block(address)?;
        let start = self.locate(address, length, structure)?;
        self.caches.pages.read(self.source(), start, length).map_err(|source| Error::Io {
            action: format!("cannot read the {structure} at {address}"),
            source,
        })
    }

    /// Returns bytes of metadata at a file address, without the clean pages of the page buffer.
    /// Callers use this function for scattered blocks, because the neighbouring blocks will
    /// probably not be read soon.
    ///
    /// # Errors
    /// Returns the same errors as [`read`](Self::read).
    pub fn read_uncached(&self, address: Address, length: u64, structure: &'static str) -> Result<Bytes> {
        if length > self.limits.metadata_block || !self.caches.image.is_empty() {
            return self.read(address, length, structure);
        }
        self.encode_dirty_block(address)?;
        let start = self.locate(address, length, structure)?;
        self.caches.pages.read_uncached(self.source(), start, length).map_err(|source| Error::Io {
            action: format!("cannot read the {structure} at {address}"),
            source,
        })
    }

    /// Loads the metadata cache image at `address`. The blocks of the image replace the blocks of
    /// the file in reads.
    ///
    /// # Errors
    /// Returns decoding errors and the errors of [`read`](Self::read).
    pub fn overlay(&mut self, address: Address, length: u64) -> Result<()> {
        let bytes = self.read(address, length, MetadataCacheBlock::NAME)?;
        let context = MetadataCacheContext { params: self.params(), length: bytes.len() };
        let image = at(MetadataCacheBlock::decode(&bytes, &context), address)?;
        self.caches.image =
            image.entries.into_iter().map(|entry| (entry.address, entry.image.into())).collect();
        Ok(())
    }

    /// Removes the blocks of the metadata cache image from memory and returns them, by ascending
    /// addresses. Later reads return the blocks of the file.
    pub fn end_overlay(&mut self) -> Vec<(Address, Bytes)> {
        let mut blocks: Vec<_> = std::mem::take(&mut self.caches.image).into_iter().collect();
        blocks.sort_unstable_by_key(|(address, _)| *address);
        blocks
    }

    /// Returns at most `length` bytes of metadata at a file address. Returns fewer bytes if the
    /// file ends earlier.
    ///
    /// # Errors
    /// Returns the same errors as [`read`](Self::read).
    pub fn read_up_to(&self, address: Address, length: u64, structure: &'static str) -> Result<Bytes> {
        if let Some(block) = self.caches.image.get(&address) {
            let end = usize::try_from(length).map_or(block.len(), |length| length.min(block.len()));
            return Ok(block.slice(0..end).unwrap_or_else(|| block.clone()));
        }
        if self.is_swmr_reader() && !self.reaches(address, length) {
            self.backing.update_length()?;
        }
        let start = self.locate(address, 1, structure)?;
        // The last member may end far after the stored bytes.
        let available = (self.length() - start).min(self.file_length());
        self.read(address, length.min(available), structure)
    }

    /// Reads and decodes one block of metadata at a file address.
    ///
    /// # Errors
    /// Returns decoding errors and the errors of [`read`](Self::read).
    pub fn get<T: Structure>(&self, address: Address, context: &T::Context) -> Result<T> {
        self.attempt(|| {
            let bytes = self.read(address, to_u64(T::size(context)), T::NAME)?;
            T::decode(&bytes, context).map_err(|error| error.at(address).into())
        })
    }

    /// Reads raw data at a file address into the caller's buffer.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the bytes do not lie in the file, and I/O errors.
    pub fn read_raw(&self, address: Address, buffer: &mut [u8]) -> Result<()> {
        let start = self.locate(address, to_u64(buffer.len()), "raw data")?;
        self.note_raw(address, buffer.len());
        if self.read_short(start, buffer).map_err(|source| Self::raw_error(address, source))? {
            return Ok(());
        }
        let read = self.caches.pages.read_into(self.source(), start, buffer);
        read.map_err(|source| Self::raw_error(address, source))
    }

    /// Reads contiguous raw data at a file address into several buffers. Returns false, without
    /// reading, if a read into a single buffer needs no additional copy.
    ///
    /// # Errors
    /// Returns the same errors as [`read_raw`](Self::read_raw).
    pub fn read_raw_parts(&self, address: Address, parts: &mut [&mut [u8]]) -> Result<bool> {
        let driver = &self.backing.driver;
        if self.write_state.is_writable || !driver.reads_parts() {
            return Ok(false);
        }
        let length = parts.iter().fold(0_usize, |sum, part| sum + part.len());
        let start = self.locate(address, to_u64(length), "raw data")?;
        self.note_raw(address, length);
        driver.read_parts(start, parts).map_err(|source| Self::raw_error(address, source))?;
        Ok(true)
    }

    /// Copies a short run of raw data from a page of the page buffer into the caller's buffer.
    /// Returns whether the page is in memory.
    fn read_short(&self, start: u64, buffer: &mut [u8]) -> std::result::Result<bool, DriverError> {
        let may_be_buffered = buffer.len() <= MAX_SHORT_READ_BYTES
            && self.buffers_raw_data
            && !self.is_swmr_reader()
            && self.backing.driver.as_bytes().is_none();
        if may_be_buffered { self.caches.pages.read_short(self.source(), start, buffer) } else { Ok(false) }
    }

    /// Reads all raw data of one dataset into the caller's buffer. If the data is small, reads it
    /// through the page buffer together with neighbouring bytes, because a read of the neighbours
    /// is likely to follow.
    ///
    /// # Errors
    /// Returns the same errors as [`read_raw`](Self::read_raw).
    pub fn read_raw_whole(&self, address: Address, buffer: &mut [u8]) -> Result<()> {
        if buffer.len() > MAX_BUFFERED_READ_BYTES || !self.buffers_raw_data {
            return self.read_raw(address, buffer);
        }
        let bytes = self.read(address, to_u64(buffer.len()), "raw data")?;
        self.note_raw(address, buffer.len());
        buffer.copy_from_slice(&bytes);
        Ok(())
    }

    /// Reads `length` bytes of raw data at a file address into a new buffer. Allocates the buffer
    /// only if the file has these bytes.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the buffer does not fit in memory, and the errors of
    /// [`read_raw`](Self::read_raw).
    pub fn read_raw_vec(&self, address: Address, length: u64) -> Result<Vec<u8>> {
        self.locate(address, length, "raw data")?;
        let length = usize::try_from(length).map_err(|_| Error::Limit {
            subject: "raw data: bytes of one block".into(),
            got: length,
            limit: to_u64(usize::MAX),
        })?;
        let mut buffer = zeros(length, "raw data")?;
        self.read_raw(address, &mut buffer)?;
        Ok(buffer)
    }

    /// Reads raw data at several file addresses, each into its own buffer. The driver may join the
    /// reads of neighbours.
    ///
    /// # Errors
    /// Returns the same errors as [`read_raw`](Self::read_raw).
    pub fn read_raw_many(&self, requests: &mut [(Address, &mut [u8])]) -> Result<()> {
        if self.write_state.is_writable {
            return requests.iter_mut().try_for_each(|(address, buffer)| self.read_raw(*address, buffer));
        }
        let first = requests.first().map_or(Address::UNDEFINED, |(address, _)| *address);
        let mut located = Vec::with_capacity(requests.len());
        for (address, buffer) in requests {
            let offset = self.locate(*address, to_u64(buffer.len()), "raw data")?;
            self.note_raw(*address, buffer.len());
            if self.read_short(offset, buffer).map_err(|source| Self::raw_error(*address, source))? {
                continue;
            }
            located.push(ReadRequest { offset, buf: buffer });
        }
        self.backing.driver.read_many(&mut located).map_err(|source| Self::raw_error(first, source))
    }

    /// Returns whether reads of raw data are faster if they are announced
    /// ([`expect_raw`](Self::expect_raw)).
    pub fn expects_raw(&self) -> bool {
        !self.write_state.is_writable && self.backing.driver.expects_many()
    }

    /// Announces to the driver later reads of raw data: the addresses and numbers of bytes. Extents
    /// that do not lie in the file are left to the reads, which return errors.
    pub fn expect_raw(&self, extents: &[(Address, u64)]) {
        let range = |(address, length): &(Address, u64)| self.raw_range(*address, *length).ok();
        self.backing.driver.expect_many(&extents.iter().filter_map(range).collect::<Vec<_>>());
    }

    /// Fetches in advance the bytes that `work` reads, if the driver's reads have to wait for bytes
    /// ([`hyperslab_vfd::Driver::read_ahead`]). Returns the number of fetched bytes.
    pub fn read_ahead(&self, work: &mut dyn FnMut()) -> u64 {
        if self.expects_raw() { self.backing.driver.read_ahead(work) } else { 0 }
    }

    /// Fetches blocks of metadata of one length together before they are read one after another, if
    /// the driver's reads have to wait for bytes.
    pub fn expect_blocks(&self, addresses: &[Address], length: u64, structure: &'static str) {
        if addresses.len() > 1 {
            // An error of a block is the subject of the read after this one.
            self.read_ahead(&mut || {
                for address in addresses {
                    drop(self.read(*address, length, structure));
                }
            });
        }
    }

    /// Returns the range of file offsets, counted from the start of the file, of raw data at an
    /// address.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the bytes do not lie in the file.
    pub fn raw_range(&self, address: Address, length: u64) -> Result<Range<u64>> {
        let start = self.locate(address, length, "raw data")?;
        Ok(start..start + length)
    }

    /// Returns a view of raw data at a file address, if the driver holds the whole file in memory.
    pub fn view_raw(&self, address: Address, length: u64) -> Option<&[u8]> {
        let start = usize::try_from(self.locate(address, length, "raw data").ok()?).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        self.backing.driver.as_bytes()?.get(start..end)
    }

    /// Returns all bytes of the file in the state of the last commit, including the user block.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the bytes do not fit in memory, and I/O errors.
    pub fn image(&self) -> Result<Vec<u8>> {
        let failed = |source| Error::Io { action: "cannot read the file".into(), source };
        let driver = &self.backing.driver;
        let length = driver.len().map_err(failed)?;
        let mut bytes = vec![0; to_usize(length)?];
        driver.read_at(0, &mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn raw_error(address: Address, source: DriverError) -> Error {
        Error::Io { action: format!("cannot read raw data at {address}"), source }
    }
}
