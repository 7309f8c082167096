//! The work of the crate `rust-hdf5`.

use anyhow::Result;
use rust_hdf5::{Filter, FilterPipeline, H5File, LibverBound};

use crate::request::{BOX_SIDE, Codec, Library, Request, SIDE};

/// The number of the Blosc filter.
const BLOSC: u16 = 32001;

/// The crate with its features `parallel` and `all_filters`. It encodes chunks on several threads
/// only for the chunk indexes of HDF5 1.10, so files have these.
#[derive(Debug)]
pub(crate) struct RustHdf5;

impl Library for RustHdf5 {
    fn write(&mut self, request: &Request, values: &[f32]) -> Result<()> {
        let file = H5File::options().libver(LibverBound::V110).create(&request.path)?;
        let (side, chunk) = (usize::try_from(SIDE)?, usize::try_from(request.chunk)?);
        let builder = file.new_dataset::<f32>().shape([side, side]).chunk(&[chunk, chunk]);
        let builder = match request.codec {
            Codec::None => builder,
            Codec::Gzip => builder.shuffle_deflate(4),
            Codec::Zstd => builder.zstd(3),
            Codec::Blosc => builder.filter_pipeline(blosc(u32::try_from(chunk * chunk * 4)?)),
        };
        builder.create("x")?.write_raw(values)?;
        Ok(file.close_no_sync()?)
    }

    fn read(&mut self, request: &Request) -> Result<Vec<f32>> {
        Ok(H5File::open(&request.path)?.dataset("x")?.read_raw()?)
    }

    fn boxes(&mut self, request: &Request, starts: &[[u64; 2]]) -> Result<Vec<Vec<f32>>> {
        let file = H5File::open(&request.path)?;
        let dataset = file.dataset("x")?;
        let side = usize::try_from(BOX_SIDE)?;
        let read = |[row, column]: &[u64; 2]| -> Result<Vec<f32>> {
            let start = [usize::try_from(*row)?, usize::try_from(*column)?];
            Ok(dataset.read_slice(&start, &[side, side])?)
        };
        starts.iter().map(read).collect()
    }
}

/// Returns the Blosc filter for chunks of `bytes` bytes: LZ4, level 5, a shuffle of bytes. The
/// crate has no function for it.
fn blosc(bytes: u32) -> FilterPipeline {
    let filter = Filter { id: BLOSC, flags: 1, cd_values: vec![2, 2, 4, bytes, 5, 1, 1] };
    FilterPipeline { filters: vec![filter] }
}
