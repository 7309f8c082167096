//! The work of the crate `zarrs`.

use std::sync::Arc;

use anyhow::Result;
use zarrs::array::codec::{
    BloscCodec, BloscCompressor, BloscShuffleMode, GzipCodec, ShuffleCodec, ZstdCodec,
};
use zarrs::array::{
    Array, ArrayBuilder, ArrayShardedReadableExt as _, ArrayShardedReadableExtCache, ArraySubset,
    BytesToBytesCodecTraits, CodecOptions, data_type,
};
use zarrs::filesystem::FilesystemStore;

use crate::request::{BOX_SIDE, Codec, Library, Request, SIDE};

/// The crate with its default features and default options, and with files as its store.
#[derive(Debug)]
pub(crate) struct Zarr {
    /// The side of a square shard, if the array has shards.
    pub(crate) shard: Option<u64>,
}

impl Library for Zarr {
    fn write(&mut self, request: &Request, values: &[f32]) -> Result<()> {
        let side = self.shard.unwrap_or(request.chunk);
        let store = Arc::new(FilesystemStore::new(&request.path)?);
        let mut builder = ArrayBuilder::new([SIDE, SIDE], [side, side], data_type::float32(), 0.0_f32);
        if self.shard.is_some() {
            builder.subchunk_shape(vec![request.chunk, request.chunk]);
        }
        let array = builder.bytes_to_bytes_codecs(codecs(request.codec)?).build(store, "/")?;
        array.store_metadata()?;
        let count = SIDE / side;
        Ok(array.store_chunks(&ArraySubset::new_with_shape(vec![count, count]), values)?)
    }

    fn read(&mut self, request: &Request) -> Result<Vec<f32>> {
        let array = open(request)?;
        Ok(array.retrieve_array_subset(&array.subset_all())?)
    }

    fn boxes(&mut self, request: &Request, starts: &[[u64; 2]]) -> Result<Vec<Vec<f32>>> {
        let array = open(request)?;
        // It keeps the indexes of shards.
        let cache = ArrayShardedReadableExtCache::new(&array);
        let options = CodecOptions::default();
        let read = |start: &[u64; 2]| -> Result<Vec<f32>> {
            let part = ArraySubset::new_with_ranges(&start.map(|start| start..start + BOX_SIDE));
            Ok(match self.shard {
                Some(_) => array.retrieve_array_subset_sharded_opt(&cache, &part, &options)?,
                None => array.retrieve_array_subset(&part)?,
            })
        };
        starts.iter().map(read).collect()
    }
}

fn open(request: &Request) -> Result<Array<FilesystemStore>> {
    Ok(Array::open(Arc::new(FilesystemStore::new(&request.path)?), "/")?)
}

fn codecs(codec: Codec) -> Result<Vec<Arc<dyn BytesToBytesCodecTraits>>> {
    Ok(match codec {
        Codec::None => Vec::new(),
        Codec::Gzip => vec![Arc::new(ShuffleCodec::new(4)), Arc::new(GzipCodec::new(4)?)],
        Codec::Zstd => vec![Arc::new(ZstdCodec::new(3, false))],
        Codec::Blosc => {
            let level = 5_u8.try_into().map_err(|level| anyhow::anyhow!("no level {level}"))?;
            let codec =
                BloscCodec::new(BloscCompressor::LZ4, level, None, BloscShuffleMode::Shuffle, Some(4));
            vec![Arc::new(codec?)]
        }
    })
}
