//! The user block: bytes before the HDF5 file that belong to another program.

use hyperslab_exact::{to_u64, to_usize};

use super::Store;
use super::edit::Edit;
use crate::error::{Error, Result};

impl Store {
    /// Returns the bytes of the file's user block.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the bytes do not fit in memory, and I/O errors.
    pub fn user_block(&self) -> Result<Vec<u8>> {
        let base = self.base();
        let tried = Vec::<u8>::new().try_reserve_exact(to_usize(base)?);
        tried.map_err(|_| Error::Limit {
            subject: "user block: bytes that memory can hold".into(),
            got: base,
            limit: base,
        })?;
        let mut bytes = vec![0; to_usize(base)?];
        let failed = |source| Error::Io { action: "cannot read the user block".into(), source };
        self.source().read(0, &mut bytes).map_err(failed)?;
        self.caches.pages.overlay_dirty(0, &mut bytes);
        Ok(bytes)
    }
}

impl Edit<'_> {
    /// Overwrites the first bytes of the file's user block.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if `bytes` are longer than the user block, and I/O errors.
    pub fn write_user_block(&mut self, bytes: &[u8]) -> Result<()> {
        let store = self.store();
        if to_u64(bytes.len()) > store.base() {
            let (got, length) = (bytes.len(), store.base());
            return Err(Error::Misuse(format!("{got} bytes do not fit into a user block of {length} bytes")));
        }
        let failed = |source| Error::Io { action: "cannot change the user block".into(), source };
        store.change(0, bytes).map_err(failed)
    }
}
