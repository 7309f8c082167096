//! The workloads of the benchmark of growth: the creation of a file with a number of items, and a
//! visit to each item.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use hyperslab::{Durability, File, FileOptions, Group, LibraryVersion, LibverBounds};

use crate::arrays::next;

/// Groups of the datasets that are created in turn.
const GROUPS: u64 = 100;

/// Elements in a chunk.
const CHUNK_ELEMENTS: u64 = 2;

const ATTRIBUTE: &str = "number";
const ROW: [i32; 8] = [3; 8];

/// A step of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Create,
    Read,
}

impl Step {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
        }
    }

    pub(super) fn of(word: &str) -> Result<Self> {
        [Self::Create, Self::Read].into_iter().find(|step| step.word() == word).context("no such step")
    }
}

/// The items of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Items {
    /// Datasets over some groups in turn, with an attribute each, and with values if true.
    Datasets(bool),
    /// Hard links of one group, in an order that is not that of their names.
    Links,
    /// Attributes of one group.
    Attributes,
    /// Chunks of one dataset with this many unlimited dimensions.
    Chunks(u64),
    /// Groups side by side, with a member each.
    Beside,
    /// Groups in a chain, each a member of the one before.
    Chain,
}

/// A workload: a number of items in the file of a library version.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) name: &'static str,
    /// The number of items in the largest file.
    pub(super) count: u64,
    items: Items,
    low: LibraryVersion,
    /// The kind, the version and the last words of the request to libhdf5, if its program can
    /// create the file.
    pub(super) request: Option<&'static str>,
}

const MILLION: u64 = 1_000_000;
const OLD: LibraryVersion = LibraryVersion::Earliest;
const NEW: LibraryVersion = LibraryVersion::V110;

const fn workload(
    name: &'static str,
    count: u64,
    items: Items,
    low: LibraryVersion,
    request: &'static str,
) -> Workload {
    let request = if request.is_empty() { None } else { Some(request) };
    Workload { name, count, items, low, request }
}

#[rustfmt::skip]
pub(super) const WORKLOADS: &[Workload] = &[
    workload("datasets over 100 groups, earliest", MILLION, Items::Datasets(false), OLD, "grouped 0"),
    workload("datasets over 100 groups, v110", MILLION, Items::Datasets(false), NEW, "grouped 2"),
    workload("datasets with values over 100 groups, v110", MILLION, Items::Datasets(true), NEW, ""),
    workload("links of one group, earliest", MILLION, Items::Links, OLD, "links 0"),
    workload("links of one group, v110", MILLION, Items::Links, NEW, "links 2"),
    workload("attributes of one group, v110", MILLION, Items::Attributes, NEW, "attributes 2"),
    workload("chunks, B-tree v1", 10 * MILLION, Items::Chunks(1), OLD, "insert 0 2 1 1"),
    workload("chunks, fixed array", 10 * MILLION, Items::Chunks(0), NEW, "insert 2 2 0 1"),
    workload("chunks, extensible array", 10 * MILLION, Items::Chunks(1), NEW, "insert 2 2 1 1"),
    workload("chunks, B-tree v2", 10 * MILLION, Items::Chunks(2), NEW, "insert 2 2 2 1"),
    workload("groups side by side with a member each, earliest", 10_000, Items::Beside, OLD, "beside 0"),
    workload("groups side by side with a member each, v110", 10_000, Items::Beside, NEW, "beside 2"),
    workload("groups in a chain, earliest", 10_000, Items::Chain, OLD, "chain 0"),
    workload("groups in a chain, v110", 10_000, Items::Chain, NEW, "chain 2"),
];

impl Workload {
    /// Returns the numbers of items in the three files.
    pub(super) fn sizes(&self) -> [u64; 3] {
        [self.count / 100, self.count / 10, self.count]
    }

    /// Creates the file. Returns the number of created items.
    pub(super) fn create(&self, path: &Path, count: u64) -> Result<u64> {
        let bounds = LibverBounds::new(self.low, LibraryVersion::V110)?;
        // libhdf5 provides no durability either.
        let file = FileOptions::new().libver(bounds).durability(Durability::None).create(path)?;
        match self.items {
            Items::Datasets(values) => create_datasets(&file, count, values)?,
            Items::Links => create_links(&file, count)?,
            Items::Attributes => create_attributes(&file, count)?,
            Items::Chunks(unlimited) => create_chunks(&file, count, unlimited)?,
            Items::Beside => {
                (0..count).try_for_each(|number| -> Result<()> {
                    file.create_group(&format!("group_{number:05}"))?.create_group("member")?;
                    Ok(())
                })?;
            }
            Items::Chain => {
                let mut group = file.root().clone();
                for _ in 0..count {
                    group = group.create_group("g")?;
                }
            }
        }
        file.close()?;
        Ok(count)
    }

