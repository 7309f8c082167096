//! Salvage of a whole file: the objects below the root group, and the objects that no link leads
//! to.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_datatype::CharacterSet;
use hyperslab_format::codec::Address;

use super::paths::ObjectPath;
use super::{Copier, CopyGuide, CopyOptions, LostPart, Original};
use crate::error::{Error, Result};
use crate::object::dataset::DatasetDescription;
use crate::object::group;
use crate::object::group_edit::{self, GroupOptions};
use crate::object::header::ObjectHeader;
use crate::object::kind::ObjectKind;
use crate::object::link::{Link, LinkTarget};
use crate::object::scan;
use crate::ops::OpenFile;
use crate::store::Edit;

/// The name of the group that a salvage creates for objects to which no link leads.
const LOST_FOUND: &str = "lost+found";

impl OpenFile {
    /// Copies the readable objects of a damaged file to this file, like
    /// [`copy_contents`](Self::copy_contents). The guide receives the report of lost parts. If
    /// `search` returns true, also searches the damaged file for objects to which no link leads.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn salvage_contents(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        source: &Arc<Self>,
        guide: &dyn CopyGuide,
        search: impl FnOnce() -> bool,
    ) -> Result<()> {
        let options = CopyOptions { expand_references: true, ..CopyOptions::default() };
        let mut copier = Copier::new(self, source, options, guide);
        copier.report_damage(source, "/", &LostPart::Block);
        let address = source.root();
        let mut root = copier.salvage_root(edit, address)?;
        let mut lost = Vec::new();
        let searched = search();
        if searched {
            lost = copier.unreachable(source)?;
            // If the root group is unreadable, the only group that leads to all other objects
            // replaces it.
            let groups = || lost.iter().filter(|found| found.kind == ObjectKind::Group);
            if root.is_none()
                && let Some(top) = groups().next().map(|found| found.address)
                && groups().count() == 1
            {
                root = copier.salvage_root(edit, top)?;
                lost.retain(|found| found.address != top);
            }
        }
        if (searched || copier.any_unlinked)
            && let Some(folder) = copier.copy_lost(edit, source, root, &lost)?
        {
            copier.link_folder(edit, root.unwrap_or(self.root()), folder)?;
        }
        copier.write_reference_counts(edit)?;
        let Some(root) = root else { return Ok(()) };
        let before = self.root();
        self.drop_replaced(edit, before)?;
        group_edit::set_root(&self.container, edit, root)
    }
}

/// An object of a damaged file to which no link leads, found in a salvage.
struct LostObject {
    address: Address,
    kind: ObjectKind,
}

impl Copier<'_> {
    /// Copies the root group of a damaged file, with all objects to which its links lead. Returns
    /// the address of the copy, or `None` if the object is not a group.
    ///
    /// # Errors
    /// Returns the errors of writing.
    fn salvage_root(&mut self, edit: &mut Edit<'_>, address: Address) -> Result<Option<Address>> {
        let source = self.source(0)?;
        let (object_path, path) = (ObjectPath::whole("/"), "/");
        let header = ObjectHeader::load(&source.container.store, address);
        let is_group = header.map(|header| ObjectKind::of(&header) == Some(ObjectKind::Group));
        let entered = match is_group {
            Ok(true) => self.enter(edit, Original { file: 0, address }, &object_path, true),
            Ok(false) => {
                Err(Error::corrupt("object header", "messages", "the messages of a group", "other messages")
                    .at(address))
            }
            Err(error) => Err(error),
        };
        self.report_damage(&source, path, &LostPart::Block);
        let root = self.or_report(path, LostPart::Object, entered)?;
        if let Some(root) = root {
            self.count_use(root);
            self.process_queues(edit)?;
        }
        Ok(root)
    }

    /// Returns the objects of a damaged file that have no copy yet. Omits objects to which another
    /// object without a copy leads.
    ///
    /// # Errors
    /// Returns the errors of the search.
    fn unreachable(&self, source: &Arc<OpenFile>) -> Result<Vec<LostObject>> {
        let container = &source.container;
        let raw = container.store.take_raw_ranges();
        let known: HashSet<Address> = self.copies.keys().chain(&self.failed).map(|one| one.address).collect();
        let mut found = Vec::new();
        scan::headers(container, &raw, &mut |address, kind| {
            if !known.contains(&address) {
                found.push(LostObject { address, kind });
            }
        })?;
        let mut kinds: HashMap<Address, ObjectKind> =
            found.iter().map(|found| (found.address, found.kind)).collect();
        let below = found.iter().map(|group| (group.address, leads_to(source, group))).collect();
        container.store.take_damages();
        let all: Vec<Address> = found.iter().map(|found| found.address).collect();
        let tops = tops(&all, &below, &mut HashSet::new()).into_iter();
        Ok(tops.filter_map(|address| Some(LostObject { address, kind: kinds.remove(&address)? })).collect())
    }

    /// Copies the objects of a damaged file to which no link leads, into a new group. Returns the
    /// address of the group if it has members.
    ///
    /// # Errors
    /// Returns the errors of writing.
    fn copy_lost(
        &mut self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        root: Option<Address>,
        lost: &[LostObject],
    ) -> Result<Option<Address>> {
        let mut copies = Vec::new();
        for found in lost {
            // The object may be the committed datatype of another object. It was then copied
            // together with that object.
            if self.copies.contains_key(&Original { file: 0, address: found.address }) {
                continue;
            }
            let name = format!("{:#x}", found.address.raw());
            let object_path = ObjectPath::whole(format!("/{LOST_FOUND}/{name}"));
            let entered = self.enter(edit, Original { file: 0, address: found.address }, &object_path, false);
            if let Some(copy) = self.or_report(&object_path.text, LostPart::Object, entered)? {
                self.count_use(copy);
                self.process_queues(edit)?;
                copies.push((name, copy));
            }
            self.report_damage(source, &object_path.text, &LostPart::Block);
        }
        let linked = root.into_iter().chain(copies.iter().map(|(_, copy)| *copy)).collect();
        for (address, copy) in self.unlinked(linked) {
            self.count_use(copy);
            copies.push((format!("{:#x}", address.raw()), copy));
        }
        if copies.is_empty() {
            return Ok(None);
        }
        let folder = group_edit::create_group(&self.target.container, edit, &GroupOptions::default())?;
        let mut group = group_edit::GroupEditor::open(&self.target.container, folder)?;
        for (name, copy) in copies {
            group.insert(edit, &hard_link(name, copy))?;
        }
        group.finish(edit)?;
        Ok(Some(folder))
    }

    /// Returns the copies to which no link from the objects `from` leads, each with the addresses
    /// of its original and of the copy. A copy has no link if it is a datatype or the target of a
    /// reference, or if its link could not be inserted.
    fn unlinked(&self, from: Vec<Address>) -> Vec<(Address, Address)> {
        let mut below: HashMap<Address, Vec<Address>> = HashMap::new();
        for (group, copy) in &self.links {
            below.entry(*group).or_default().push(*copy);
        }
        let mut seen = HashSet::new();
        for copy in from {
            reach(copy, &below, &mut seen);
        }
        let mut all: Vec<(Address, Address)> =
            self.copies.iter().map(|(original, copy)| (original.address, *copy)).collect();
        all.retain(|(_, copy)| !seen.contains(copy));
        all.sort_unstable();
        let copies: Vec<Address> = all.iter().map(|(_, copy)| *copy).collect();
        let tops: HashSet<Address> = tops(&copies, &below, &mut seen).into_iter().collect();
        all.retain(|(_, copy)| tops.contains(copy));
        all
    }

    fn link_folder(&self, edit: &mut Edit<'_>, root: Address, folder: Address) -> Result<()> {
        let mut group = group_edit::GroupEditor::open(&self.target.container, root)?;
        let names = std::iter::once(LOST_FOUND.to_owned())
            .chain((1..).map(|number| format!("{LOST_FOUND}-{number}")));
        for name in names {
            if group.insert(edit, &hard_link(name, folder)).is_ok() {
                break;
            }
        }
        group.finish(edit)
    }
}

