//! The comparison of two datasets by h5diff.

use anyhow::{Result, bail};
use hyperslab::{Dataset, Layout, Object};

use super::Diff;
use super::data::Elements;
use super::types::Pair;
use crate::compare::blocks::{Order, PlacedListener, compare, compare_parts};
use crate::compare::elements::Leaf;
use crate::output::in_line;
use crate::tools::subset::{Subset, SubsetInDataset};

impl Diff<'_> {
    /// Compares two datasets and their attributes.
    pub(super) fn datasets(
        &mut self,
        objects: [&Object; 2],
        paths: [&str; 2],
        subsets: &[Option<Subset>; 2],
    ) -> Result<()> {
        let [one, other] = objects.map(|object| object.clone().into_dataset());
        let (one, other) = (one?, other?);
        let [path, other_path] = paths;
        if self.is_verbose() {
            self.gap()?;
        }
        if self.arguments.lists_differences() {
            self.title("dataset", [&path, &other_path])?;
        }
        let found = self.dataset_elements([&one, &other], &paths.map(str::to_owned), subsets);
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                self.fail(error.context(path.to_owned()))?;
                0
            }
        };
        self.found("dataset", [&path, &other_path], found)?;
        self.attributes(objects, paths)
    }

    /// Prints the differing elements of two datasets. Returns their number.
    pub(super) fn dataset_elements(
        &mut self,
        datasets: [&Dataset; 2],
        names: &[String; 2],
        subsets: &[Option<Subset>; 2],
    ) -> Result<u64> {
        let [one, other] = datasets;
        let [name, other_name] = names;
        let mut can = true;
        if datasets.iter().any(|dataset| dataset.layout() == Layout::Virtual) {
            if self.is_verbose() || self.arguments.list {
                writeln!(
                    self.out,
                    "Warning: <{}> or <{}> is a virtual dataset",
                    in_line(name),
                    in_line(other_name)
                )?;
            }
        } else if is_empty(one)? || is_empty(other)? {
            self.incomparable(&format!("Not comparable: <{name}> or <{other_name}> is an empty dataset"))?;
            can = false;
        }
        let types = [one.datatype(), other.datatype()];
        let (space, other_space) = (one.dataspace(), other.dataspace());
        let spaces = [&space, &other_space];
        let pair = Pair { names: [name, other_name], types, spaces };
        if !self.print_verdict(pair.verdict())? || !can {
            return Ok(0);
        }
        let Some(elements) = Elements::new(types[0], types[1], self.arguments.rules()) else { return Ok(0) };
        let rows = self.rows_of(names, spaces);
        if let Some(taken) = taken(datasets, subsets)? {
            return self.elements(rows, |listener| parts(datasets, &taken, &elements, listener));
        }
        let in_order = self.arguments.lists_differences() || self.arguments.max_differences.is_some();
        let order = if in_order { Order::Elements } else { Order::Chunks };
        self.elements(rows, |listener| compare(datasets, space.dims(), &elements, order, listener))
    }
}

/// Returns true if the compared dataset has no stored data.
fn is_empty(dataset: &Dataset) -> Result<bool> {
    Ok(dataset.external_files().is_empty() && dataset.storage_size()? == 0)
}

/// Returns the selections of both compared datasets. If only one has a selection, both use it.
/// Returns `None` if neither dataset has a selection.
fn taken(datasets: [&Dataset; 2], subsets: &[Option<Subset>; 2]) -> Result<Option<[SubsetInDataset; 2]>> {
    let [one, other] = datasets;
    let (subset, other_subset) = match subsets {
        [Some(subset), Some(other_subset)] => (subset, other_subset),
        [Some(subset), None] | [None, Some(subset)] => (subset, subset),
        [None, None] => return Ok(None),
    };
    let taken = subset.of(one.dataspace().dims())?;
    let other_taken = other_subset.of(other.dataspace().dims())?;
    if taken.shape() != other_taken.shape() {
        bail!("the selections have different shapes: {:?} and {:?}", taken.shape(), other_taken.shape());
    }
    Ok(Some([taken, other_taken]))
}

fn parts(
    datasets: [&Dataset; 2],
    taken: &[SubsetInDataset; 2],
    elements: &Elements,
    listener: &mut dyn PlacedListener,
) -> Result<()> {
    let ([one, other], [part, other_part]) = (datasets, taken);
    let dims = part.shape();
    let anywhere: Vec<bool> =
        part.block.iter().zip(&other_part.block).map(|(one, other)| (*one, *other) == (1, 1)).collect();
    let mut placed = Placed { taken: part, listener };
    compare_parts(
        &dims,
        &anywhere,
        elements,
        |region| {
            let select = |taken: &SubsetInDataset| taken.part(&region.start, &region.count).selection();
            Ok([one.read_stored(select(part))?, other.read_stored(select(other_part))?])
        },
        &mut placed,
    )
}

/// A receiver of differences that converts positions in a selection to coordinates in the dataset.
struct Placed<'a> {
    taken: &'a SubsetInDataset,
    listener: &'a mut dyn PlacedListener,
}

impl PlacedListener for Placed<'_> {
    fn found(&mut self, coordinates: &[u64], part: &[u8], leaf: Leaf<'_>) -> Result<()> {
        self.listener.found(&self.taken.coordinates(coordinates), part, leaf)
    }

    fn is_enough(&self) -> bool {
        self.listener.is_enough()
    }
}