    /// Visits each item of the file. Returns the number of visited items.
    pub(super) fn read(&self, path: &Path, count: u64) -> Result<u64> {
        let file = File::open(path)?;
        match self.items {
            Items::Datasets(values) => read_datasets(&file, values),
            Items::Links => visit_links(&file.group("g")?),
            Items::Attributes => read_attributes(&file),
            Items::Chunks(_) => read_chunks(&file, count),
            Items::Beside => read_groups(&file),
            Items::Chain => {
                let mut group = file.root().clone();
                let mut found = 0_u64;
                while group.link_exists("g")? {
                    group = group.group("g")?;
                    found = found.checked_add(1).context("too many groups")?;
                }
                Ok(found)
            }
        }
    }
}

fn create_datasets(file: &File, count: u64, values: bool) -> Result<()> {
    let groups: Result<Vec<Group>, _> =
        (0..GROUPS).map(|number| file.create_group(&format!("group_{number:02}"))).collect();
    let groups = groups?;
    for (number, group) in (0..count).zip(groups.iter().cycle()) {
        let builder = group.new_dataset(&format!("dataset_{number:07}")).of::<i32>();
        let dataset = builder.shape(&[ROW.len() as u64]).create()?;
        if values {
            dataset.write(.., &ROW)?;
        }
        dataset.set_attribute(ATTRIBUTE, i32::try_from(number)?)?;
    }
    Ok(())
}

fn read_datasets(file: &File, values: bool) -> Result<u64> {
    let mut found = 0_u64;
    for group in file.links()? {
        let group = file.group(std::str::from_utf8(&group.name)?)?;
        for link in group.links()? {
            let dataset = group.dataset(std::str::from_utf8(&link.name)?)?;
            dataset.attribute(ATTRIBUTE)?.read_scalar::<i32>()?;
            if values {
                ensure!(dataset.read_raw::<i32>(..)? == ROW, "other values");
            }
            found = found.checked_add(1).context("too many datasets")?;
        }
    }
    Ok(found)
}

fn create_links(file: &File, count: u64) -> Result<()> {
    let (target, group) = (file.create_group("t")?, file.create_group("g")?);
    let mut number = 0_u64;
    for _ in 0..count {
        group.link_hard(&format!("link_{number:06}"), &target)?;
        number = number.checked_add(7919).and_then(|next| next.checked_rem(count)).context("no links")?;
    }
    Ok(())
}

fn visit_links(group: &Group) -> Result<u64> {
    let mut found = 0_u64;
    group.visit_links(|_| {
        found = found.wrapping_add(1);
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn create_attributes(file: &File, count: u64) -> Result<()> {
    let group = file.create_group("g")?;
    (0..count).try_for_each(|number| {
        let value = f64::from(u32::try_from(number)?);
        Ok(group.set_attribute(&format!("attr_{number:05}"), value)?)
    })
}

fn read_attributes(file: &File) -> Result<u64> {
    let mut found = 0_u64;
    for attribute in file.group("g")?.attributes()? {
        attribute.read_scalar::<f64>()?;
        found = found.checked_add(1).context("too many attributes")?;
    }
    Ok(found)
}

fn create_chunks(file: &File, count: u64, unlimited: u64) -> Result<()> {
    let size = CHUNK_ELEMENTS;
    let maximum = [(unlimited == 0).then_some(count), (unlimited < 2).then_some(size)];
    let builder = file.new_dataset("x").of::<f64>().shape(&[count, size]).max_shape(&maximum);
    let dataset = builder.chunks(&[1, size]).create()?;
    let chunk = vec![7; usize::try_from(8 * size)?];
    (0..count).try_for_each(|number| Ok(dataset.chunks().write(&[number, 0], &chunk, 0)?))
}

/// Visits all chunks, and reads one of a hundred chunks, in no order.
fn read_chunks(file: &File, count: u64) -> Result<u64> {
    let dataset = file.dataset("x")?;
    let mut found = 0_u64;
    dataset.chunks().visit(|_| {
        found = found.wrapping_add(1);
        ControlFlow::Continue(())
    })?;
    let mut state = 3;
    for _ in 0..count / 100 {
        let row = next(&mut state).checked_rem(count).context("no chunks")?;
        if dataset.chunks().read(&[row, 0])?.is_none() {
            bail!("chunk {row} does not exist");
        }
    }
    Ok(found)
}

fn read_groups(file: &File) -> Result<u64> {
    let mut found = 0_u64;
    for link in file.links()? {
        let group = file.group(std::str::from_utf8(&link.name)?)?;
        found = found.checked_add(visit_links(&group)?).context("too many groups")?;
    }
    Ok(found)
}
