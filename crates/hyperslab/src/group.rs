//! Groups and the links in them.

use std::fmt;
use std::ops::{ControlFlow, Deref};
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::groups::{
    self, Link as EngineLink, LinkTarget as EngineTarget, LinkView, TargetView,
};
use hyperslab_engine::store::{ObjectHandle, Store};
use hyperslab_engine::{Address, Result};

use crate::{
    CharacterSet, CommittedDatatype, CreationOrder, Dataset, EstimatedLinks, Object, ObjectKind, ObjectToken,
    PhaseChange,
};

/// A group: links by name.
#[derive(Clone)]
pub struct Group {
    object: Object,
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object.fmt(f)
    }
}

/// How a group keeps its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupStorage {
    /// In a symbol table (files of the oldest format).
    SymbolTable,
    /// In the object header.
    Compact,
    /// In a heap with an index.
    Dense,
}

/// A name in a group, and what it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The name, as the bytes in the file.
    pub name: Vec<u8>,
    /// How the name is encoded.
    pub charset: CharacterSet,
    /// When it was created among the links of its group, where that is tracked.
    pub creation_order: Option<u64>,
    /// What it leads to.
    pub target: LinkTarget,
}

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkTarget {
    /// An object of this file.
    Hard(ObjectToken),
    /// A path in this file.
    Soft(Vec<u8>),
    /// An object in another file.
    External {
        /// Name of the file.
        file: Vec<u8>,
        /// Path in that file.
        path: Vec<u8>,
    },
    /// A link of a class that an application defined.
    UserDefined {
        /// The class, 65 to 255.
        class: u8,
        /// Its value.
        value: Vec<u8>,
    },
}

/// A link that is seen where it was read; see [`Group::visit_links`].
#[derive(Clone, Copy)]
pub struct LinkRef<'a> {
    view: LinkView<'a>,
    store: &'a Store,
    /// How many objects were deleted when the link was found.
    deletions: u64,
}

impl LinkRef<'_> {
    /// The name, as the bytes in the file.
    pub fn name(&self) -> &[u8] {
        self.view.name
    }

    /// How the name is encoded.
    pub fn charset(&self) -> CharacterSet {
        self.view.charset
    }

    /// When it was created among the links of its group, where that is tracked.
    pub fn creation_order(&self) -> Option<u64> {
        self.view.creation_order
    }

    /// The object of this file that a hard link leads to.
    pub fn hard(&self) -> Option<ObjectToken> {
        match self.view.target {
            TargetView::Hard(address) => Some(ObjectToken::as_of(self.store, address, self.deletions)),
            _ => None,
        }
    }

    /// The link with a name and a target of its own.
    pub fn to_link(&self) -> Link {
        Link::new(self.view.to_link(), |address| ObjectToken::as_of(self.store, address, self.deletions))
    }
}

impl PartialEq for LinkRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.view == other.view && self.hard() == other.hard()
    }
}

impl Eq for LinkRef<'_> {}

impl fmt::Debug for LinkRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LinkRef").field(&self.view).finish()
    }
}

impl Link {
    fn new(link: EngineLink, token: impl FnOnce(Address) -> ObjectToken) -> Self {
        let target = match link.target {
            EngineTarget::Hard(address) => LinkTarget::Hard(token(address)),
            EngineTarget::Soft(path) => LinkTarget::Soft(path),
            EngineTarget::External { file, path } => LinkTarget::External { file, path },
            EngineTarget::UserDefined { class, value } => LinkTarget::UserDefined { class, value },
        };
        Self { name: link.name, charset: link.charset, creation_order: link.creation_order, target }
    }

    /// The name, with bytes that are not UTF-8 replaced.
    pub fn name_lossy(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }
}

impl Group {
    pub(crate) fn new(object: Object) -> Result<Self> {
        object.expect(ObjectKind::Group)?;
        Ok(Self { object })
    }

    /// A group in this one that was made just now.
    pub(crate) fn made_group(&self, handle: ObjectHandle, path: &str) -> Self {
        Self { object: self.object.made(handle, ObjectKind::Group, path) }
    }

    pub(crate) fn file(&self) -> &Arc<OpenFile> {
        self.object.file()
    }

    /// The links, in ascending order of their names' bytes.
    ///
    /// # Errors
    /// If the group is damaged.
    pub fn links(&self) -> Result<Vec<Link>> {
        let mut links = Vec::new();
        self.visit_links(|link| {
            links.push(link.to_link());
            ControlFlow::Continue(())
        })?;
        Ok(links)
    }

