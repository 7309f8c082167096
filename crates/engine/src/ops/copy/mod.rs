//! Copies of objects, within a file and between files. Headers are created for the target file. Raw
//! data is copied as stored if its form stays the same.

mod attributes;
mod chunks;
mod committed;
mod defined_share;
mod elements;
mod links;
mod lost;
mod objects;
mod paths;
mod raw;
mod relocate;
mod salvage;
mod sparse;
mod storage;
mod streamed;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use hyperslab_datatype::Datatype;
use hyperslab_format::codec::Address;

use super::OpenFile;
use crate::error::{Error, Result};
use crate::object::group_edit;
use crate::object::header::ObjectHeader;
use crate::object::header_edit::HeaderEditor;
use crate::store::Edit;

use paths::{ObjectPath, ObjectPaths};
use storage::SparseCopy;

pub use salvage::{ChunkTally, LostPart, Salvage};
pub use storage::{AsStored, CopyGuide, NewStorage, StoredBefore};

/// The options of a copy of objects, which correspond to the options of `H5Ocopy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CopyOptions {
    /// True to copy only the direct members of a group. Groups among the members are copied without
    /// links.
    pub shallow: bool,
    /// True to replace soft links by hard links to copies of their targets. Dangling soft links
    /// stay.
    pub expand_soft_links: bool,
    /// True to replace external links by hard links to copies of their targets. External links that
    /// cannot be followed stay.
    pub expand_external_links: bool,
    /// True to copy the targets of references as well. Otherwise a reference to an object that is
    /// not copied stays the same within one file, and becomes a null reference in another file.
    pub expand_references: bool,
    /// True to copy no attributes.
    pub without_attributes: bool,
    /// True to use an equal committed datatype of the target file, if it has one, in the place of a
    /// copy.
    pub merge_committed_datatypes: bool,
}

/// The identity of a source object during a copy: the index of the source file and the address of
/// the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Original {
    /// The index of its file in `Copier::sources`.
    file: usize,
    address: Address,
}

/// A task of a copy: to copy the links, elements and attributes of an object. The object header of
/// the copy already exists.
#[derive(Debug, Clone)]
struct Task {
    original: Original,
    copy: Address,
    path: Arc<str>,
    /// The index of the path in `Copier::paths`.
    path_id: usize,
    /// True for the object that the caller copies, and for targets of references. A shallow copy
    /// copies the links of these groups only.
    is_top: bool,
}

/// A task of a copy that waits in a queue, without the path of its object.
#[derive(Debug, Clone, Copy)]
struct QueuedTask {
    original: Original,
    copy: Address,
    path_id: usize,
    is_top: bool,
}

/// The numbers of links to a copied object and of its other uses. The reference count in the object
/// header does not yet include these numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    count: u64,
    /// True if the copy has created the header, whose reference count starts at 1.
    is_new: bool,
}

/// The state of a copy of objects. Object headers are created first, then the links of groups, then
/// elements and attributes. Elements and attributes may contain references to any object.
struct Copier<'a> {
    target: &'a OpenFile,
    sources: Vec<Arc<OpenFile>>,
    options: CopyOptions,
    guide: &'a dyn CopyGuide,
    copies: HashMap<Original, Address>,
    /// The objects of a damaged file that could not be copied.
    failed: HashSet<Original>,
    /// The links between copies, for a damaged file.
    links: Vec<(Address, Address)>,
    /// True if a copy exists for which no link could be inserted.
    any_unlinked: bool,
    uses: HashMap<Address, Uses>,
    paths: ObjectPaths,
    groups: VecDeque<QueuedTask>,
    waiting: VecDeque<QueuedTask>,
    /// The storage of sparse copies whose elements are not yet copied.
    sparse: HashMap<Address, SparseCopy>,
    /// The committed datatypes of the target, read at the first use.
    committed: Option<HashMap<Datatype, Address>>,
}

impl OpenFile {
    /// Copies the object at the address `object` of the file `source` to this file. Both files may
    /// be the same. Returns the address of the copied object header, to which the caller adds one
    /// hard link.
    ///
    /// # Errors
    /// Returns the errors of reading the object and of writing the copy. Objects that were copied
    /// before an error are unreachable.
    pub fn copy_object(
        &self,
        edit: &mut Edit<'_>,
        source: &Arc<Self>,
        object: Address,
        options: CopyOptions,
        guide: &dyn CopyGuide,
    ) -> Result<Address> {
        if std::ptr::eq(self, Arc::as_ptr(source)) {
            self.flush_writers(edit)?;
        }
        let mut copier = Copier::new(self, source, options, guide);
        let object_path = ObjectPath::whole(if object == source.root() { "/" } else { "" });
        let copy = copier.enter(edit, Original { file: 0, address: object }, &object_path, true)?;
        copier.count_use(copy);
        copier.finish(edit)?;
        Ok(copy)
    }

    /// Replaces the root group of this file by a copy of the root group of the file `source`.
    ///
    /// # Errors
    /// As [`copy_object`](Self::copy_object).
    pub fn copy_contents(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        source: &Arc<Self>,
        options: CopyOptions,
        guide: &dyn CopyGuide,
    ) -> Result<()> {
        let before = self.root();
        self.drop_replaced(edit, before)?;
        let root = self.copy_object(edit, source, source.root(), options, guide)?;
        group_edit::set_root(&self.container, edit, root)
    }
}

