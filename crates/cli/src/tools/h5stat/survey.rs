//! What is counted on the way through a file.

use std::collections::{BTreeMap, HashSet};

use hyperslab::filter::FilterId;
use hyperslab::{Dataset, File, Group, Layout, LinkTarget, Object, ObjectKind, ObjectToken, Result};

use super::arguments::H5statArguments;
use super::datatypes::Datatypes;
use super::spread::Spread;

/// The filters that are counted each, by their numbers less one.
pub(super) const FILTERS: [&str; 6] = ["GZIP", "SHUFFLE", "FLETCHER32", "SZIP", "NBIT", "SCALEOFFSET"];

/// What was counted.
#[derive(Debug)]
pub(super) struct Survey {
    /// Objects by their kinds, and soft and external links.
    pub(super) groups: u64,
    pub(super) datasets: u64,
    pub(super) datatypes: u64,
    /// Objects and links of kinds that HDF5 does not know.
    pub(super) others: u64,
    pub(super) links: u64,
    /// The most hard links that an object has.
    pub(super) max_links: u64,
    /// The numbers of links of groups, ...
    pub(super) members: Spread,
    /// ... of the dimensions of one-dimensional datasets, ...
    pub(super) dimensions: Spread,
    /// ... and of attributes of objects that have any.
    pub(super) attributes: Spread,
    /// Datasets by their ranks.
    pub(super) ranks: BTreeMap<usize, u64>,
    /// Bytes of raw data: all in this file, ...
    pub(super) raw: u64,
    /// ... those of compact layout, ...
    pub(super) compact: u64,
    /// ... and those in other files, of which there are so many.
    pub(super) external: u64,
    pub(super) external_files: u64,
    pub(super) layouts: Layouts,
    pub(super) unfiltered: u64,
    pub(super) filters: [u64; FILTERS.len()],
    pub(super) user_filters: u64,
    pub(super) used: Datatypes,
}

/// Datasets by their layouts.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    pub(super) compact: u64,
    pub(super) contiguous: u64,
    pub(super) chunked: u64,
    pub(super) mapped: u64,
    /// Structured chunks: sparse, ...
    pub(super) sparse: u64,
    /// ... and those for elements of variable length alone.
    pub(super) variable: u64,
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

impl Survey {
    /// Counts all that hard links lead to, each object once: the members of a group before what comes behind it.
    pub(super) fn of(file: &File, arguments: &H5statArguments) -> Result<Self> {
        let mut survey = Self::new(arguments);
        let mut known: HashSet<ObjectToken> = HashSet::new();
        let mut pending = vec![file.root().token()];
        while let Some(token) = pending.pop() {
            if known.insert(token) {
                let before = pending.len();
                survey.object(&file.object_at(token)?, &mut pending)?;
                // The first one is taken first.
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
            others: 0,
            links: 0,
            max_links: 0,
            members: Spread::new(0..=arguments.links.saturating_sub(1)),
            dimensions: Spread::new(0..=arguments.dims.saturating_sub(1)),
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

    /// Counts an object; gives what it links to.
    fn object(&mut self, object: &Object, linked: &mut Vec<ObjectToken>) -> Result<()> {
        self.max_links = self.max_links.max(object.link_count()?.into());
        let attributes = object.attributes()?.len();
        if attributes > 0 {
            self.attributes.add(u64::try_from(attributes).unwrap_or(u64::MAX));
        }
        match object.kind() {
            Some(ObjectKind::Group) => self.group(&object.clone().into_group()?, linked)?,
            Some(ObjectKind::Dataset) => self.dataset(&object.clone().into_dataset()?)?,
            Some(ObjectKind::Datatype) => add(&mut self.datatypes, 1),
            _ => add(&mut self.others, 1),
        }
        Ok(())
    }

    fn group(&mut self, group: &Group, linked: &mut Vec<ObjectToken>) -> Result<()> {
        add(&mut self.groups, 1);
        let links = group.links()?;
        self.members.add(u64::try_from(links.len()).unwrap_or(u64::MAX));
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
            Layout::Chunked(_) => &mut self.layouts.chunked,
            Layout::Virtual => &mut self.layouts.mapped,
            Layout::Structured => match dataset.sparse().chunking() {
                Some(chunking) if !chunking.sparse => &mut self.layouts.variable,
                _ => &mut self.layouts.sparse,
            },
            // There are no others in the format.
            _ => return Ok(()),
        };
        add(count, 1);
        self.filters(dataset);
        Ok(())
    }

    fn external(&mut self, dataset: &Dataset) {
        let files = dataset.external_files().len();
        if files > 0 {
            add(&mut self.external_files, u64::try_from(files).unwrap_or(u64::MAX));
            let elements = dataset.dataspace().element_count().unwrap_or(u64::MAX);
            add(&mut self.external, elements.saturating_mul(dataset.datatype().size.into()));
        }
    }

    /// Counts the filters of a dataset; one that several sections of structured chunks pass counts once.
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
            let place = number.checked_sub(FilterId::DEFLATE.0).map(usize::from);
            match place.and_then(|place| self.filters.get_mut(place)) {
                Some(count) => add(count, 1),
                None => add(&mut self.user_filters, 1),
            }
        }
    }
}