    /// Calls `visit` for each link, in ascending order of their names' bytes, until it breaks. In groups of many links that is
    /// faster than [`Group::links`], which copies each name.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// # use hyperslab::FileOptions;
    /// # let file = FileOptions::new().create_in_memory()?;
    /// # for name in ["one", "three", "two"] { file.create_group(name)?; }
    /// let mut first = None;
    /// file.visit_links(|link| {
    ///     if !link.name().starts_with(b"t") {
    ///         return ControlFlow::Continue(());
    ///     }
    ///     first = Some(link.to_link());
    ///     ControlFlow::Break(())
    /// })?;
    /// assert_eq!(first.unwrap().name, b"three");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the group is damaged; then `visit` is not called.
    pub fn visit_links(&self, mut visit: impl FnMut(LinkRef<'_>) -> ControlFlow<()>) -> Result<()> {
        let (header, reading) = self.object.header_held()?;
        let container = &self.file().container;
        let (store, deletions) = (&container.store, container.store.deletions());
        let mut visit = |link: &LinkView<'_>| visit(LinkRef { view: *link, store, deletions });
        groups::visit_in_order(container, &header, reading, &mut visit)
            .map_err(|error| error.context(format!("links of `{}`", self.name())))
    }

    /// The link of that name in this group, if there is one. Paths are not followed.
    ///
    /// # Errors
    /// If the group is damaged.
    pub fn link(&self, name: &str) -> Result<Option<Link>> {
        let (header, _reading) = self.object.header_held()?;
        let container = &self.file().container;
        let found = groups::find_link(container, &header, name.as_bytes())?;
        Ok(found.map(|link| Link::new(link, |address| ObjectToken::of(&container.store, address))))
    }

    /// Returns whether there is a link of that name in this group.
    ///
    /// # Errors
    /// If the group is damaged.
    pub fn link_exists(&self, name: &str) -> Result<bool> {
        Ok(self.link(name)?.is_some())
    }

    /// The names of the links, sorted; bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// If the group is damaged.
    pub fn member_names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        self.visit_links(|link| {
            names.push(String::from_utf8_lossy(link.name()).into_owned());
            ControlFlow::Continue(())
        })?;
        Ok(names)
    }

    /// The number of links.
    ///
    /// # Errors
    /// If the group is damaged.
    pub fn len(&self) -> Result<usize> {
        let (header, _reading) = self.object.header_held()?;
        let count = groups::count_links(&self.file().container, &header)?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Returns whether there are no links.
    ///
    /// # Errors
    /// If the group is damaged.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// How the group keeps its links.
    ///
    /// # Errors
    /// If the group is damaged.
    pub fn storage(&self) -> Result<GroupStorage> {
        let (header, _reading) = self.object.header_held()?;
        Ok(match groups::GroupStorage::of(&self.file().container, &header)? {
            groups::GroupStorage::SymbolTable(_) => GroupStorage::SymbolTable,
            groups::GroupStorage::Compact(_) => GroupStorage::Compact,
            groups::GroupStorage::Dense(_) => GroupStorage::Dense,
        })
    }

    /// Returns the record that the group keeps of the order in which its links were created.
    ///
    /// # Errors
    /// An error if the group is damaged.
    pub fn link_order(&self) -> Result<CreationOrder> {
        let (header, _reading) = self.object.header_held()?;
        let storage = groups::GroupStorage::of(&self.file().container, &header)?;
        let info = storage.link_info();
        Ok(CreationOrder::of(
            info.is_some_and(|info| info.max_creation_index.is_some()),
            info.is_some_and(|info| info.creation_order_index.is_some()),
        ))
    }

    /// Returns the numbers of links at which their storage changes.
    ///
    /// # Errors
    /// An error if the group is damaged.
    pub fn link_phase_change(&self) -> Result<PhaseChange> {
        let (header, _reading) = self.object.header_held()?;
        let change = groups::phase_change(&self.file().container, &header)?;
        Ok(PhaseChange { max_compact: change.max_compact, min_dense: change.min_dense })
    }

    /// Returns the links that the group was made for.
    ///
    /// # Errors
    /// An error if the group is damaged.
    pub fn estimated_links(&self) -> Result<EstimatedLinks> {
        let (header, _reading) = self.object.header_held()?;
        let estimated = groups::estimated(&self.file().container, &header)?;
        Ok(EstimatedLinks { count: estimated.count, name_length: estimated.name_length })
    }

    /// The object at a path, from this group or, with a leading `/`, from the root group. Soft links are
    /// followed.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind) if a name of the path is missing.
    pub fn object(&self, path: &str) -> Result<Object> {
        self.object.follow(path)
    }

    /// The object with that token in the group's file, whatever its paths are. Behind an external link that is another
    /// file than the one with the link.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let series = hyperslab::File::open(path)?.group("series")?;
    /// for link in series.links()? {
    ///     if let hyperslab::LinkTarget::Hard(token) = link.target {
    ///         assert_eq!(series.object_at(token)?.token(), token);
    ///     }
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no object. [`ErrorKind::NotFound`](crate::ErrorKind) if it was deleted.
    pub fn object_at(&self, token: ObjectToken) -> Result<Object> {
        Object::open_token(Arc::clone(self.file()), token, &token.to_string())
    }

    /// The group at a path.
    ///
    /// # Errors
    /// As [`object`](Self::object), and if the object is no group.
    pub fn group(&self, path: &str) -> Result<Self> {
        self.object(path)?.into_group()
    }

    /// The dataset at a path.
    ///
    /// # Errors
    /// As [`object`](Self::object), and if the object is no dataset.
    pub fn dataset(&self, path: &str) -> Result<Dataset> {
        self.object(path)?.into_dataset()
    }

    /// The committed datatype at a path.
    ///
    /// # Errors
    /// As [`object`](Self::object), and if the object is no committed datatype.
    pub fn committed_datatype(&self, path: &str) -> Result<CommittedDatatype> {
        self.object(path)?.into_datatype()
    }

    /// The objects that hard links of this group lead to, in the order of the links.
    ///
    /// # Errors
    /// If the group or an object's header is damaged.
    pub fn members(&self) -> Result<Vec<Object>> {
        // Held, so that no member is deleted between the look at its link and the handle.
        let _reading = self.file().reading()?;
        let mut members = Vec::new();
        for link in self.links()? {
            if let LinkTarget::Hard(token) = link.target {
                let name = format!("{}/{}", self.name().trim_end_matches('/'), link.name_lossy());
                members.push(Object::open_token(Arc::clone(self.file()), token, &name)?);
            }
        }
        Ok(members)
    }
}

impl Deref for Group {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.object
    }
}
