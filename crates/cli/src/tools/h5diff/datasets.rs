//! Datasets.

use anyhow::{Result, bail};
use hyperslab::{Dataset, Layout, Object};

use super::Diff;
use super::data::Elements;
use super::types::Pair;
use crate::compare::blocks::{Order, PlacedListener, compare, compare_parts};
use crate::compare::elements::Leaf;
use crate::output::in_line;
use crate::tools::subset::{Subset, Taken};

impl Diff<'_> {
    /// Two datasets, with their attributes.
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

    /// Tells which elements differ, and gives how many.
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
        if !self.hear(pair.verdict())? || !can {
            return Ok(0);
        }
        let Some(elements) = Elements::new(types[0], types[1], self.arguments.rules()) else { return Ok(0) };
        let rows = self.rows_of(names, spaces);
        if subsets.iter().any(Option::is_some) {
            let taken = taken(datasets, subsets)?;
            return self.elements(rows, |listener| parts(datasets, &taken, &elements, listener));
        }
        let in_order = self.arguments.lists_differences() || self.arguments.most.is_some();
        let order = if in_order { Order::Elements } else { Order::Chunks };
        self.elements(rows, |listener| compare(datasets, space.dims(), &elements, order, listener))
    }
}

/// Returns whether nothing is stored of the dataset.
fn is_empty(dataset: &Dataset) -> Result<bool> {
    Ok(dataset.external_files().is_empty() && dataset.storage_size()? == 0)
}

/// What is taken of each dataset; what was not said of one is as of the other.
fn taken(datasets: [&Dataset; 2], subsets: &[Option<Subset>; 2]) -> Result<[Taken; 2]> {
    let [one, other] = datasets;
    let [subset, other_subset] = subsets;
    let given = |subset: &Option<Subset>, instead: &Option<Subset>| {
        subset.clone().or_else(|| instead.clone()).unwrap_or_default()
    };
    let taken = given(subset, other_subset).of(one.dataspace().dims())?;
    let other_taken = given(other_subset, subset).of(other.dataspace().dims())?;
    if taken.shape() != other_taken.shape() {
        bail!("the selections are of shapes {:?} and {:?}", taken.shape(), other_taken.shape());
    }
    Ok([taken, other_taken])
}

fn parts(
    datasets: [&Dataset; 2],
    taken: &[Taken; 2],
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
            let select = |taken: &Taken| taken.part(&region.start, &region.count).selection();
            Ok([one.read_stored(select(part))?, other.read_stored(select(other_part))?])
        },
        &mut placed,
    )
}

/// Tells where elements of a selection are in the dataset.
struct Placed<'a> {
    taken: &'a Taken,
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
