//! What all objects have: a place, a kind, attributes, a comment.

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
use crate::{Attribute, CreationOrder, Dataset, Datatype, File, Group, PhaseChange};

pub use hyperslab_engine::ops::objects::ObjectKind;

/// What tells an object from all others of its file: where its header lies. A token does not keep its object in the file:
/// once that is deleted, the token leads to nothing, even if another object has its header there by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectToken {
    address: u64,
    /// Which one it is of the objects that had their headers there since the file was opened.
    life: u64,
}

impl ObjectToken {
    /// The token of the object that is at an address now.
    pub(crate) fn of(store: &Store, address: Address) -> Self {
        Self::as_of(store, address, store.deletions())
    }

    /// The token of the object that was at an address after so many deletions.
    pub(crate) fn as_of(store: &Store, address: Address, deletions: u64) -> Self {
        Self { address: address.raw(), life: store.life_of(address, deletions) }
    }

    /// The token of an object of another file.
    pub(crate) fn elsewhere(address: Address) -> Self {
        Self { address: address.raw(), life: 0 }
    }

    /// A handle of the object, taken under [`Reading`].
    pub(crate) fn hold(self, store: &Store) -> Result<ObjectHandle> {
        store.hold_known(Address::new(self.address), self.life)
    }

    /// The address for the engine, if the object is there.
    pub(crate) fn check(self, store: &Store) -> Result<Address> {
        let address = Address::new(self.address);
        store.check_life(address, self.life).map(|()| address)
    }

    /// Where the object's header lies, in bytes from the file's base address.
    pub fn address(self) -> u64 {
        self.address
    }
}

impl fmt::Display for ObjectToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object at {:#x}", self.address)
    }
}

/// An object of any kind.
///
/// An object lives until its last link is removed and its last handle is dropped: see [`Group::remove`].
#[derive(Clone)]
pub struct Object {
    handle: ObjectHandle,
    file: Arc<OpenFile>,
    header: Arc<RwLock<Known<ObjectHeader>>>,
    /// What it is, which does not change.
    kind: Option<ObjectKind>,
    name: Arc<str>,
}

/// What was read of a file that may be changed, and after which change.
pub(crate) struct Known<T> {
    generation: u64,
    /// `None` before it is read for the first time.
    value: Option<Arc<T>>,
}

impl<T> Known<T> {
    /// What was read of the file as it is now.
    pub(crate) fn new(file: &OpenFile, value: Arc<T>) -> Arc<RwLock<Self>> {
        let generation = file.container.store.generation();
        Arc::new(RwLock::new(Self { generation, value: Some(value) }))
    }

    /// Nothing yet.
    pub(crate) fn nothing() -> Arc<RwLock<Self>> {
        Arc::new(RwLock::new(Self { generation: 0, value: None }))
    }

    /// Lets it be read again when it is asked for next.
    pub(crate) fn forget(this: &RwLock<Self>) {
        this.write().value = None;
    }

    /// What was known last, whether it is still true or not; `None` if that cannot be said at once.
    pub(crate) fn last(this: &RwLock<Self>) -> Option<Arc<T>> {
        this.try_read().and_then(|known| known.value.clone())
    }

    /// What is known, or, where the file was changed since, what `read` gives.
    pub(crate) fn get(
        this: &RwLock<Self>,
        file: &OpenFile,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let _reading = file.reading()?;
        Self::get_held(this, file, read)
    }

    /// As [`get`](Self::get), for those who hold the file already.
    pub(crate) fn get_held(
        this: &RwLock<Self>,
        file: &OpenFile,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let generation = file.container.store.generation();
        {
            let known = this.read();
            if let Some(value) = &known.value
                && known.generation == generation
            {
                return Ok(Arc::clone(value));
            }
        }
        let value = Arc::new(read()?);
        *this.write() = Self { generation, value: Some(Arc::clone(&value)) };
        Ok(value)
    }
}