impl<'a> Copier<'a> {
    fn new(
        target: &'a OpenFile,
        source: &Arc<OpenFile>,
        options: CopyOptions,
        guide: &'a dyn CopyGuide,
    ) -> Self {
        Self {
            target,
            sources: vec![Arc::clone(source)],
            options,
            guide,
            copies: HashMap::new(),
            failed: HashSet::new(),
            links: Vec::new(),
            any_unlinked: false,
            uses: HashMap::new(),
            paths: ObjectPaths::default(),
            groups: VecDeque::new(),
            waiting: VecDeque::new(),
            sparse: HashMap::new(),
            committed: None,
        }
    }

    fn source(&self, file: usize) -> Result<Arc<OpenFile>> {
        self.sources.get(file).cloned().ok_or_else(|| Error::internal("copy", "the source file is known"))
    }

    /// Returns whether a source file of a copy is also the target file. The source file has the
    /// index `file`.
    fn is_same(&self, file: usize) -> bool {
        self.sources.get(file).is_some_and(|source| std::ptr::eq(self.target, Arc::as_ptr(source)))
    }

    /// Returns the address of an object's copy in the target file. If the object has no copy yet,
    /// creates the object header of the copy. The links, elements and attributes are copied later.
    ///
    /// # Errors
    /// Returns the errors of reading the object and of creating the header.
    fn enter(
        &mut self,
        edit: &mut Edit<'_>,
        original: Original,
        object_path: &ObjectPath,
        is_top: bool,
    ) -> Result<Address> {
        if let Some(copy) = self.copies.get(&original) {
            return Ok(*copy);
        }
        let source = self.source(original.file)?;
        if self.is_salvaging() && self.failed.contains(&original) {
            return Err(Error::corrupt(
                "object header",
                "address",
                "the address of a readable header",
                original.address,
            ));
        }
        let header = ObjectHeader::load(&source.container.store, original.address);
        let header = header.inspect_err(|_| {
            self.failed.insert(original);
        })?;
        let (path, number) = (Arc::clone(&object_path.text), self.paths.add(object_path));
        let task =
            Task { original, copy: Address::UNDEFINED, path: Arc::clone(&path), path_id: number, is_top };
        let made = self.make(edit, &source, &header, task);
        self.report_damage(&source, &path, &LostPart::Block);
        let made = made.inspect_err(|_| {
            self.failed.insert(original);
        });
        made.map_err(|error| error.context(format!("cannot copy `{path}`")))
    }

    /// Counts one more link to a copied object or one more use of a copied committed datatype.
    fn count_use(&mut self, copy: Address) {
        let uses = self.uses.entry(copy).or_default();
        uses.count += 1;
    }

    /// Processes all queued tasks of a copy, and then writes the reference counts of the copied
    /// objects.
    fn finish(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.process_queues(edit)?;
        self.write_reference_counts(edit)
    }

    fn process_queues(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        loop {
            while let Some(waiting) = self.groups.pop_front() {
                let task = self.dequeue(waiting);
                let copied = self.copy_links(edit, &task).map_err(|error| of_task(error, &task));
                self.or_report(&task.path, LostPart::Links, copied)?;
            }
            let Some(waiting) = self.waiting.pop_front() else { return Ok(()) };
            let task = self.dequeue(waiting);
            let copied = self.copy_body(edit, &task).map_err(|error| of_task(error, &task));
            self.or_report(&task.path, LostPart::Block, copied)?;
        }
    }

    fn dequeue(&mut self, queued: QueuedTask) -> Task {
        let QueuedTask { original, copy, path_id, is_top } = queued;
        Task { original, copy, path: self.paths.text(path_id), path_id, is_top }
    }

    /// Adds the links and uses of the copied objects to the reference counts in their object
    /// headers.
    fn write_reference_counts(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        for (copy, uses) in std::mem::take(&mut self.uses) {
            // The initial count of a new header is the first use.
            let more = if uses.is_new && uses.count > 0 { uses.count - 1 } else { uses.count };
            if more == 0 && (uses.count > 0 || !uses.is_new) {
                continue;
            }
            let mut header = HeaderEditor::load(edit.store(), copy)?;
            let now = header.reference_count()?;
            // For a new header without links, subtract the initial count of 1. Attributes that use
            // the copy as their datatype have already increased the count.
            let after = if uses.count == 0 {
                now.max(2) - 1
            } else {
                let sum = u64::from(now).checked_add(more);
                sum.and_then(|sum| u32::try_from(sum).ok()).ok_or_else(|| Error::Limit {
                    subject: format!("links to the object at {copy}"),
                    got: more,
                    limit: u64::from(u32::MAX),
                })?
            };
            if after != now {
                header.set_reference_count(after)?;
                header.save(edit)?;
            }
        }
        Ok(())
    }
}

impl Task {
    fn queued(&self) -> QueuedTask {
        QueuedTask { original: self.original, copy: self.copy, path_id: self.path_id, is_top: self.is_top }
    }
}

fn of_task(error: Error, task: &Task) -> Error {
    error.context(format!("cannot copy `{}`", task.path))
}
