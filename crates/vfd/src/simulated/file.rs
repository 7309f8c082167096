//! A file of a simulated disk.

use std::sync::Arc;

use super::SimulatedDisk;
use crate::driver::range_end;
use crate::{Driver, DriverError, FileIdentity, LockKind, Result, SideAccess, SideFile, WriteRequest};

#[derive(Debug)]
pub(super) struct SimulatedFile {
    disk: SimulatedDisk,
    number: usize,
    name: String,
    read_only: bool,
}

impl SimulatedFile {
    pub(super) fn new(disk: SimulatedDisk, number: usize, name: &str, read_only: bool) -> Self {
        Self { disk, number, name: name.to_owned(), read_only }
    }

    fn writable(&self) -> Result<()> {
        if self.read_only { Err(DriverError::ReadOnly { name: self.name.clone() }) } else { Ok(()) }
    }
}

impl Driver for SimulatedFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> Option<FileIdentity> {
        None
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn len(&self) -> Result<u64> {
        Ok(self.disk.lock().length(self.number))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        if buf.is_empty() {
            return Ok(());
        }
        let end = range_end(&self.name, offset, buf.len())?;
        let state = self.disk.lock();
        let content = state.contents.get(self.number).map_or(&[][..], Vec::as_slice);
        let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
        let found = range.and_then(|(start, end)| content.get(start..end));
        let past = || DriverError::PastEnd {
            name: self.name.clone(),
            offset,
            length: buf.len() as u64,
            end: content.len() as u64,
        };
        let found = found.ok_or_else(past)?;
        buf.copy_from_slice(found);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.writable()?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.disk.lock().write(self.number, &self.name, offset, bytes)
    }

    /// Writes each write request to the file of the simulated disk as a separate operation of the
    /// disk's history.
    fn write_many(&self, requests: &[WriteRequest<'_>]) -> Result<()> {
        self.writable()?;
        requests.iter().try_for_each(|request| self.write_at(request.offset, request.bytes))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.writable()?;
        self.disk.lock().set_len(self.number, &self.name, len)
    }

    fn sync_data(&self) -> Result<()> {
        if self.read_only {
            return Ok(());
        }
        self.disk.lock().sync(self.number, &self.name)
    }

    fn lock(&self, _: LockKind) -> Result<()> {
        Ok(())
    }

    fn unlock(&self) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct SimulatedSideFile {
    disk: SimulatedDisk,
    name: String,
}

impl SimulatedSideFile {
    pub(super) fn new(disk: SimulatedDisk, name: &str) -> Self {
        Self { disk, name: name.to_owned() }
    }

    fn driver(&self, number: usize, read_only: bool) -> Arc<dyn Driver> {
        Arc::new(SimulatedFile::new(self.disk.clone(), number, &self.name, read_only))
    }
}

impl SideFile for SimulatedSideFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self, access: SideAccess) -> Result<Option<Arc<dyn Driver>>> {
        let number = self.disk.lock().names.get(&self.name).copied();
        Ok(number.map(|number| self.driver(number, access == SideAccess::Read)))
    }

    fn create(&self) -> Result<Arc<dyn Driver>> {
        let number = self.disk.lock().create(&self.name)?;
        Ok(self.driver(number, false))
    }

    fn remove(&self) -> Result<()> {
        self.disk.lock().remove(&self.name)
    }

    fn set_aside(&self) -> Result<String> {
        self.disk.lock().set_aside(&self.name)
    }
}