impl Object {
    /// The object that has its header at an address to which a link leads.
    pub(crate) fn open(file: Arc<OpenFile>, address: Address, name: &str) -> Result<Self> {
        let known = Arc::clone(&file);
        let _reading = known.reading()?;
        let handle = file.container.store.hold(address)?;
        Self::open_held(file, handle, name)
    }

    /// The object with that token.
    pub(crate) fn open_token(file: Arc<OpenFile>, token: ObjectToken, name: &str) -> Result<Self> {
        let known = Arc::clone(&file);
        let _reading = known.reading()?;
        let handle = token.hold(&file.container.store)?;
        Self::open_held(file, handle, name)
    }

    /// The object of a handle.
    pub(crate) fn open_held(file: Arc<OpenFile>, handle: ObjectHandle, name: &str) -> Result<Self> {
        let known = Arc::clone(&file);
        let _reading = known.reading()?;
        let header = ObjectHeader::load(&file.container.store, handle.address())?;
        let kind = ObjectKind::of(&header);
        let header = Known::new(&file, Arc::new(header));
        Ok(Self { handle, file, header, kind, name: name.into() })
    }

    /// Lets the header be read again.
    pub(crate) fn forget_header(&self) {
        Known::forget(&self.header);
    }

    /// An object of this file that was made just now, at that path from this one.
    pub(crate) fn made(&self, handle: ObjectHandle, kind: ObjectKind, path: &str) -> Self {
        let (file, name) = (Arc::clone(&self.file), self.name_of(path).into());
        Self { handle, file, header: Known::nothing(), kind: Some(kind), name }
    }

    /// As [`made`](Self::made), of an object whose header is read.
    pub(crate) fn open_made(&self, handle: ObjectHandle, path: &str) -> Result<Self> {
        Self::open_held(Arc::clone(&self.file), handle, &self.name_of(path))
    }

    /// The name of what is at that path from this object.
    fn name_of(&self, path: &str) -> String {
        match path.strip_prefix('/') {
            Some(absolute) => format!("/{}", absolute.trim_end_matches('/')),
            None => format!("{}/{}", self.name.trim_end_matches('/'), path.trim_end_matches('/')),
        }
    }

