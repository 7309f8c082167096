//! Links whose names are bytes with a stated character set. HDF5 stores names as bytes; not all
//! files keep them in UTF-8.

use std::sync::Arc;

use hyperslab_engine::ops::groups::{self, Link as EngineLink, LinkTarget as EngineTarget};
use hyperslab_engine::ops::objects::{self, ObjectHeader, Resolved};
use hyperslab_engine::store::Edit;
use hyperslab_engine::{Address, Error, Result};
use hyperslab_filter::{FilterSpec, Pipeline, Stage};

use crate::known::Known;
use crate::{
    CharacterSet, Dataset, DatasetBuilder, Group, GroupOptions, Link, LinkTarget, Object, ObjectKind,
    ObjectToken,
};

/// The result of following a path by bytes: an object, or a link that leads out of the file.
#[derive(Debug)]
pub enum Found {
    /// An object of the same file.
    Object(Object),
    /// An external link, and the path of the object in the other file.
    External {
        /// The name of the file, as the link stores it.
        file: Vec<u8>,
        /// The path in that file.
        path: Vec<u8>,
        /// The path of the group that has the link, in this file.
        group: Vec<u8>,
    },
    /// A user-defined link, and the rest of the path.
    UserDefined {
        /// The class of the link.
        class: u8,
        /// The value of the link.
        value: Vec<u8>,
        /// The name of the link.
        name: Vec<u8>,
        /// The group that has the link.
        group: Group,
        /// The rest of the path.
        rest: Vec<u8>,
    },
}

/// A view of a group whose methods take names as bytes. A name is the name of one link of the
/// group, and not a path.
#[derive(Debug, Clone, Copy)]
pub struct ByteNames<'a> {
    group: &'a Group,
}

impl Group {
    /// Returns a view of the group whose methods take names as bytes.
    ///
    /// ```
    /// use hyperslab::{CharacterSet, Found, GroupOptions};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let latin = b"M\xfcnchen";
    /// file.by_bytes().create_group(latin, CharacterSet::Ascii, GroupOptions::new())?;
    /// assert!(matches!(file.by_bytes().find(latin)?, Found::Object(_)));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn by_bytes(&self) -> ByteNames<'_> {
        ByteNames { group: self }
    }

    /// Opens the object whose header is at the address `address`, in bytes from the base address of
    /// the file. Such an address comes from an [`ObjectToken`](crate::ObjectToken) or from an
    /// object reference.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let group = file.create_group("group")?;
    /// let same = file.object_at_address(group.token().address())?;
    /// assert_eq!(same.token(), group.token());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if there is no object header at
    /// the address.
    pub fn object_at_address(&self, address: u64) -> Result<Object> {
        let store = &self.file().container.store;
        let token = {
            let _reading = self.file().reading()?;
            ObjectToken::of(store, Address::new(address))
        };
        self.object_at(token)
    }
}

impl<'a> ByteNames<'a> {
    /// Follows a path of bytes along the hard and soft links of this file, and returns the object
    /// at its end. The path ends at the first external or user-defined link.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if a link does not exist, and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the path has more than 16 soft links.
    pub fn find(self, path: &[u8]) -> Result<Found> {
        let file = self.group.file();
        let container = &file.container;
        let _reading = file.reading()?;
        let start = if container.store.is_swmr_reader() {
            Arc::new(ObjectHeader::load(&container.store, self.group.address())?)
        } else {
            self.group.header()?
        };
        Ok(match objects::resolve_from(container, start, path)? {
            Resolved::Object(header) => Found::Object(self.group.found(header, path)?),
            Resolved::External { file, path, group } => Found::External { file, path, group },
            Resolved::UserDefined { class, value, name, group, rest } => {
                let handle = container.store.hold(group)?;
                let group = Object::open_held(Arc::clone(file), handle, self.group.name())?.into_group()?;
                Found::UserDefined { class, value, name, group, rest }
            }
        })
    }

