//! Copying objects, within a file and into another one.

use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::ops::AsStored;
use hyperslab_engine::ops::groups::LinkTarget;

use crate::group_edit::insert;
use crate::{File, Group, Object};

pub use hyperslab_engine::ops::CopyOptions;

impl Group {
    /// Copies an object of this file or another one, with all that belongs to it, to a path. Groups on the way are made
    /// where there are none. Raw data goes over as it is stored; references and links within what is copied lead to the
    /// copies.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.new_dataset("runs/one").write(&[1.5, 2.5])?;
    /// let other = hyperslab::FileOptions::new().create_in_memory()?;
    /// other.copy(&file.object("runs")?, "archive/runs")?;
    /// assert_eq!(other.dataset("archive/runs/one")?.read_raw::<f64>(..)?, [1.5, 2.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Exists`](crate::ErrorKind::Exists) if the path is taken, [`ErrorKind::Misuse`](crate::ErrorKind::Misuse)
    /// if the file is open for reading only; those of reading what is copied.
    pub fn copy(&self, source: &Object, path: &str) -> Result<Object> {
        self.copy_with(source, path, CopyOptions::default())
    }

    /// As [`copy`](Self::copy); `options` say how much comes along.
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
    pub fn copy_with(&self, source: &Object, path: &str, options: CopyOptions) -> Result<Object> {
        let (from, to) = (source.file(), self.file());
        // Two threads that copy between the same two files must take them in the same order.
        let settle = || {
            if Arc::ptr_eq(from, to) || !from.container.store.is_writable() { Ok(()) } else { from.flush() }
        };
        settle()?;
        let first = Arc::as_ptr(from) < Arc::as_ptr(to);
        let mut reading = None;
        if first && !Arc::ptr_eq(from, to) {
            reading = Some(from.reading()?);
        }
        let handle = self.change(
            || format!("cannot copy `{}` to `{path}`", source.name()),
            |edit| {
                if reading.is_none() && !Arc::ptr_eq(from, to) {
                    reading = Some(from.reading()?);
                }
                source.handle().check()?;
                let (parent, name) = self.parent_of(edit, path)?;
                self.refuse_taken(parent, name)?;
                let copy = to.copy_object(edit, from, source.address(), options, &AsStored)?;
                insert(self, edit, parent, name, LinkTarget::Hard(copy))?;
                edit.store().hold(copy)
            },
        )?;
        self.open_made(handle, path)
    }
}

impl File {
    /// Copies what is at `from` in another file to the path `to` in this one: see [`Group::copy`].
    ///
    /// # Errors
    /// As [`Group::copy`], and if there is nothing at `from`.
    pub fn copy_from(&self, source: &Self, from: &str, to: &str) -> Result<Object> {
        let object = match from.trim_matches('/') {
            "" => Object::clone(source.root()),
            path => source.object(path)?,
        };
        self.copy(&object, to)
    }
}
