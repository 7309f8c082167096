//! The comparison of two datasets: types, shapes, storage, elements.

use anyhow::Result;
use hyperslab::{Dataset, Dataspace, Datatype, FillStatus, Layout, Object};

use super::found::Detail;
use super::walk::Comparison;
use crate::compare::blocks::{Order, compare, element_count};
use crate::compare::defined;
use crate::compare::elements::Elements;
use crate::ls::dataset::{layout_name, shape, sizes};
use crate::sections::filters_text;
use crate::values::Decoder;

impl Comparison<'_> {
    /// Compares two datasets, and adds each difference to `details`, the list of differences of the
    /// two datasets.
    pub(super) fn datasets(&self, objects: [&Object; 2], details: &mut Vec<Detail>) -> Result<()> {
        let [one, other] = objects.map(|object| object.clone().into_dataset());
        let (one, other) = (one?, other?);
        let datasets = [&one, &other];
        let types = datasets.map(Dataset::datatype);
        let spaces = [&one.dataspace(), &other.dataspace()];
        details.extend(type_and_shape(types, spaces));
        if self.arguments.storage {
            self.storage(datasets, details)?;
        }
        if spaces.iter().any(|space| **space == Dataspace::Null) {
            return Ok(());
        }
        if spaces[0].rank() != spaces[1].rank() {
            details.push(Detail::NotCompared("the datasets have different numbers of dimensions".into()));
            return Ok(());
        }
        let Some(elements) = Elements::new(types[0], types[1], self.arguments.rules()) else {
            details.push(Detail::NotCompared("the element types cannot be compared".into()));
            return Ok(());
        };
        let dims = within_both(spaces);
        if self.arguments.storage && datasets.iter().all(|dataset| is_sparse(dataset)) {
            let (one, other) = defined::differences(datasets, &dims)?;
            if (one, other) != (0, 0) {
                details.push(Detail::Defined { one, other });
            }
        }
        let mut counter = self.counter();
        let compared = compare(datasets, &dims, &elements, Order::Chunks, &mut counter);
        counter.tally.elements = element_count(&dims);
        if counter.tally.differing > 0 {
            details.push(Detail::Elements(counter.tally));
        }
        compared
    }

    /// Compares the storage of two datasets, and adds each difference to `details`, the list of
    /// differences of the two datasets.
    fn storage(&self, datasets: [&Dataset; 2], details: &mut Vec<Detail>) -> Result<()> {
        let [paths, other_paths] = &self.paths;
        let [one, other] = datasets;
        let fill = |dataset: &Dataset, paths| -> Result<String> {
            Ok(match dataset.fill_value().status {
                FillStatus::Undefined => "undefined".into(),
                FillStatus::Default => "zero".into(),
                FillStatus::User(_) => {
                    let stored = dataset.stored_fill_value()?;
                    let mut decoder = Decoder { stored: Some(&stored), paths, budget: 16 };
                    decoder.array(&[], stored.datatype(), stored.bytes())?.text(40)
                }
            })
        };
        let properties = [
            ("layout", layout(one), layout(other)),
            ("filters", filters(one), filters(other)),
            ("fill value", fill(one, paths)?, fill(other, other_paths)?),
        ];
        for (name, one, other) in properties {
            if one != other {
                details.push(Detail::Property { name, one, other });
            }
        }
        Ok(())
    }
}

/// Returns the differences between the datatypes and shapes of two datasets or attributes.
pub(super) fn type_and_shape(types: [&Datatype; 2], spaces: [&Dataspace; 2]) -> Vec<Detail> {
    let mut details = Vec::new();
    if types[0] != types[1] {
        let [one, other] = types.map(Datatype::to_string);
        details.push(Detail::Property { name: "type", one, other });
    }
    let [one, other] = spaces.map(shape);
    if one != other {
        details.push(Detail::Property { name: "shape", one, other });
    }
    details
}

/// Returns the shape that two dataspaces have in common: the smaller size in each dimension.
pub(super) fn within_both([one, other]: [&Dataspace; 2]) -> Vec<u64> {
    one.dims().iter().zip(other.dims()).map(|(one, other)| *one.min(other)).collect()
}

fn is_sparse(dataset: &Dataset) -> bool {
    dataset.sparse().chunking().is_some_and(|chunking| chunking.sparse)
}

fn layout(dataset: &Dataset) -> String {
    let layout = dataset.layout();
    if let Some(chunking) = dataset.sparse().chunking() {
        let kind = if chunking.sparse { "sparse" } else { "structured" };
        return format!("{kind}, chunks of {}", sizes(&chunking.shape));
    }
    match &layout {
        Layout::Chunked(chunking) => format!("chunks of {}", sizes(&chunking.shape)),
        Layout::Contiguous { .. } if !dataset.external_files().is_empty() => "external files".into(),
        other => layout_name(other).to_owned(),
    }
}

fn filters(dataset: &Dataset) -> String {
    if let Some(chunking) = dataset.sparse().chunking() {
        let sections = chunking.sections.iter().map(|(section, filters)| {
            let filters = filters_text(filters);
            format!("{}: {}", section.name(), if filters.is_empty() { "none" } else { &filters })
        });
        return sections.collect::<Vec<_>>().join("; ");
    }
    let text = filters_text(&dataset.filters());
    if text.is_empty() { "none".into() } else { text }
}