    /// Returns the group's link whose name consists of the bytes `name`, if the link exists.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn link(self, name: &[u8]) -> Result<Option<Link>> {
        self.group.link_of_bytes(name)
    }

    /// Creates a group as a member of this group. The name of the new group is given as bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Group::create_group`].
    pub fn create_group(self, name: &[u8], charset: CharacterSet, options: GroupOptions) -> Result<Group> {
        self.create_filtered_group(name, charset, options, &[])
    }

    /// Creates a group as a member of this group, with filters for its links. They apply when the
    /// links are in dense storage. The name of the new group is given as bytes.
    ///
    /// ```
    /// use hyperslab::filter::FilterSpec;
    /// use hyperslab::{CharacterSet, GroupOptions};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let (names, options) = (file.by_bytes(), GroupOptions::new());
    /// let group = names.create_filtered_group(b"packed", CharacterSet::Ascii, options, &[FilterSpec::deflate(6)])?;
    /// for number in 0..20 {
    ///     group.create_group(&format!("link {number}"))?;
    /// }
    /// assert_eq!(group.link_filters()?, [FilterSpec::deflate(6)]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Group::create_group`].
    pub fn create_filtered_group(
        self,
        name: &[u8],
        charset: CharacterSet,
        options: GroupOptions,
        filters: &[FilterSpec],
    ) -> Result<Group> {
        let pipeline = pipeline_of(filters);
        let made = self.add(name, |edit, parent| {
            self.refuse(edit, parent, name)?;
            let file = self.group.file();
            let made = file.create_filtered_group_deferred(edit, &options.0, &pipeline)?;
            self.insert_at(edit, parent, &link(name, charset, EngineTarget::Hard(made)))?;
            edit.store().hold(made)
        })?;
        Ok(self.group.made_group(made, &String::from_utf8_lossy(name)))
    }

    /// Creates the dataset that `builder` describes as a member of this group, under a name given
    /// as bytes. The builder's path is not used.
    ///
    /// # Errors
    /// Returns the errors of [`DatasetBuilder::create`].
    pub fn create_dataset(
        self,
        name: &[u8],
        charset: CharacterSet,
        builder: DatasetBuilder,
    ) -> Result<Dataset> {
        builder.create_in(self.group, &String::from_utf8_lossy(name), |edit, parent, make| {
            self.refuse(edit, parent, name)?;
            let (made, description) = make(edit)?;
            self.insert_at(edit, parent, &link(name, charset, EngineTarget::Hard(made)))?;
            Ok((made, description))
        })
    }

    /// Creates a link to `target` in the group, under a name given as bytes.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Exists`](crate::ErrorKind::Exists) if the group has a link with this
    /// name, and [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the target of a hard link
    /// was deleted.
    pub fn insert(self, name: &[u8], charset: CharacterSet, target: LinkTarget) -> Result<()> {
        let store = &self.group.file().container.store;
        let (target, object) = match target {
            LinkTarget::Hard(token) => {
                let address = token.check(store)?;
                (EngineTarget::Hard(address), Some(address))
            }
            LinkTarget::Soft(path) => (EngineTarget::Soft(path), None),
            LinkTarget::External { file, path } => (EngineTarget::External { file, path }, None),
            LinkTarget::UserDefined { class, value } => (EngineTarget::UserDefined { class, value }, None),
        };
        let link = link(name, charset, target);
        self.add(name, |edit, parent| match object {
            Some(object) => self.group.file().add_hard_link_deferred(edit, parent, &link, object),
            None => self.insert_at(edit, parent, &link),
        })
    }

    /// Removes the group's link whose name consists of the bytes `name`; see [`Group::remove`].
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the link does not exist.
    pub fn remove(self, name: &[u8]) -> Result<()> {
        self.group.change(
            || format!("cannot remove `{}`", name.escape_ascii()),
            |edit| self.group.file().remove_link(edit, self.group.address(), name),
        )
    }

    /// Moves a link from a name in this group to a name in this or another group of the same file.
    /// The names are bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Group::rename`].
    pub fn rename(self, from: &[u8], target: &Group, to: &[u8], charset: CharacterSet) -> Result<()> {
        if !Arc::ptr_eq(self.group.file(), target.file()) {
            return Err(Error::Misuse("a link cannot move to another file".into()));
        }
        self.group.change(
            || format!("cannot rename `{}` to `{}`", from.escape_ascii(), to.escape_ascii()),
            |edit| {
                let container = &self.group.file().container;
                let (from, to) = ((self.group.address(), from), (target.address(), to));
                groups::move_link(container, edit, from, to, charset)
            },
        )
    }

    fn add<T>(self, name: &[u8], make: impl FnOnce(&mut Edit<'_>, Address) -> Result<T>) -> Result<T> {
        self.group.add_here(|| format!("cannot create `{}`", name.escape_ascii()), make)
    }

    fn refuse(self, edit: &mut Edit<'_>, group: Address, name: &[u8]) -> Result<()> {
        self.group.file().with_links(edit, group, |group, edit| group.refuse(edit, name))
    }

    fn insert_at(self, edit: &mut Edit<'_>, group: Address, link: &EngineLink) -> Result<()> {
        self.group.file().with_links(edit, group, |group, edit| group.insert(edit, link))
    }
}

/// Returns the filter pipeline of the given filters with their client data unchanged.
fn pipeline_of(filters: &[FilterSpec]) -> Pipeline {
    let stage = |filter: &FilterSpec| Stage {
        id: filter.id(),
        flags: filter.flags(),
        name: filter.name().map(str::to_owned),
        client_data: filter.client_data().to_vec(),
    };
    Pipeline::new(filters.iter().map(stage).collect())
}

impl Group {
    /// Returns the filters for the group's links in dense storage.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the group is damaged.
    pub fn link_filters(&self) -> Result<Vec<FilterSpec>> {
        let (header, _reading) = self.header_held()?;
        Ok(crate::repack::specs_of(&groups::link_filters(&self.file().container, &header)?))
    }

    /// Returns the object found at the end of a path. `header` is the header of the object. The
    /// caller holds shared access to the structure of the file.
    fn found(&self, header: Arc<ObjectHeader>, path: &[u8]) -> Result<Object> {
        let handle = self.file().container.store.hold(header.address())?;
        let kind = ObjectKind::of(&header);
        let header = Known::new(self.file(), header);
        Ok(Object::of_parts(self, handle, header, kind, &String::from_utf8_lossy(path)))
    }
}

fn link(name: &[u8], charset: CharacterSet, target: EngineTarget) -> EngineLink {
    EngineLink { name: name.to_vec(), charset, creation_order: None, target }
}
