//! The user block: bytes before the HDF5 file that belong to somebody else.

use hyperslab_exact::to_usize;

use super::Store;
use super::edit::Edit;
use crate::error::{Error, Result};

impl Store {
    /// The bytes before the HDF5 file.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Limit`] if memory cannot hold them.
    pub fn user_block(&self) -> Result<Vec<u8>> {
        let tried = Vec::<u8>::new().try_reserve_exact(to_usize(self.base)?);
        tried.map_err(|_| Error::Limit {
            what: "user block: bytes that memory can hold".into(),
            got: self.base,
            limit: self.base,
        })?;
        let mut bytes = vec![0; to_usize(self.base)?];
        let failed = |source| Error::Io { action: "cannot read the user block".into(), source };
        self.medium().read(0, &mut bytes).map_err(failed)?;
        self.pages.amend(0, &mut bytes);
        Ok(bytes)
    }
}

impl Edit<'_> {
    /// Changes the first bytes of the user block.
    ///
    /// # Errors
    /// [`Error::Misuse`] if there are more bytes than the user block has.
    pub fn write_user_block(&mut self, bytes: &[u8]) -> Result<()> {
        let store = self.store();
        if bytes.len() as u64 > store.base {
            let (got, room) = (bytes.len(), store.base);
            return Err(Error::Misuse(format!("{got} bytes for a user block of {room}")));
        }
        let failed = |source| Error::Io { action: "cannot change the user block".into(), source };
        store.change(0, bytes).map_err(failed)
    }
}
