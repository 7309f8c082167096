//! The counts of objects, links, attributes, layouts and filters that h5stat prints.

use std::collections::{BTreeMap, HashSet};

use hyperslab::filter::FilterId;
use hyperslab::{
    ChunkIndexKind, Dataset, File, Group, Layout, LinkTarget, Object, ObjectKind, ObjectToken, Result,
};
use hyperslab_exact::to_u64;

use super::arguments::H5statArguments;
use super::datatypes::Datatypes;
use super::spread::{Spread, add};
use crate::prefetch::{Parts, prefetch};

/// The names of the filters with the identifiers 1 and above, which h5stat counts by name.
pub(super) const FILTERS: [&str; 6] = ["GZIP", "SHUFFLE", "FLETCHER32", "SZIP", "NBIT", "SCALEOFFSET"];

/// The counts of the objects of a file for h5stat.
#[derive(Debug)]
pub(super) struct Survey {
    /// The number of groups.
    pub(super) groups: u64,
    pub(super) datasets: u64,
    pub(super) datatypes: u64,
    /// The bytes of the object headers of committed datatypes that have links, and their unused
    /// bytes.
    pub(super) datatype_headers: (u64, u64),
    /// The number of extensible arrays that index chunks.
    pub(super) extensible_arrays: u64,
    /// Objects and links of kinds that HDF5 does not define.
    pub(super) others: u64,
    /// Soft and external links.
    pub(super) links: u64,
    /// The largest number of hard links to an object.
    pub(super) max_links: u64,
    /// The number of links of each group.
    pub(super) members: Spread,
    /// The size of each one-dimensional dataset.
    pub(super) dimensions: Spread,
    /// The number of attributes of each object that has attributes.
    pub(super) attributes: Spread,
    /// Datasets by rank.
    pub(super) ranks: BTreeMap<usize, u64>,
    /// The bytes of all raw data in this file.
    pub(super) raw: u64,
    /// The bytes of raw data with compact layout.
    pub(super) compact: u64,
    /// The bytes of raw data in external files.
    pub(super) external: u64,
    /// The number of external files.
    pub(super) external_files: u64,
    pub(super) layouts: Layouts,
    pub(super) unfiltered: u64,
    pub(super) filters: [u64; FILTERS.len()],
    pub(super) user_filters: u64,
    pub(super) used: Datatypes,
}

/// The number of datasets with each layout.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    pub(super) compact: u64,
    pub(super) contiguous: u64,
    pub(super) chunked: u64,
    pub(super) mapped: u64,
    /// Structured chunks of sparse datasets.
    pub(super) sparse: u64,
    /// Structured chunks of variable-length elements.
    pub(super) variable: u64,
}

impl Survey {
    /// Counts all objects that hard links reach for h5stat, each once. The members of a group come
    /// before the objects after the group.
    pub(super) fn of(file: &File, arguments: &H5statArguments) -> Result<Self> {
        let mut survey = Self::new(arguments);
        prefetch(file.root(), usize::MAX, Parts::AttributesAndStorage);
        let mut known: HashSet<ObjectToken> = HashSet::new();
        let mut pending = vec![file.root().token()];
        while let Some(token) = pending.pop() {
            if known.insert(token) {
                let before = pending.len();
                survey.object(&file.object_at(token)?, &mut pending)?;
                // The last entry is taken first.
                if let Some(members) = pending.get_mut(before..) {
                    members.reverse();
                }
            }
        }
        Ok(survey)
    }

    fn new(arguments: &H5statArguments) -> Self {
        Self {
            groups: 0,
            datasets: 0,
            datatypes: 0,
            datatype_headers: (0, 0),
            extensible_arrays: 0,
            others: 0,
            links: 0,
            max_links: 0,
            members: Spread::new(0..=arguments.links - 1),
            dimensions: Spread::new(0..=arguments.dims - 1),
            attributes: Spread::new(1..=arguments.attributes),
            ranks: BTreeMap::new(),
            raw: 0,
            compact: 0,
            external: 0,
            external_files: 0,
            layouts: Layouts::default(),
            unfiltered: 0,
            filters: [0; FILTERS.len()],
            user_filters: 0,
            used: Datatypes::default(),
        }
    }

