//! Objects of any kind: address, kind, attributes, comment.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::attributes;
use hyperslab_engine::ops::objects::{self, ObjectHeader};
use hyperslab_engine::store::{ObjectHandle, Reading, Store};
use hyperslab_engine::{Address, Error, Result};
use parking_lot::RwLock;

use crate::info::HeaderInfo;
use crate::known::Known;
use crate::{Attribute, CreationOrder, Dataset, Datatype, File, Group, PhaseChange};

pub use hyperslab_engine::ops::objects::{HeaderSizes, IndexBytes, ObjectKind};

/// The identity of an object within a file: the address of its object header. A token does not keep
/// the object open. The token of a deleted object is invalid, even if another object has its header
/// at the same address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectToken {
    address: u64,
    /// The number of the object among all objects whose header was at this address since the file
    /// was opened.
    life: u64,
}

impl ObjectToken {
    /// Returns the token of the object whose header is currently at the address `address`.
    pub(crate) fn of(store: &Store, address: Address) -> Self {
        Self::as_of(store, address, store.deletions())
    }

    /// Returns the token of an object whose header was at the address `address` at an earlier time.
    /// `deletions` states the time: the number of objects of the file that had been deleted until
    /// then.
    pub(crate) fn as_of(store: &Store, address: Address, deletions: u64) -> Self {
        Self { address: address.raw(), life: store.life_of(address, deletions) }
    }

    /// Returns the token of an object of another file, from the address of the object header.
    pub(crate) fn in_other_file(address: Address) -> Self {
        Self { address: address.raw(), life: 0 }
    }

    /// Returns a handle that keeps the object of the token open. The caller holds shared access to
    /// the structure of the file ([`Reading`]).
    pub(crate) fn hold(self, store: &Store) -> Result<ObjectHandle> {
        store.hold_known(Address::new(self.address), self.life)
    }

    /// Returns the address of the token's object header. Returns an error if the object was
    /// deleted.
    pub(crate) fn check(self, store: &Store) -> Result<Address> {
        let address = Address::new(self.address);
        store.check_life(address, self.life).map(|()| address)
    }

    /// Returns the address of the token's object header, in bytes from the base address of the
    /// file.
    pub fn address(self) -> u64 {
        self.address
    }
}

impl fmt::Display for ObjectToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object at {:#x}", self.address)
    }
}

/// A handle of an object of a file: a group, a dataset or a committed datatype.
///
/// An object is deleted when its last link is removed and its last handle is dropped: see
/// [`Group::remove`].
///
/// ```
/// use hyperslab::{FileOptions, ObjectKind};
/// let file = FileOptions::new().create_in_memory()?;
/// file.new_dataset("a").write(&[1.5, 2.5])?;
/// let object = file.object("a")?;
/// assert_eq!(object.kind(), Some(ObjectKind::Dataset));
/// assert_eq!(object.into_dataset()?.shape(), [2]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Object {
    handle: ObjectHandle,
    file: Arc<OpenFile>,
    header: Arc<RwLock<Known<ObjectHeader>>>,
    /// The kind, which never changes.
    kind: Option<ObjectKind>,
    name: Arc<str>,
}

impl Object {
    /// Opens the object of the file `file` whose header is at the address `address`. `name` is the
    /// path of the object.
    pub(crate) fn open(file: Arc<OpenFile>, address: Address, name: &str) -> Result<Self> {
        let known = Arc::clone(&file);
        let _reading = known.reading()?;
        let handle = file.container.store.hold(address)?;
        Self::open_held(file, handle, name)
    }

    /// Opens the object of the file `file` that the token `token` identifies. `name` is the path of
    /// the object.
    pub(crate) fn open_token(file: Arc<OpenFile>, token: ObjectToken, name: &str) -> Result<Self> {
        let known = Arc::clone(&file);
        let _reading = known.reading()?;
        let handle = token.hold(&file.container.store)?;
        Self::open_held(file, handle, name)
    }

    /// Opens an object that a handle of the engine already keeps open.
    pub(crate) fn open_held(file: Arc<OpenFile>, handle: ObjectHandle, name: &str) -> Result<Self> {
        let known = Arc::clone(&file);
        let _reading = known.reading()?;
        let header = ObjectHeader::load(&file.container.store, handle.address())?;
        let kind = ObjectKind::of(&header);
        let header = Known::new(&file, Arc::new(header));
        Ok(Self { handle, file, header, kind, name: name.into() })
    }

