//! The column of hyperslab: a sparse dataset.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hyperslab::filter::FilterSpec;
use hyperslab::{
    Dataset, File, FileOptions, LibverBounds, OpenOptions, Points, Region, Section, Selection,
    SelectionEncoding,
};

use super::Codec;
use super::backend::{Backend, Done, Operation};
use super::matrix::{BOX, Matrix, Met, Requests};
use crate::clock::Clock;

/// The storage of the matrix.
#[derive(Debug)]
pub(super) struct Storage {
    /// The chunk dimensions; `None` for hyperslab's own choice.
    pub(super) chunk: Option<Vec<u64>>,
    pub(super) encoding: SelectionEncoding,
    pub(super) codec: Codec,
}

/// A matrix in one file.
pub(crate) struct SparseDataset<'a> {
    path: PathBuf,
    description: String,
    storage: Storage,
    matrix: &'a Matrix,
    requests: &'a Requests,
}

impl<'a> SparseDataset<'a> {
    pub(super) fn new(
        folder: &Path,
        matrix: &'a Matrix,
        requests: &'a Requests,
        storage: Storage,
    ) -> Result<Self> {
        let path = folder.join("hyperslab.h5");
        let mut column = Self { path, description: String::new(), storage, matrix, requests };
        let file = FileOptions::new().create_in_memory()?;
        let chunking = column.dataset(&file)?.sparse().chunking().context("structured chunks")?;
        let shape: Vec<String> = chunking.shape.iter().map(u64::to_string).collect();
        let codec = match column.storage.codec {
            Codec::Gzip => "deflate 4",
            Codec::Zstd => "zstd 3",
        };
        column.description = format!("sparse dataset, chunks of {}, shuffle and {codec}", shape.join(" x "));
        Ok(column)
    }

    fn dataset(&self, file: &File) -> Result<Dataset> {
        let side = u64::try_from(self.matrix.side)?;
        let new = file.new_dataset("x").of::<f32>().shape(&[side, side]);
        let new = match &self.storage.chunk {
            Some(chunk) => new.sparse(chunk),
            None => new.sparse_auto().density_of_csr(&self.matrix.indptr, &self.matrix.indices),
        };
        let filters = [FilterSpec::shuffle(), self.storage.codec.filter()];
        Ok(new
            .selection_encoding(self.storage.encoding)
            .section_filters(Section::Selection, &filters)
            .section_filters(Section::Values, &filters)
            .create()?)
    }

    fn open(&self) -> Result<Dataset> {
        Ok(File::open(&self.path)?.dataset("x")?)
    }

    fn parts(&self, regions: impl Iterator<Item = Result<Region>>) -> Result<Vec<Vec<f32>>> {
        let dataset = self.open()?;
        regions.map(|region| Ok(dataset.sparse().read::<f32>(&Selection::region(&region?))?.1)).collect()
    }

    fn does(&self, operation: Operation) -> Result<Vec<Vec<f32>>> {
        let (matrix, requests, side) = (self.matrix, self.requests, u64::try_from(self.matrix.side)?);
        let place = |at: usize| -> Result<u64> { Ok(u64::try_from(at)?) };
        Ok(match operation {
            Operation::Write => {
                let file = File::create(&self.path)?;
                self.dataset(&file)?.sparse().write_csr(&matrix.indptr, &matrix.indices, &matrix.values)?;
                file.close()?;
                Vec::new()
            }
            Operation::Read => vec![self.open()?.sparse().read_csr::<f32, u32>()?.values],
            Operation::Boxes => {
                let dataset = self.open()?;
                let size = u64::try_from(BOX)?;
                let read = |[row, column]: &[usize; 2]| -> Result<Vec<f32>> {
                    let region = Region::new(&[place(*row)?, place(*column)?], &[size, size])?;
                    Ok(dataset.read_raw(&region)?)
                };
                requests.boxes.iter().map(read).collect::<Result<_>>()?
            }
            Operation::Rows => {
                self.parts(requests.rows.iter().map(|row| Ok(Region::new(&[place(*row)?, 0], &[1, side])?)))?
            }
            Operation::Columns => self.parts(
                requests.columns.iter().map(|column| Ok(Region::new(&[0, place(*column)?], &[side, 1])?)),
            )?,
            Operation::Append => {
                let file = OpenOptions::new().write(true).libver(LibverBounds::default()).open(&self.path)?;
                let places = requests.append.iter().flat_map(|(place, _)| *place);
                let coordinates: Result<Vec<u64>> = places.map(place).collect();
                let values: Vec<f32> = requests.append.iter().map(|(_, value)| *value).collect();
                file.dataset("x")?.sparse().write(&Points { rank: 2, coordinates: coordinates? }, &values)?;
                file.close()?;
                vec![values]
            }
        })
    }
}

impl Backend for SparseDataset<'_> {
    fn name(&self) -> &str {
        "hyperslab"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn run(&mut self, operation: Operation) -> Result<Done> {
        if operation == Operation::Write {
            let _gone = std::fs::remove_file(&self.path);
        }
        let clock = Clock::start();
        let parts = self.does(operation)?;
        let took = clock.took();
        let met = match operation {
            // The written values are found by reading them, outside the measured time.
            Operation::Write => Met::of(&self.open()?.sparse().read_csr::<f32, u32>()?.values),
            _ => Met::of(parts.iter().flatten()),
        };
        Ok(Done { took, met: Some(met), bytes: std::fs::metadata(&self.path)?.len() })
    }
}
