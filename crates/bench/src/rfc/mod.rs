//! Sizes of sparse and variable-length data, compared with the sizes that the authors of structured
//! chunks published.

mod made;
mod published;

use anyhow::{Result, ensure};
use hyperslab::filter::FilterSpec;
use hyperslab::{
    Dataset, Datatype, File, FileOptions, H5Type as _, IxDyn, Points, Section, SelectionEncoding,
};

use self::made::{Arrangement, SIDE, Sparse};
use self::published::{CHUNKS, Chunk, VECTORS, Vectors};
use crate::libhdf5;

/// A storage format: a pair of columns in each table.
pub(crate) trait Storage {
    /// Returns the short name.
    fn name(&self) -> &str;

    /// Stores a part of an array of bytes as one chunk of the dataset `x`, with gzip 9 if
    /// requested.
    fn sparse(&self, file: &File, data: &Sparse, gzip: bool) -> Result<Dataset>;

    /// Stores vectors as one chunk of the dataset `x`.
    fn vectors(&self, file: &File, vectors: &[Vec<i8>], gzip: bool) -> Result<Dataset>;
}

/// Dense storage with zeros for undefined elements, and vectors in global heaps. Every version of
/// the format supports this storage.
struct Dense;

impl Storage for Dense {
    fn name(&self) -> &str {
        "dense"
    }

    fn sparse(&self, file: &File, data: &Sparse, gzip: bool) -> Result<Dataset> {
        let side = u64::try_from(SIDE)?;
        let builder = file.new_dataset("x").of::<u8>().shape(&[side, side]).chunks(&[side, side]);
        let dataset = if gzip { builder.deflate(9) } else { builder }.create()?;
        dataset.write(.., &data.dense())?;
        Ok(dataset)
    }

    fn vectors(&self, file: &File, vectors: &[Vec<i8>], gzip: bool) -> Result<Dataset> {
        let count = u64::try_from(vectors.len())?;
        let builder = file.new_dataset("x").datatype(Datatype::sequence(i8::datatype(), 8));
        let builder = builder.shape(&[count]).chunks(&[count]);
        let dataset = if gzip { builder.deflate(9) } else { builder }.create()?;
        dataset.write_sequences(.., vectors)?;
        Ok(dataset)
    }
}

/// Structured chunks: only defined elements are stored, as blocks or as points.
struct Structured(SelectionEncoding);

impl Storage for Structured {
    fn name(&self) -> &str {
        match self.0 {
            SelectionEncoding::Shortest => "hyperslab, shortest",
            _ => "hyperslab, blocks",
        }
    }

    fn sparse(&self, file: &File, data: &Sparse, gzip: bool) -> Result<Dataset> {
        let side = u64::try_from(SIDE)?;
        let new = file.new_dataset("x").of::<u8>().shape(&[side, side]).sparse(&[side, side]);
        let new = new.selection_encoding(self.0);
        let new = if gzip {
            new.section_filters(Section::Selection, &[FilterSpec::shuffle(), FilterSpec::deflate(9)])
                .section_filters(Section::Values, &[FilterSpec::deflate(9)])
        } else {
            new
        };
        let dataset = new.create()?;
        let mut points = Points { rank: 2, coordinates: Vec::new() };
        for [row, column, rows, columns] in &data.blocks {
            for row in *row..row.saturating_add(*rows) {
                for column in *column..column.saturating_add(*columns) {
                    points.coordinates.extend([u64::try_from(row)?, u64::try_from(column)?]);
                }
            }
        }
        dataset.sparse().write(&points, &data.values)?;
        Ok(dataset)
    }

    fn vectors(&self, file: &File, vectors: &[Vec<i8>], gzip: bool) -> Result<Dataset> {
        let count = u64::try_from(vectors.len())?;
        let new = file.new_dataset("x").datatype(Datatype::sequence(i8::datatype(), 8)).shape(&[count]);
        let new = new.variable_chunks(&[count]);
        let new = if gzip {
            new.section_filters(Section::Values, &[FilterSpec::shuffle(), FilterSpec::deflate(9)])
                .section_filters(Section::Heap, &[FilterSpec::deflate(9)])
        } else {
            new
        };
        let dataset = new.create()?;
        dataset.write_sequences(.., vectors)?;
        Ok(dataset)
    }
}