    /// Removes the cached object header, so that the next use reads the header again.
    pub(crate) fn forget_header(&self) {
        Known::forget(&self.header);
    }

    /// Returns an object from its handle and its object header. `path` is the path of the object
    /// relative to `group`.
    pub(crate) fn of_parts(
        group: &Group,
        handle: ObjectHandle,
        header: Arc<RwLock<Known<ObjectHeader>>>,
        kind: Option<ObjectKind>,
        path: &str,
    ) -> Self {
        let (file, name) = (Arc::clone(group.file()), group.name_of(path).into());
        Self { handle, file, header, kind, name }
    }

    /// Returns an object that was just created at `path`, relative to this object. The object
    /// header is not read.
    pub(crate) fn made(&self, handle: ObjectHandle, kind: ObjectKind, path: &str) -> Self {
        let (file, name) = (Arc::clone(&self.file), self.name_of(path).into());
        Self { handle, file, header: Known::nothing(), kind: Some(kind), name }
    }

    /// Opens an object that was just created at `path`, relative to this object, and reads the
    /// object header.
    pub(crate) fn open_made(&self, handle: ObjectHandle, path: &str) -> Result<Self> {
        Self::open_held(Arc::clone(&self.file), handle, &self.name_of(path))
    }

    /// Returns the full path of the object at `path`, relative to this object.
    fn name_of(&self, path: &str) -> String {
        match path.strip_prefix('/') {
            Some(absolute) => format!("/{}", absolute.trim_end_matches('/')),
            None => format!("{}/{}", self.name.trim_end_matches('/'), path.trim_end_matches('/')),
        }
    }

    /// Opens the object at a path relative to this group. Follows soft and external links.
    pub(crate) fn follow(&self, path: &str) -> Result<Self> {
        let whole = || format!("cannot open `{path}`");
        let _reading = self.file.reading()?;
        let container = &self.file.container;
        // A SWMR writer may have changed the header since it was read.
        let found = if container.store.is_swmr_reader() {
            objects::resolve(container, self.address(), path.as_bytes())
        } else {
            self.header().and_then(|header| objects::resolve_from(container, header, path.as_bytes()))
        };
        match found.map_err(|error| error.context(whole()))? {
            objects::Resolved::Object(header) => {
                let (file, name) = (Arc::clone(&self.file), self.name_of(path).into());
                let handle =
                    container.store.hold(header.address()).map_err(|error| error.context(whole()))?;
                let kind = ObjectKind::of(&header);
                let header = Known::new(&file, header);
                Ok(Self { handle, file, header, kind, name })
            }
            objects::Resolved::External { file, path, .. } => {
                self.follow_external(&file, &path).map_err(|error| error.context(whole()))
            }
            objects::Resolved::UserDefined { class, name, .. } => {
                Err(objects::user_defined(class, &name).context(whole()))
            }
        }
    }

    /// Opens the target of an external link: the object at `path` of the file named `file`.
    fn follow_external(&self, file: &[u8], path: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(path).map_err(|_| {
            Error::unsupported(format!("the external path `{}`, which is not UTF-8", path.escape_ascii()))
        })?;
        let other = self.file.other(file).map_err(|error| {
            error.context(format!("external link to `{text}` in `{}`", String::from_utf8_lossy(file)))
        })?;
        let root = other.root();
        Self::open(other, root, "/")?.follow(text)
    }

    pub(crate) fn file(&self) -> &Arc<OpenFile> {
        &self.file
    }

    /// Returns the current object header. Reads the header again if the file has changed.
    pub(crate) fn header(&self) -> Result<Arc<ObjectHeader>> {
        let load = || {
            self.handle.check()?;
            ObjectHeader::load(&self.file.container.store, self.address())
        };
        Known::get(&self.header, &self.file, load).map_err(|error| error.context(format!("`{}`", self.name)))
    }

