//! Copies of objects, within a file and into another one.

use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::ops::AsStored;
use hyperslab_engine::ops::groups::LinkTarget;

use crate::group_edit::insert;
use crate::{File, Group, Object};

pub use hyperslab_engine::ops::CopyOptions;

impl Group {
    /// Copies an object of this or another file to a path of this file, with its attributes. The
    /// copy of a group contains copies of all its members.
    ///
    /// Creates the groups of the path that do not exist. Chunks are copied in their encoded form.
    /// References and links whose target is copied too lead to the copy.
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
    /// Returns [`ErrorKind::Exists`](crate::ErrorKind::Exists) if the path exists,
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file is open for reading only, and
    /// the errors of reading the source.
    pub fn copy(&self, source: &Object, path: &str) -> Result<Object> {
        self.copy_with(source, path, CopyOptions::default())
    }

    /// Copies an object to a path of this file like [`copy`](Self::copy), with the copy options
    /// `options`.
    ///
    /// ```
    /// use hyperslab::CopyOptions;
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.create_group("a")?.set_attribute("n", 1)?;
    /// let options = CopyOptions { without_attributes: true, ..CopyOptions::default() };
    /// let copy = file.copy_with(&file.object("a")?, "b", options)?;
    /// assert!(copy.attribute_names()?.is_empty());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`copy`](Self::copy).
    pub fn copy_with(&self, source: &Object, path: &str, options: CopyOptions) -> Result<Object> {
        let (from, to) = (source.file(), self.file());
        // Threads that copy between the same two files lock them in the same order: the file at the
        // lower memory address first.
        let flush_source = || {
            if Arc::ptr_eq(from, to) || !from.container.store.is_writable() { Ok(()) } else { from.flush() }
        };
        flush_source()?;
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
    /// Copies the object at the path `from` of the file `source` to the path `to` of this file: see
    /// [`Group::copy`].
    ///
    /// # Errors
    /// Returns the errors of [`Group::copy`], and
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if `from` does not exist.
    pub fn copy_from(&self, source: &Self, from: &str, to: &str) -> Result<Object> {
        let object = match from.trim_matches('/') {
            "" => Object::clone(source.root()),
            path => source.object(path)?,
        };
        self.copy(&object, to)
    }
}
