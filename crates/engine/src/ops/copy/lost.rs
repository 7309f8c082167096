//! A damaged file as a whole: what its root group leads to, and what nothing sound leads to any more.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_datatype::CharacterSet;
use hyperslab_format::codec::Address;

use super::ways::Way;
use super::{Copier, CopyGuide, CopyOptions, Original, Part};
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

/// Where objects go that nothing leads to.
const FOLDER: &str = "lost+found";

impl OpenFile {
    /// As [`copy_contents`](Self::copy_contents), of a damaged file that was opened to be salvaged: the guide is told what
    /// is left out. Where something is, the file is searched for objects that nothing leads to, if `search` says so.
    ///
    /// # Errors
    /// The errors of writing.
    pub fn salvage_contents(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        source: &Arc<Self>,
        guide: &dyn CopyGuide,
        search: impl FnOnce() -> bool,
    ) -> Result<()> {
        let options = CopyOptions { expand_references: true, ..CopyOptions::default() };
        let mut copier = Copier::new(self, source, options, guide);
        copier.tell(source, "/", &Part::Block);
        let address = source.root();
        let mut root = copier.salvage_root(edit, address)?;
        let mut lost = Vec::new();
        let searched = search();
        if searched {
            lost = copier.unreachable(source)?;
            // Whatever leads to everything else is the root group, if the file does not say which one it is.
            let groups = || lost.iter().filter(|found| found.kind == ObjectKind::Group);
            if root.is_none()
                && let Some(top) = groups().next().map(|found| found.address)
                && groups().count() == 1
            {
                root = copier.salvage_root(edit, top)?;
                lost.retain(|found| found.address != top);
            }
        }
        if (searched || copier.any_stray)
            && let Some(folder) = copier.put_aside(edit, source, root, &lost)?
        {
            copier.link_folder(edit, root.unwrap_or(self.root()), folder)?;
        }
        copier.settle_uses(edit)?;
        let Some(root) = root else { return Ok(()) };
        let before = self.root();
        self.drop_replaced(edit, before)?;
        group_edit::set_root(&self.container, edit, root)
    }
}

/// An object that nothing leads to.
struct Found {
    address: Address,
    kind: ObjectKind,
}

impl Copier<'_> {
    /// The copy of the root group, with all that it leads to; none if it is no group.
    fn salvage_root(&mut self, edit: &mut Edit<'_>, address: Address) -> Result<Option<Address>> {
        let source = self.source(0)?;
        let (way, path) = (Way::whole("/"), "/");
        let header = ObjectHeader::load(&source.container.store, address);
        let is_group = header.map(|header| ObjectKind::of(&header) == Some(ObjectKind::Group));
        let entered = match is_group {
            Ok(true) => self.enter(edit, Original { file: 0, address }, &way, 0),
            Ok(false) => {
                Err(Error::corrupt("object header", "messages", "those of a group", "others").at(address))
            }
            Err(error) => Err(error),
        };
        self.tell(&source, path, &Part::Block);
        let root = self.forgive(path, Part::Object, entered)?;
        if let Some(root) = root {
            self.use_once(root);
            self.do_what_waits(edit)?;
        }
        Ok(root)
    }

    /// Objects of the file that were not copied yet, but for those that others of them lead to.
    fn unreachable(&self, source: &Arc<OpenFile>) -> Result<Vec<Found>> {
        let container = &source.container;
        let raw = container.store.take_raw_ranges();
        let known: HashSet<Address> = self.copies.keys().chain(&self.failed).map(|one| one.address).collect();
        let mut found = Vec::new();
        scan::headers(container, &raw, &mut |address, kind| {
            if !known.contains(&address) {
                found.push(Found { address, kind });
            }
        })?;
        let mut kinds: HashMap<Address, ObjectKind> =
            found.iter().map(|found| (found.address, found.kind)).collect();
        let below = found.iter().map(|group| (group.address, leads_to(source, group))).collect();
        container.store.take_damages();
        let all: Vec<Address> = found.iter().map(|found| found.address).collect();
        let tops = tops(&all, &below, &mut HashSet::new()).into_iter();
        Ok(tops.filter_map(|address| Some(Found { address, kind: kinds.remove(&address)? })).collect())
    }

    /// Copies objects into a group of their own.
    fn put_aside(
        &mut self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        root: Option<Address>,
        lost: &[Found],
    ) -> Result<Option<Address>> {
        let mut copies = Vec::new();
        for found in lost {
            // A type of others, perhaps, which came with them.
            if self.copies.contains_key(&Original { file: 0, address: found.address }) {
                continue;
            }
            let name = format!("{:#x}", found.address.raw());
            let way = Way::whole(format!("/{FOLDER}/{name}"));
            let entered = self.enter(edit, Original { file: 0, address: found.address }, &way, 1);
            if let Some(copy) = self.forgive(&way.text, Part::Object, entered)? {
                self.use_once(copy);
                self.do_what_waits(edit)?;
                copies.push((name, copy));
            }
            self.tell(source, &way.text, &Part::Block);
        }
        let linked = root.into_iter().chain(copies.iter().map(|(_, copy)| *copy)).collect();
        for (address, copy) in self.unlinked(linked) {
            self.use_once(copy);
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

    /// Copies that no links lead to from those: types and what references point at came with others, links to some
    /// cannot be made. Where they lay, and where they lie.
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
        let names =
            std::iter::once(FOLDER.to_owned()).chain((1..).map(|number| format!("{FOLDER}-{number}")));
        for name in names {
            if group.insert(edit, &hard_link(name, folder)).is_ok() {
                break;
            }
        }
        group.finish(edit)
    }
}

/// Those that lead to all others: what nothing leads to, then one of each circle. What was `seen` is left out.
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

/// Sees what one leads to; says whether it was not seen before.
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

/// Objects that one leads to: by links, or as the type of its elements.
fn leads_to(source: &OpenFile, found: &Found) -> Vec<Address> {
    let container = &source.container;
    let Ok(header) = ObjectHeader::load(&container.store, found.address) else { return Vec::new() };
    let mut targets = Vec::new();
    match found.kind {
        ObjectKind::Group => {
            // What cannot be read leads nowhere.
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