    /// Returns the current object header, and a lock that keeps the object header unchanged.
    pub(crate) fn header_held(&self) -> Result<(Arc<ObjectHeader>, Reading<'_>)> {
        let reading = self.file.reading()?;
        Ok((self.header()?, reading))
    }

    /// Returns the address of the object header.
    pub(crate) fn address(&self) -> Address {
        self.handle.address()
    }

    /// Returns the engine's handle that keeps the object open.
    pub(crate) fn handle(&self) -> &ObjectHandle {
        &self.handle
    }

    /// Returns the path by which the object was opened; `/` for the root group.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the token of the object, which identifies the object within its file.
    pub fn token(&self) -> ObjectToken {
        ObjectToken { address: self.address().raw(), life: self.handle.life() }
    }

    /// Returns the kind of the object: group, dataset or committed datatype. Returns `None` for an
    /// object of no known kind.
    pub fn kind(&self) -> Option<ObjectKind> {
        self.kind
    }

    /// Returns the object as a group, or an error if the object has another kind.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the object is not a group.
    pub fn into_group(self) -> Result<Group> {
        Group::new(self)
    }

    /// Returns the object as a dataset, or an error if the object has another kind.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the object is not a dataset.
    pub fn into_dataset(self) -> Result<Dataset> {
        Dataset::new(self)
    }

    /// Returns the object as a committed datatype, or an error if the object has another kind.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the object is not a committed
    /// datatype.
    pub fn into_datatype(self) -> Result<CommittedDatatype> {
        CommittedDatatype::new(self)
    }

    pub(crate) fn expect(&self, wanted: ObjectKind) -> Result<()> {
        match self.kind() {
            Some(kind) if kind == wanted => Ok(()),
            other => {
                let is = other.map_or("an object of unknown kind", ObjectKind::name);
                Err(Error::Misuse(format!("the object `{}` is not a {} but {is}", self.name, wanted.name())))
            }
        }
    }

    /// Returns the file that contains the object. If the path of the object contains an external
    /// link (HDF5 File Format Specification, IV.A.2.g), this is the file to which the link leads.
    /// References in the object refer to objects of this file.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let other = hyperslab::File::create(folder.path().join("other.h5"))?;
    /// other.create_group("inside/deep")?;
    /// other.close()?;
    /// let file = hyperslab::File::create(folder.path().join("file.h5"))?;
    /// file.link_external("link", "other.h5", "/inside")?;
    /// assert_eq!(file.object("link")?.containing_file()?.member_names()?, ["inside"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the root group of the file is damaged.
    pub fn containing_file(&self) -> Result<File> {
        File::of_open(Arc::clone(&self.file))
    }

    /// Returns the number of hard links to the object.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the object header is damaged.
    pub fn link_count(&self) -> Result<u32> {
        self.header()?.reference_count(&self.file.container.store)
    }

    /// Returns the bytes of the object's comment, if the object has one.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the object header is damaged.
    pub fn comment(&self) -> Result<Option<Vec<u8>>> {
        let (header, _reading) = self.header_held()?;
        objects::comment(&self.file.container, &header)
    }

    /// Returns the time of the object's last change in seconds since 1970-01-01 UTC, if the object
    /// header stores this time.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the object header is damaged.
    pub fn modified(&self) -> Result<Option<i64>> {
        let (header, _reading) = self.header_held()?;
        objects::modification_time(&self.file.container, &header)
    }

    /// Returns the description of the object header in the file: its version, its flags, its number
    /// of messages, and its number of blocks.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the object header is damaged.
    pub fn header_info(&self) -> Result<HeaderInfo> {
        Ok(HeaderInfo::of(&*self.header()?))
    }

    /// Returns the sizes of the parts of the object header in bytes.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let sizes = file.new_dataset("a").write(&[1.5, 2.5])?.header_sizes()?;
    /// assert_eq!(sizes.total, sizes.metadata + sizes.messages + sizes.free);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the object header is damaged.
    pub fn header_sizes(&self) -> Result<HeaderSizes> {
        self.header()?.sizes()
    }

    /// Returns the sizes of the object's indexes and heaps in the file: for its links, or its
    /// chunks, external files and virtual mappings; and for its attributes.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let (own, _) = file.new_dataset("a").chunks(&[10]).write(&[1_u8; 100])?.index_bytes()?;
    /// assert_eq!(own.heap, 0);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if a part of the object is damaged.
    pub fn index_bytes(&self) -> Result<(IndexBytes, IndexBytes)> {
        let (header, _reading) = self.header_held()?;
        objects::index_bytes(&self.file.container, &header)
    }