pub(crate) fn run(_args: &[String]) -> Result<()> {
    let blocks = Structured(SelectionEncoding::Blocks);
    let shortest = Structured(SelectionEncoding::Shortest);
    let storages: [&dyn Storage; 3] = [&blocks, &shortest, &Dense];
    let names: Vec<String> =
        storages.iter().map(|storage| format!("{0} | {0} gzip 9", storage.name())).collect();
    println!("One chunk of {SIDE} x {SIDE} bytes: bytes of the chunk; the columns of hyperslab come last\n");
    let theirs = "published structured | published dense gzip 9 | published structured gzip 9";
    println!("| places | values | percent | {theirs} | {} |", names.join(" | "));
    println!("|---|---|---|---|---|---{}|", "|---".repeat(names.len().saturating_mul(2)));
    for chunk in &CHUNKS {
        sparse(chunk, &storages)?;
    }
    println!("\n10 000 variable-length vectors: bytes of the file\n");
    let theirs =
        "published heaps | published heaps gzip 9 | published structured | published structured gzip 9";
    println!("| lengths | values | {theirs} | {} |", names.join(" | "));
    println!("|---|---|---|---|---|---{}|", "|---".repeat(names.len().saturating_mul(2)));
    VECTORS.iter().try_for_each(|vectors| variable(vectors, &storages))
}

fn kind(random: bool) -> &'static str {
    if random { "random" } else { "compressible" }
}

/// Prints the rows for one published table.
fn sparse(chunk: &Chunk, storages: &[&dyn Storage]) -> Result<()> {
    let places = match chunk.places {
        Arrangement::Points => "points",
        Arrangement::Rectangle => "rectangle",
        Arrangement::Runs => "runs",
    };
    let theirs = chunk.structured.iter().zip(&chunk.dense_gzip).zip(&chunk.structured_gzip);
    for (percent, ((structured, dense), gzip)) in (1..).zip(theirs) {
        let data = Sparse::make(chunk.places, percent, chunk.random);
        let mut cells = Vec::new();
        for (storage, gzip) in storages.iter().flat_map(|storage| [(storage, false), (storage, true)]) {
            let dense = data.dense();
            let (bytes, _) = stored(&|file| storage.sparse(file, &data, gzip), &|dataset| {
                Ok(dataset.read::<u8, IxDyn>(..)?.into_raw_vec_and_offset().0 == dense)
            })?;
            cells.push(bytes.to_string());
        }
        println!(
            "| {places} | {} | {percent} | {structured} | {dense} | {gzip} | {} |",
            kind(chunk.random),
            cells.join(" | ")
        );
    }
    Ok(())
}

fn variable(theirs: &Vectors, storages: &[&dyn Storage]) -> Result<()> {
    let data = made::vectors(theirs.longest, theirs.random);
    let mut cells: Vec<String> = theirs.now.iter().chain(&theirs.structured).map(u64::to_string).collect();
    for (storage, gzip) in storages.iter().flat_map(|storage| [(storage, false), (storage, true)]) {
        let (_, bytes) = stored(&|file| storage.vectors(file, &data, gzip), &|dataset| {
            Ok(dataset.read_sequences::<i8, IxDyn>(..)?.into_raw_vec_and_offset().0 == data)
        })?;
        cells.push(bytes.to_string());
    }
    println!("| 1 to {} | {} | {} |", theirs.longest, kind(theirs.random), cells.join(" | "));
    Ok(())
}

/// Returns the bytes of the chunk and of the file, after checking that the data are read back
/// unchanged.
fn stored(
    make: &dyn Fn(&File) -> Result<Dataset>,
    same: &dyn Fn(&Dataset) -> Result<bool>,
) -> Result<(u64, u64)> {
    let path = libhdf5::folder()?.join(format!("rfc_{}.h5", std::process::id()));
    let file = FileOptions::new().create(&path)?;
    drop(make(&file)?);
    file.close()?;
    let bytes = std::fs::metadata(&path)?.len();
    let file = File::open(&path)?;
    let dataset = file.dataset("x")?;
    let result = (dataset.storage_size()?, same(&dataset)?);
    std::fs::remove_file(&path)?;
    ensure!(result.1, "the data read back differ from the data written");
    Ok((result.0, bytes))
}
