//! The walk through the groups of a file.

use std::collections::{HashMap, HashSet};

use hyperslab::vfd::DriverKind;
use hyperslab::{Dataset, Dataspace, Error, File, Found, Group, ObjectKind, Result};
use hyperslab_exact::to_u64;

use crate::attributes::Attributes;
use crate::chunks::Chunks;
use crate::dimensions::{self, PhonyNames, ScalePaths};
use crate::element::{Element, Texts};
use crate::unlimited::UnlimitedSizes;
use crate::{Array, Content, Json, ReferenceOptions, Report, Skipped, Visitor};
use crate::{fill, texts};

/// The largest number of objects without references that an error names.
const MAX_NAMED: usize = 10;

/// An export that runs.
pub(crate) struct Walk<'a> {
    file: File,
    chunks: Chunks<'a>,
    skip_unsupported: bool,
    scales: ScalePaths,
    sizes: UnlimitedSizes,
    /// The groups that were visited, by the addresses of their headers.
    groups: HashSet<u64>,
}

/// A dataset of one group.
struct Named {
    name: String,
    dataset: Dataset,
}

/// The datasets of one group, and its groups with their paths.
type Members = (Vec<Named>, Vec<(String, Group)>);

impl<'a> Walk<'a> {
    /// Creates the export of a group.
    pub(crate) fn new(options: ReferenceOptions<'a>, group: &Group) -> Result<Self> {
        let file = group.containing_file()?;
        let info = file.info();
        if matches!(info.driver, DriverKind::Family | DriverKind::Multi | DriverKind::Subfiling) {
            return Err(Error::unsupported("references to a file of several members"));
        }
        let chunks = Chunks {
            url: options.url,
            inline: options.inline,
            user_block: info.user_block,
            recode: options.recode,
            open: options.open,
            report: Report::default(),
        };
        let skip_unsupported = options.skip_unsupported;
        let (scales, sizes) = (ScalePaths::default(), UnlimitedSizes::default());
        Ok(Self { file, chunks, skip_unsupported, scales, sizes, groups: HashSet::new() })
    }

    /// Exports the group and all objects below it.
    pub(crate) fn run(mut self, group: &Group, visitor: &mut dyn Visitor) -> Result<Report> {
        self.groups.insert(group.token().address());
        let mut found = vec![(String::new(), group.clone())];
        let mut members = HashMap::new();
        let mut at = 0;
        // First all paths, because dimension scales are references to datasets.
        while let Some((path, group)) = found.get(at).cloned() {
            let (datasets, groups) = self.members(&path, &group)?;
            members.insert(at, datasets);
            found.extend(groups);
            at += 1;
        }
        for (at, (path, group)) in found.iter().enumerate() {
            let attributes = self.attributes(path, group)?;
            visitor.group(path, &Json::Object(attributes.entries))?;
            self.chunks.report.groups += 1;
            let mut phony = PhonyNames::default();
            for named in members.remove(&at).into_iter().flatten() {
                if let Some(array) = self.array((path, group), &named, &mut phony)? {
                    self.count(&array);
                    visitor.array(array)?;
                }
            }
        }
        self.finish()
    }

    fn finish(self) -> Result<Report> {
        let report = self.chunks.report;
        if self.skip_unsupported || report.skipped.is_empty() {
            return Ok(report);
        }
        let named = report.skipped.iter().take(MAX_NAMED);
        let mut names: Vec<String> =
            named.map(|skipped| format!("`{}` ({})", skipped.path, skipped.reason)).collect();
        if report.skipped.len() > MAX_NAMED {
            names.push(format!("{} more", report.skipped.len() - MAX_NAMED));
        }
        Err(Error::unsupported(format!("references to {}", names.join(", "))))
    }

    /// Returns the datasets and the groups to which the links of a group lead.
    fn members(&mut self, path: &str, group: &Group) -> Result<Members> {
        let (mut datasets, mut groups) = (Vec::new(), Vec::new());
        for link in group.links()? {
            let name = link.name_lossy();
            let full = joined(path, &name);
            if link.name != name.as_bytes() || !can_be_a_key(&name) {
                self.skip(&full, "a name that zarr cannot have");
                continue;
            }
            let object = match group.by_bytes().find(&link.name) {
                Ok(Found::Object(object)) => object,
                Ok(_) => {
                    self.skip(&full, "external link");
                    continue;
                }
                // A soft link without a target.
                Err(error) if error.kind() == hyperslab::ErrorKind::NotFound => continue,
                Err(error) => {
                    self.skip(&full, error.to_string());
                    continue;
                }
            };
            match object.kind() {
                Some(ObjectKind::Dataset) => {
                    let dataset = object.into_dataset()?;
                    let absolute = format!("{}/{name}", group.name().trim_end_matches('/'));
                    self.scales.add(&dataset, &absolute);
                    self.sizes.add(&dataset);
                    datasets.push(Named { name, dataset });
                }
                Some(ObjectKind::Group) if self.groups.insert(object.token().address()) => {
                    groups.push((full, object.into_group()?));
                }
                Some(ObjectKind::Group) => self.skip(&full, "a group that has another path also"),
                _ => {}
            }
        }
        Ok((datasets, groups))
    }

