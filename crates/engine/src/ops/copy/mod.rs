//! Copying objects, within a file and into another one: headers are made anew for the file they come into, raw data
//! goes over as it is stored wherever nothing about it changes.

mod attributes;
mod chunks;
mod committed;
mod elements;
mod links;
mod lost;
mod movement;
mod objects;
mod raw;
mod salvage;
mod share;
mod sparse;
mod storage;
mod streamed;
mod ways;

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

use sparse::SparseCopy;
use ways::{Way, Ways};

pub use salvage::{ChunkTally, Part, Salvage};
pub use storage::{AsStored, CopyGuide, NewStorage, StoredBefore};

/// What is copied with an object: the options of `H5Ocopy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CopyOptions {
    /// Of a group, only the objects that it links to itself: groups among them come without their links.
    pub shallow: bool,
    /// Soft links become hard links to copies of what they lead to, where that is anything.
    pub expand_soft_links: bool,
    /// External links become hard links to copies of what they lead to, where that can be opened.
    pub expand_external_links: bool,
    /// What references point at is copied too, linked or not. Otherwise references out of what is copied stay as they
    /// are within one file, and point at nothing in another one.
    pub expand_references: bool,
    /// Attributes stay behind.
    pub without_attributes: bool,
    /// Where the file has a committed datatype like one that is needed, that one is used.
    pub merge_committed_datatypes: bool,
}

/// An object before it was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Original {
    /// Which of the files that objects come from.
    file: usize,
    address: Address,
}

/// An object that has a header, and what is still to come.
#[derive(Debug, Clone)]
struct Task {
    original: Original,
    copy: Address,
    path: Arc<str>,
    /// The number of its path.
    way: usize,
    /// Steps from the object that was asked for.
    depth: usize,
}

/// A task that waits, without its path.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    original: Original,
    copy: Address,
    way: usize,
    depth: usize,
}

/// What leads to a copy, besides what its header counts already.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    count: u32,
    /// The header was made here: it counts one use from the start.
    is_new: bool,
}

/// A copy on its way. Headers come first, then the links of groups, then elements and attributes: these may hold
/// references to any object.
struct Copier<'a> {
    target: &'a OpenFile,
    sources: Vec<Arc<OpenFile>>,
    options: CopyOptions,
    guide: &'a dyn CopyGuide,
    copies: HashMap<Original, Address>,
    /// Objects of a damaged file that could not be copied.
    failed: HashSet<Original>,
    /// Links from copy to copy, of a damaged file.
    links: Vec<(Address, Address)>,
    /// True if there are copies that the link which led to them cannot lead to.
    any_stray: bool,
    uses: HashMap<Address, Uses>,
    ways: Ways,
    groups: VecDeque<Waiting>,
    waiting: VecDeque<Waiting>,
    /// How copies whose elements are still to come are to be sparse.
    sparse: HashMap<Address, SparseCopy>,
    /// The committed datatypes of the target, once one is looked for.
    committed: Option<HashMap<Datatype, Address>>,
}

impl OpenFile {
    /// Copies the object at `object` of `source`, which may be this file, with all that belongs to it. Gives the
    /// header of the copy, to which one hard link is to be made.
    ///
    /// # Errors
    /// The errors of reading the object, and of making the copy. What was copied until then is unreachable.
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
        let way = Way::whole(if object == source.root() { "/" } else { "" });
        let copy = copier.enter(edit, Original { file: 0, address: object }, &way, 0)?;
        copier.use_once(copy);
        copier.finish(edit)?;
        Ok(copy)
    }

    /// Makes a copy of a whole file's contents, in place of what this one holds: its root group is a copy of the
    /// other's.
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
            any_stray: false,
            uses: HashMap::new(),
            ways: Ways::default(),
            groups: VecDeque::new(),
            waiting: VecDeque::new(),
            sparse: HashMap::new(),
            committed: None,
        }
    }

    fn source(&self, file: usize) -> Result<Arc<OpenFile>> {
        self.sources.get(file).cloned().ok_or_else(|| Error::Misuse("a copy from no file".into()))
    }

    /// Returns whether the objects of that file come from the file that they go to.
    fn is_same(&self, file: usize) -> bool {
        self.sources.get(file).is_some_and(|source| std::ptr::eq(self.target, Arc::as_ptr(source)))
    }

    /// The copy of an object: its header, if there was none yet; the rest comes later.
    fn enter(&mut self, edit: &mut Edit<'_>, original: Original, way: &Way, depth: usize) -> Result<Address> {
        if let Some(copy) = self.copies.get(&original) {
            return Ok(*copy);
        }
        let source = self.source(original.file)?;
        if self.is_salvaging() && self.failed.contains(&original) {
            return Err(Error::corrupt("object header", "address", "one that can be read", original.address));
        }
        let header = ObjectHeader::load(&source.container.store, original.address);
        let header = header.inspect_err(|_| {
            self.failed.insert(original);
        })?;
        let (path, number) = (Arc::clone(&way.text), self.ways.add(way));
        let task = Task { original, copy: Address::UNDEFINED, path: Arc::clone(&path), way: number, depth };
        let made = self.make(edit, &source, &header, task);
        self.tell(&source, &path, &Part::Block);
        let made = made.inspect_err(|_| {
            self.failed.insert(original);
        });
        made.map_err(|error| error.context(format!("cannot copy `{path}`")))
    }

    /// Lets a copy count one link or use more.
    fn use_once(&mut self, copy: Address) {
        let uses = self.uses.entry(copy).or_default();
        uses.count = uses.count.saturating_add(1);
    }

    /// Does all that waits, and what comes up meanwhile; then headers know how many links there are.
    fn finish(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.do_what_waits(edit)?;
        self.settle_uses(edit)
    }

    fn do_what_waits(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        loop {
            while let Some(waiting) = self.groups.pop_front() {
                let task = self.take_up(waiting);
                let copied = self.copy_links(edit, &task).map_err(|error| of_task(error, &task));
                self.forgive(&task.path, Part::Links, copied)?;
            }
            let Some(waiting) = self.waiting.pop_front() else { return Ok(()) };
            let task = self.take_up(waiting);
            let copied = self.copy_contents(edit, &task).map_err(|error| of_task(error, &task));
            self.forgive(&task.path, Part::Block, copied)?;
        }
    }

    fn take_up(&mut self, waiting: Waiting) -> Task {
        let Waiting { original, copy, way, depth } = waiting;
        Task { original, copy, path: self.ways.text(way), way, depth }
    }

    /// Lets headers say how many links and uses there are.
    fn settle_uses(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        for (copy, uses) in std::mem::take(&mut self.uses) {
            let more = if uses.is_new { uses.count.saturating_sub(1) } else { uses.count };
            if more == 0 && (uses.count > 0 || !uses.is_new) {
                continue;
            }
            let mut header = HeaderEditor::load(edit.store(), copy)?;
            let now = header.reference_count()?;
            // What nothing leads to but attributes, or references, has counted the former itself.
            let after = match uses.count {
                0 => now.saturating_sub(1).max(1),
                _ => now.checked_add(more).ok_or_else(|| Error::Limit {
                    what: format!("links to the object at {copy}"),
                    got: 1 << 32,
                    limit: u64::from(u32::MAX),
                })?,
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
    fn wait(&self) -> Waiting {
        Waiting { original: self.original, copy: self.copy, way: self.way, depth: self.depth }
    }
}

fn of_task(error: Error, task: &Task) -> Error {
    error.context(format!("cannot copy `{}`", task.path))
}
