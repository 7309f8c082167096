//! Objects without links, and the counts of references to objects.

use hyperslab_engine::Result;
use hyperslab_engine::ops::objects::{self, NewHeader};

use crate::{
    CommittedDatatype, CreationOrder, Dataset, DatasetBuilder, Datatype, Group, GroupOptions, Object,
    PhaseChange,
};

impl Group {
    /// Creates a group without a link. The group is deleted when its last handle is dropped, unless
    /// a link to it was created.
    ///
    /// ```
    /// use hyperslab::GroupOptions;
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let group = file.create_unlinked_group(GroupOptions::new())?;
    /// group.create_group("inside")?;
    /// file.link_hard("later", &group)?;
    /// assert!(file.group("later/inside").is_ok());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file is open for reading
    /// only.
    pub fn create_unlinked_group(&self, options: GroupOptions) -> Result<Self> {
        let handle = self.add_here(
            || "cannot create a group without a link".into(),
            |edit, _| {
                let made = self.file().create_group_deferred(edit, &options.0)?;
                let handle = edit.store().hold(made)?;
                self.file().drop_reference(edit, made)?;
                Ok(handle)
            },
        )?;
        Ok(self.made_group(handle, ""))
    }

    /// Stores a datatype as an object without a link. The object is deleted when its last handle is
    /// dropped, unless a link to it was created.
    ///
    /// # Errors
    /// Returns the errors of [`commit_datatype`](Self::commit_datatype).
    pub fn commit_unlinked_datatype(&self, datatype: &Datatype) -> Result<CommittedDatatype> {
        self.commit_header(datatype, NewHeader::default())
    }

    /// Stores a datatype as an object without a link, like
    /// [`commit_unlinked_datatype`](Self::commit_unlinked_datatype). The object stores its
    /// attributes in the object header up to `max_compact` attributes, and again below `min_dense`
    /// attributes.
    ///
    /// # Errors
    /// As [`commit_unlinked_datatype`](Self::commit_unlinked_datatype).
    pub fn commit_unlinked_datatype_with(
        &self,
        datatype: &Datatype,
        attribute_order: CreationOrder,
        phase_change: PhaseChange,
    ) -> Result<CommittedDatatype> {
        let mut header =
            NewHeader { attribute_order: attribute_order.of_attributes(), ..NewHeader::default() };
        header.phase_change.max_compact = phase_change.max_compact;
        header.phase_change.min_dense = phase_change.min_dense;
        self.commit_header(datatype, header)
    }

    fn commit_header(&self, datatype: &Datatype, header: NewHeader) -> Result<CommittedDatatype> {
        let handle = self.change(
            || "cannot commit a datatype without a link".into(),
            |edit| {
                let made = objects::commit_datatype(edit, datatype, header)?;
                let handle = edit.store().hold(made)?;
                self.file().drop_reference(edit, made)?;
                Ok(handle)
            },
        )?;
        self.open_made(handle, "")?.into_datatype()
    }
}

impl DatasetBuilder {
    /// Creates a dataset without a link. The dataset is deleted when its last handle is dropped,
    /// unless a link to it was created. The builder's path is not used.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_unlinked(self) -> Result<Dataset> {
        let group = self.group().clone();
        let dataset = self.create_in(&group, "", |edit, _, make| make(edit))?;
        dataset.drop_reference()?;
        Ok(dataset)
    }
}

impl Object {
    /// Increases the stored reference count of the object without creating a link. The object is
    /// not deleted when its links are removed.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file is open for reading
    /// only.
    pub fn add_reference(&self) -> Result<()> {
        let subject = || format!("cannot count a reference to `{}`", self.name());
        self.change(subject, |edit| self.file().add_reference(edit, self.address()))
    }

    /// Decreases the stored reference count of the object. An object without references is deleted
    /// when its last handle is dropped.
    ///
    /// # Errors
    /// Returns the errors of [`add_reference`](Self::add_reference), and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the count is 0.
    pub fn drop_reference(&self) -> Result<()> {
        let subject = || format!("cannot release a reference to `{}`", self.name());
        self.change(subject, |edit| self.file().drop_reference(edit, self.address()))
    }
}