/// Returns objects of a damaged file from which links lead to all objects in `all`. These are the
/// objects to which no other object links, and one object of each cycle. Omits the objects in
/// `seen`.
fn tops(
    all: &[Address],
    below: &HashMap<Address, Vec<Address>>,
    seen: &mut HashSet<Address>,
) -> Vec<Address> {
    let mut led_to: HashSet<Address> = HashSet::new();
    for from in all {
        led_to.extend(below.get(from).into_iter().flatten().filter(|to| *to != from));
    }
    let (rest, mut tops): (Vec<Address>, Vec<Address>) = all.iter().partition(|one| led_to.contains(one));
    for top in &tops {
        reach(*top, below, seen);
    }
    tops.extend(rest.into_iter().filter(|one| reach(*one, below, seen)));
    tops
}

/// Adds the object `from` of a damaged file to `seen`, and also all objects to which its links
/// lead. Returns whether `from` was not in `seen` before.
fn reach(from: Address, below: &HashMap<Address, Vec<Address>>, seen: &mut HashSet<Address>) -> bool {
    let is_new = !seen.contains(&from);
    let mut pending = vec![from];
    while let Some(at) = pending.pop() {
        if seen.insert(at) {
            pending.extend(below.get(&at).into_iter().flatten().copied());
        }
    }
    is_new
}

fn hard_link(name: String, copy: Address) -> Link {
    Link {
        name: name.into_bytes(),
        charset: CharacterSet::Ascii,
        creation_order: None,
        target: LinkTarget::Hard(copy),
    }
}

/// Returns the addresses of the objects to which an object of a damaged file refers, by hard links
/// or as its committed datatype.
fn leads_to(source: &OpenFile, found: &LostObject) -> Vec<Address> {
    let container = &source.container;
    let Ok(header) = ObjectHeader::load(&container.store, found.address) else { return Vec::new() };
    let mut targets = Vec::new();
    match found.kind {
        ObjectKind::Group => {
            // Of a damaged group, the targets that could be read count.
            let _ = group::for_each(container, &header, &mut |link| {
                if let LinkTarget::Hard(address) = link.target {
                    targets.push(address);
                }
                Ok(ControlFlow::Continue(()))
            });
        }
        ObjectKind::Dataset => {
            let description = DatasetDescription::read(container, &header);
            let committed = description.ok().and_then(|description| description.committed);
            targets.extend(committed.filter(|address| {
                let header = ObjectHeader::load(&container.store, *address);
                header.is_ok_and(|header| ObjectKind::of(&header) == Some(ObjectKind::Datatype))
            }));
        }
        ObjectKind::Datatype => {}
    }
    targets
}
