//! The work of the crate `hdf5-pure`.

use anyhow::{Result, bail};
use hdf5_pure::{File, FileBuilder};

use crate::request::{BOX_SIDE, Codec, Library, Request, SIDE};

/// The crate with its default features, and with zlib-rs as its zlib.
#[derive(Debug)]
pub(crate) struct Pure;

impl Library for Pure {
    fn write(&mut self, request: &Request, values: &[f32]) -> Result<()> {
        let mut file = FileBuilder::new();
        let dataset = file.create_dataset("x");
        dataset.with_data(values).with_shape(&[SIDE, SIDE]).with_chunks(&[request.chunk, request.chunk]);
        match request.codec {
            Codec::None => {}
            Codec::Gzip => {
                dataset.with_shuffle().with_deflate(4);
            }
            Codec::Zstd => bail!("hdf5-pure has no Zstandard"),
            Codec::Blosc => bail!("hdf5-pure has no Blosc"),
        }
        Ok(file.write(&request.path)?)
    }

    fn read(&mut self, request: &Request) -> Result<Vec<f32>> {
        Ok(File::open(&request.path)?.dataset("x")?.read()?)
    }

    /// Reads whole rows and picks the columns: the crate reads no other parts of a dataset.
    fn boxes(&mut self, request: &Request, starts: &[[u64; 2]]) -> Result<Vec<Vec<f32>>> {
        let file = File::open(&request.path)?;
        let dataset = file.dataset("x")?;
        let (width, side) = (usize::try_from(SIDE)?, usize::try_from(BOX_SIDE)?);
        let read = |[row, column]: &[u64; 2]| -> Result<Vec<f32>> {
            let rows = dataset.read_f32_rows(*row, BOX_SIDE)?;
            let column = usize::try_from(*column)?;
            let inside = |row: &[f32]| row.iter().skip(column).take(side).copied().collect::<Vec<f32>>();
            Ok(rows.chunks_exact(width).flat_map(inside).collect())
        };
        starts.iter().map(read).collect()
    }
}