    /// Counts an object by its kind for h5stat. Adds the targets of a group's hard links to
    /// `linked`.
    fn object(&mut self, object: &Object, linked: &mut Vec<ObjectToken>) -> Result<()> {
        self.max_links = self.max_links.max(object.link_count()?.into());
        let attributes = object.attributes()?.len();
        if attributes > 0 {
            self.attributes.add(to_u64(attributes));
        }
        match object.kind() {
            Some(ObjectKind::Group) => self.group(&object.clone().into_group()?, linked)?,
            Some(ObjectKind::Dataset) => self.dataset(&object.clone().into_dataset()?)?,
            Some(ObjectKind::Datatype) => {
                add(&mut self.datatypes, 1);
                let sizes = object.header_sizes()?;
                add(&mut self.datatype_headers.0, sizes.total);
                add(&mut self.datatype_headers.1, sizes.free);
            }
            _ => add(&mut self.others, 1),
        }
        Ok(())
    }

    fn group(&mut self, group: &Group, linked: &mut Vec<ObjectToken>) -> Result<()> {
        add(&mut self.groups, 1);
        let links = group.links()?;
        self.members.add(to_u64(links.len()));
        for link in links {
            match link.target {
                LinkTarget::Hard(token) => linked.push(token),
                LinkTarget::Soft(_) | LinkTarget::External { .. } => add(&mut self.links, 1),
                _ => add(&mut self.others, 1),
            }
        }
        Ok(())
    }

    fn dataset(&mut self, dataset: &Dataset) -> Result<()> {
        add(&mut self.datasets, 1);
        let space = dataset.dataspace();
        let dims = space.dims();
        add(self.ranks.entry(dims.len()).or_default(), 1);
        if let [size] = dims {
            self.dimensions.add(*size);
        }
        self.used.add(dataset)?;
        let stored = dataset.storage_size()?;
        add(&mut self.raw, stored);
        let count = match dataset.layout() {
            Layout::Compact => {
                add(&mut self.compact, stored);
                &mut self.layouts.compact
            }
            Layout::Contiguous { .. } => {
                self.external(dataset);
                &mut self.layouts.contiguous
            }
            Layout::Chunked(chunking) => {
                if chunking.index == ChunkIndexKind::ExtensibleArray && stored > 0 {
                    add(&mut self.extensible_arrays, 1);
                }
                &mut self.layouts.chunked
            }
            Layout::Virtual => &mut self.layouts.mapped,
            Layout::Structured => match dataset.sparse().chunking() {
                Some(chunking) if !chunking.sparse => &mut self.layouts.variable,
                _ => &mut self.layouts.sparse,
            },
            // The format has no other layouts.
            _ => return Ok(()),
        };
        add(count, 1);
        self.filters(dataset);
        Ok(())
    }

    fn external(&mut self, dataset: &Dataset) {
        let files = dataset.external_files().len();
        if files > 0 {
            add(&mut self.external_files, to_u64(files));
            let elements = dataset.dataspace().element_count().unwrap_or(u64::MAX);
            // Saturates, because the size is only printed.
            add(&mut self.external, elements.saturating_mul(dataset.datatype().size.into()));
        }
    }

    /// Counts the filters of a dataset for h5stat. If several sections of structured chunks use a
    /// filter, it counts once.
    fn filters(&mut self, dataset: &Dataset) {
        let mut numbers: Vec<u16> = dataset.filters().iter().map(|filter| filter.id).collect();
        if let Some(chunking) = dataset.sparse().chunking() {
            let sections = chunking.sections.iter();
            numbers = sections.flat_map(|(_, filters)| filters).map(|filter| filter.id).collect();
            numbers.sort_unstable();
            numbers.dedup();
        }
        if numbers.is_empty() {
            add(&mut self.unfiltered, 1);
        }
        for number in numbers {
            let index = number.checked_sub(FilterId::DEFLATE.0).map(usize::from);
            match index.and_then(|index| self.filters.get_mut(index)) {
                Some(count) => add(count, 1),
                None => add(&mut self.user_filters, 1),
            }
        }
    }
}