    /// Returns the object's tracking of the order in which its attributes are created: not tracked,
    /// tracked, or tracked and indexed.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the object header is damaged.
    pub fn attribute_order(&self) -> Result<CreationOrder> {
        let (tracked, indexed) = HeaderInfo::attribute_order(&*self.header()?);
        Ok(CreationOrder::of(tracked, indexed))
    }

    /// Returns the limits for the number of attributes at which the object changes between compact
    /// and dense storage. Object headers of version 1 hold all attributes and do not store these
    /// numbers.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the object header is damaged.
    pub fn attribute_phase_change(&self) -> Result<PhaseChange> {
        let change = self.header()?.attribute_phase_change();
        Ok(PhaseChange { max_compact: change.max_compact, min_dense: change.min_dense })
    }

    /// Returns `true` if the object header stores the times of creation, access and change.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the object header is damaged.
    pub fn tracks_times(&self) -> Result<bool> {
        Ok(self.header()?.tracks_times())
    }

    /// Returns all attributes of the object, in ascending order of the bytes of their names.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the object header or the dense attribute
    /// storage is damaged.
    pub fn attributes(&self) -> Result<Vec<Attribute>> {
        let _reading = self.file.reading()?;
        let mut found = Vec::new();
        let header = self.header()?;
        attributes::for_each(&self.file.container, &header, &mut |attribute| {
            found.push(attribute);
            Ok(ControlFlow::Continue(()))
        })
        .map_err(|error| error.context(format!("attributes of `{}`", self.name)))?;
        objects::sort_by_name(&mut found, |attribute| attribute.name());
        let owner = Arc::new(self.clone());
        Ok(found.into_iter().map(|attribute| Attribute::new(Arc::clone(&owner), attribute)).collect())
    }

    /// Returns the names of all attributes of the object, in ascending order of their bytes. Bytes
    /// that are not UTF-8 are replaced by U+FFFD.
    ///
    /// # Errors
    /// Returns the errors of [`attributes`](Self::attributes).
    pub fn attribute_names(&self) -> Result<Vec<String>> {
        Ok(self.attributes()?.iter().map(Attribute::name).collect())
    }

    /// Returns the object's attribute with the name `name`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the attribute does not exist.
    pub fn attribute(&self, name: &str) -> Result<Attribute> {
        self.attribute_of_bytes(name.as_bytes())
    }

    pub(crate) fn attribute_of_bytes(&self, name: &[u8]) -> Result<Attribute> {
        let _reading = self.file.reading()?;
        let header = self.header()?;
        let found = attributes::find(&self.file.container, &header, name)
            .map_err(|error| error.context(format!("attributes of `{}`", self.name)))?;
        match found {
            Some(attribute) => Ok(Attribute::new(Arc::new(self.clone()), attribute)),
            None => Err(Error::NotFound { subject: "attribute", name: objects::lossy(name) }
                .context(format!("attributes of `{}`", self.name))),
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Some(ObjectKind::Group) => "Group",
            Some(ObjectKind::Dataset) => "Dataset",
            Some(_) => "CommittedDatatype",
            None => "Object",
        };
        f.debug_struct(kind)
            .field("path", &self.name)
            .field("file", &self.file.container.store.name())
            .finish_non_exhaustive()
    }
}

/// A handle of a committed datatype: a datatype with a name in the file. See
/// [`Group::commit_datatype`] for an example.
#[derive(Debug, Clone)]
pub struct CommittedDatatype {
    object: Object,
    datatype: Datatype,
}

impl CommittedDatatype {
    fn new(object: Object) -> Result<Self> {
        object.expect(ObjectKind::Datatype)?;
        let datatype = {
            let (header, _reading) = object.header_held()?;
            objects::committed_datatype(&object.file.container, &header)?
        };
        Ok(Self { object, datatype })
    }

    /// Returns the datatype that the committed datatype object holds.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }
}

impl std::ops::Deref for CommittedDatatype {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.object
    }
}
