//! The work of hyperslab in the benchmark `peers`.

use anyhow::Result;
use hyperslab::filter::{BloscCodec, BloscTransform, FilterSpec};
use hyperslab::{Durability, File, FileOptions, Region, Selection};

use super::request::{BOX_SIDE, Codec, Library, Request, SIDE};

/// hyperslab with its default options, except that no commit waits for the disk.
#[derive(Debug)]
pub(crate) struct Ours;

impl Library for Ours {
    fn write(&mut self, request: &Request, values: &[f32]) -> Result<()> {
        let file = FileOptions::new().durability(Durability::None).create(&request.path)?;
        let builder =
            file.new_dataset("x").of::<f32>().shape(&[SIDE, SIDE]).chunks(&[request.chunk, request.chunk]);
        let builder = match request.codec {
            Codec::None => builder,
            Codec::Gzip => builder.shuffle().deflate(4),
            Codec::Zstd => builder.filter(FilterSpec::zstd(3)),
            Codec::Blosc => builder.filter(FilterSpec::blosc(BloscCodec::Lz4, 5, BloscTransform::Shuffle)),
        };
        let dataset = builder.create()?;
        dataset.write(.., values)?;
        drop(dataset);
        Ok(file.close()?)
    }

    fn read(&mut self, request: &Request) -> Result<Vec<f32>> {
        Ok(File::open(&request.path)?.dataset("x")?.read_raw(..)?)
    }

    fn boxes(&mut self, request: &Request, starts: &[[u64; 2]]) -> Result<Vec<Vec<f32>>> {
        let dataset = File::open(&request.path)?.dataset("x")?;
        let read = |start: &[u64; 2]| -> Result<Vec<f32>> {
            let region = Selection::region(&Region::new(start, &[BOX_SIDE, BOX_SIDE])?);
            Ok(dataset.read_raw(&region)?)
        };
        starts.iter().map(read).collect()
    }
}