    fn skip(&mut self, path: &str, reason: impl Into<String>) {
        self.chunks.report.skipped.push(Skipped { path: path.to_owned(), reason: reason.into() });
    }

    fn attributes(&mut self, path: &str, object: &hyperslab::Object) -> Result<Attributes> {
        let mut attributes = Attributes::of(object)?;
        let skipped = attributes.skipped.drain(..).map(|name| format!("{path}@{name}"));
        self.chunks.report.skipped_attributes.extend(skipped);
        Ok(attributes)
    }

    /// Returns the array of a dataset. Returns `None` if it has none.
    fn array(
        &mut self,
        (group_path, group): (&str, &Group),
        named: &Named,
        phony: &mut PhonyNames,
    ) -> Result<Option<Array>> {
        let (name, dataset) = (named.name.as_str(), &named.dataset);
        let path = joined(group_path, name);
        if dimensions::is_only_a_size(dataset) {
            return Ok(None);
        }
        if matches!(dataset.dataspace(), Dataspace::Null) {
            self.skip(&path, "null dataspace");
            return Ok(None);
        }
        let element = match element_of(dataset)? {
            Ok(element) => element,
            Err(reason) => {
                self.skip(&path, reason);
                return Ok(None);
            }
        };
        let mut storage = match self.chunks.of(dataset, &element)? {
            Ok(storage) => storage,
            Err(reason) => {
                self.skip(&path, reason);
                return Ok(None);
            }
        };
        if !self.sizes.lengthen(dataset, &mut storage) {
            self.skip(&path, "too many chunks for the size of a dimension that other datasets share");
            return Ok(None);
        }
        let fill = fill::fill(dataset, &element)?;
        let mut fill_value = fill.json.clone();
        if !self.chunks.fill(&mut storage, &element, &fill)? {
            fill_value = fill::of_storage(dataset)?.unwrap_or(Json::Null);
        }
        let shape = storage.grid.shape().to_vec();
        let mut attributes = self.attributes(&path, dataset)?;
        if fill.is_attribute {
            attributes.take(fill::ATTRIBUTE);
        }
        let absolute = group.name().to_owned();
        let both = (&mut self.scales, phony);
        let dimensions = dimensions::names((&self.file, dataset), (&absolute, name), &shape, both);
        Ok(Some(Array {
            path,
            chunk_shape: storage.grid.chunk().to_vec(),
            shape,
            dtype: element.dtype,
            fill_value,
            filters: storage.codecs,
            dimensions,
            attributes: attributes.entries,
            chunks: storage.chunks,
        }))
    }

    fn count(&mut self, array: &Array) {
        let report = &mut self.chunks.report;
        report.arrays += 1;
        for chunk in &array.chunks {
            match &chunk.content {
                Content::Range { .. } => report.referenced_chunks += 1,
                Content::Inline(bytes) => {
                    report.inline_chunks += 1;
                    report.inline_bytes += to_u64(bytes.len());
                }
            }
        }
    }
}

/// Returns whether zarr can have a group or an array of this name. zarr takes backslashes for
/// slashes.
fn can_be_a_key(name: &str) -> bool {
    !name.starts_with(".z") && !matches!(name, "." | "..") && !name.contains('\\')
}

/// Returns the elements of a dataset. Elements with texts that zarr would read with more bytes are
/// converted.
fn element_of(dataset: &Dataset) -> Result<Result<Element, String>> {
    let element = match Element::of(dataset.datatype(), Texts::Stored) {
        Ok(element) => element,
        Err(reason) => return Ok(Err(reason)),
    };
    match texts::have_more_bytes(dataset, &element)? {
        true => Ok(Element::of(dataset.datatype(), Texts::Converted)),
        false => Ok(Ok(element)),
    }
}

/// Returns the path of a member of a group.
fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
