//! The sizes of dimensions without a limit. Variables of netCDF-4 share a dimension, but a dataset
//! has only the records that were written into it; the others have the fill value.

use std::collections::HashMap;

use hyperslab::Dataset;

use crate::chunks::Storage;
use crate::dimensions::scale_of;
use crate::grid::Grid;

/// The largest number of records of the datasets that share a dimension without a limit, by the
/// address of its scale.
#[derive(Debug, Default)]
pub(crate) struct UnlimitedSizes(HashMap<u64, u64>);

impl UnlimitedSizes {
    /// Adds the sizes of a dataset.
    pub(crate) fn add(&mut self, dataset: &Dataset) {
        let shape = dataset.shape();
        for (axis, scale) in shared(dataset) {
            if let Some(length) = shape.get(axis) {
                let size = self.0.entry(scale).or_default();
                *size = (*size).max(*length);
            }
        }
    }

    /// Moves the chunks of a dataset to the grid with the sizes of its shared dimensions. Along an
    /// axis whose last chunk is not full, the dataset keeps its own size: after the end of the
    /// dataset, the chunk may have other values than the fill value.
    ///
    /// Returns `false`, without a change, if a position does not fit in 64 bits.
    pub(crate) fn lengthen(&self, dataset: &Dataset, storage: &mut Storage) -> bool {
        let grid = &storage.grid;
        let mut shape = grid.shape().to_vec();
        for (axis, scale) in shared(dataset) {
            let chunk = grid.chunk().get(axis).copied().unwrap_or(1);
            let (Some(length), Some(size)) = (shape.get_mut(axis), self.0.get(&scale)) else { continue };
            if length.is_multiple_of(chunk) {
                *length = (*length).max(*size);
            }
        }
        if shape == grid.shape() {
            return true;
        }
        let longer = Grid::new(&shape, grid.chunk());
        let moved = storage.chunks.iter().map(|chunk| grid.position_in(&longer, chunk.position));
        let Some(moved) = moved.collect::<Option<Vec<u64>>>() else { return false };
        storage.chunks.iter_mut().zip(moved).for_each(|(chunk, position)| chunk.position = position);
        storage.grid = longer;
        true
    }
}

/// Returns the axes of a dataset without a limit that have a scale, and the addresses of the
/// scales.
fn shared(dataset: &Dataset) -> Vec<(usize, u64)> {
    let dataspace = dataset.dataspace();
    let limits = dataspace.max_dims();
    let unlimited = limits.iter().enumerate().filter(|(_, limit)| limit.is_none());
    let with_scale = unlimited.filter_map(|(axis, _)| {
        let scale = scale_of(dataset, axis)?;
        Some((axis, scale.token().address()))
    });
    with_scale.collect()
}

#[cfg(test)]
mod tests {
    use hyperslab::{File, FileOptions, Result};

    use super::*;
    use crate::{Array, Json, ReferenceOptions, Visitor};

    #[derive(Default)]
    struct Arrays(Vec<Array>);

    impl Visitor for Arrays {
        fn group(&mut self, _: &str, _: &Json) -> Result<()> {
            Ok(())
        }

        fn array(&mut self, array: Array) -> Result<()> {
            self.0.push(array);
            Ok(())
        }
    }

    /// Adds a dataset of `records` records of two numbers in chunks of `chunk` records.
    fn add(file: &File, name: &str, (records, chunk): (u64, u64)) -> Dataset {
        let new = file.new_dataset(name).of::<i32>().shape(&[2, records]).chunks(&[1, chunk]);
        let dataset = new.max_shape(&[Some(2), None]).fill(7_i32).create().unwrap();
        dataset.write(.., &vec![1_i32; usize::try_from(2 * records).unwrap()]).unwrap();
        dataset
    }

    #[test]
    fn variables_that_share_a_dimension_have_one_size() {
        let file = FileOptions::new().create_in_memory().unwrap();
        let time = file.new_dataset("time").of::<f64>().shape(&[0]).unlimited().create().unwrap();
        time.dimensions().make_scale("time").unwrap();
        for (name, sizes) in [("long", (6, 2)), ("short", (4, 2)), ("not full", (3, 2)), ("none", (0, 2))] {
            add(&file, name, sizes).dimensions().attach(1, &time).unwrap();
        }
        add(&file, "alone", (2, 2));
        file.flush().unwrap();
        let mut arrays = Arrays::default();
        ReferenceOptions::new("a.h5").visit(file.root(), &mut arrays).unwrap();
        let found = |name: &str| {
            let array = arrays.0.iter().find(|array| array.path == name).unwrap();
            let keys = array.chunks.iter().map(|chunk| array.chunk_key(chunk.position));
            (array.shape.clone(), keys.collect::<Vec<_>>())
        };
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        assert_eq!(found("long"), (vec![2, 6], keys(&["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"])));
        // The chunks that do not exist have the fill value, which is not the one of zarr.
        assert_eq!(found("short"), (vec![2, 6], keys(&["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"])));
        assert_eq!(found("not full").0, [2, 3]);
        assert_eq!(found("none"), (vec![2, 6], keys(&["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"])));
        assert_eq!(found("alone").0, [2, 2]);
        assert_eq!(found("time").0, [6]);
    }
}