    /// Follows a path from this object, which is a group.
    pub(crate) fn follow(&self, path: &str) -> Result<Self> {
        let whole = || format!("cannot open `{path}`");
        let _reading = self.file.reading()?;
        let container = &self.file.container;
        // Somebody who writes meanwhile may have changed the header that is known.
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
            objects::Resolved::External { file, path } => {
                self.follow_out(&file, &path).map_err(|error| error.context(whole()))
            }
        }
    }

    /// Follows an external link.
    fn follow_out(&self, file: &[u8], path: &[u8]) -> Result<Self> {
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

    /// The object's header as it is now.
    pub(crate) fn header(&self) -> Result<Arc<ObjectHeader>> {
        let load = || {
            self.handle.check()?;
            ObjectHeader::load(&self.file.container.store, self.address())
        };
        Known::get(&self.header, &self.file, load).map_err(|error| error.context(format!("`{}`", self.name)))
    }

    /// The object's header as it is, and stays while the second value lives.
    pub(crate) fn header_held(&self) -> Result<(Arc<ObjectHeader>, Reading<'_>)> {
        let reading = self.file.reading()?;
        Ok((self.header()?, reading))
    }

    /// Where the header lies.
    pub(crate) fn address(&self) -> Address {
        self.handle.address()
    }

    /// What keeps the object in the file.
    pub(crate) fn handle(&self) -> &ObjectHandle {
        &self.handle
    }

    /// The path by which the object was opened; `/` for the root group.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What tells the object from all others of its file.
    pub fn token(&self) -> ObjectToken {
        ObjectToken { address: self.address().raw(), life: self.handle.life() }
    }

    /// What the object is; `None` if its header makes no object that is known.
    pub fn kind(&self) -> Option<ObjectKind> {
        self.kind
    }

    /// The object as a group.
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind) if it is something else.
    pub fn into_group(self) -> Result<Group> {
        Group::new(self)
    }

    /// The object as a dataset.
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind) if it is something else.
    pub fn into_dataset(self) -> Result<Dataset> {
        Dataset::new(self)
    }

    /// The object as a committed datatype.
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind) if it is something else.
    pub fn into_datatype(self) -> Result<CommittedDatatype> {
        CommittedDatatype::new(self)
    }

    pub(crate) fn expect(&self, wanted: ObjectKind) -> Result<()> {
        match self.kind() {
            Some(kind) if kind == wanted => Ok(()),
            other => {
                let is = other.map_or("an object of unknown kind", ObjectKind::name);
                Err(Error::Misuse(format!("`{}` is not a {} but {is}", self.name, wanted.name())))
            }
        }
    }

    /// The file that the object is in: another one than it was opened from, if an external link (HDF5 File
    /// Format Specification, IV.A.2.g) led to it. References in the object name objects of that file.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
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
    /// If the root group of that file is damaged.
    pub fn containing_file(&self) -> Result<File> {
        File::of_open(Arc::clone(&self.file))
    }

    /// Number of hard links to the object.
    ///
    /// # Errors
    /// If the header is damaged.
    pub fn link_count(&self) -> Result<u32> {
        self.header()?.reference_count(&self.file.container.store)
    }

    /// The comment on the object, as the bytes in the file.
    ///
    /// # Errors
    /// If the header is damaged.
    pub fn comment(&self) -> Result<Option<Vec<u8>>> {
        let (header, _reading) = self.header_held()?;
        objects::comment(&self.file.container, &header)
    }

    /// When the object was last changed, in seconds since 1970-01-01 UTC, where the file says so.
    ///
    /// # Errors
    /// If the header is damaged.
    pub fn modified(&self) -> Result<Option<i64>> {
        let (header, _reading) = self.header_held()?;
        objects::modification_time(&self.file.container, &header)
    }

    /// How the object's header is stored.
    ///
    /// # Errors
    /// If the header is damaged.
    pub fn header_info(&self) -> Result<HeaderInfo> {
        Ok(HeaderInfo::of(&*self.header()?))
    }

    /// Returns the record that the object keeps of the order in which its attributes were created.
    ///
    /// # Errors
    /// An error if the header is damaged.
    pub fn attribute_order(&self) -> Result<CreationOrder> {
        let (tracked, indexed) = HeaderInfo::attribute_order(&*self.header()?);
        Ok(CreationOrder::of(tracked, indexed))
    }

    /// Returns the numbers of attributes at which their storage changes. Headers of version 1 do not state them, and keep
    /// all attributes.
    ///
    /// # Errors
    /// An error if the header is damaged.
    pub fn attribute_phase_change(&self) -> Result<PhaseChange> {
        let change = self.header()?.attribute_phase_change();
        Ok(PhaseChange { max_compact: change.max_compact, min_dense: change.min_dense })
    }

    /// Returns whether the header keeps the times of its creation and changes.
    ///
    /// # Errors
    /// If the header is damaged.
    pub fn tracks_times(&self) -> Result<bool> {
        Ok(self.header()?.tracks_times())
    }

    /// All attributes, in ascending order of their names' bytes.
    ///
    /// # Errors
    /// If the header or the heap of the attributes is damaged.
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

    /// The names of all attributes, sorted; bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// As [`attributes`](Self::attributes).
    pub fn attribute_names(&self) -> Result<Vec<String>> {
        Ok(self.attributes()?.iter().map(Attribute::name).collect())
    }

    /// The attribute of that name.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind) if there is none.
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
            None => Err(Error::NotFound { what: "attribute", name: objects::lossy(name) }
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

/// A committed datatype.
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

    /// The type.
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
