//! Filter pipelines: what they decode stays in bounds, what they encode comes back.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use hyperslab_filter::{ChunkTarget, FilterId, Pipeline, Registry, Stage};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    stages: Vec<(u8, u8, bool)>,
    filter_mask: u8,
    length: Option<u16>,
    element_size: u8,
}

/// Bytes that no stage may pass.
const MOST: usize = 1 << 18;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Unstructured::new(bytes);
    let Ok(chosen) = Input::arbitrary(&mut input) else { return };
    let chunk = input.take_rest();
    let stages = chosen.stages.iter().take(5).map(stage).collect();
    let pipeline = Pipeline::new(stages);
    let registry = Registry::default();
    let target = ChunkTarget {
        length: chosen.length.map(usize::from),
        element_size: chosen.element_size.into(),
        max_bytes: MOST,
        expansion: 1 << 10,
        verify: chosen.filter_mask & 0x80 == 0,
    };
    if let Ok(decoded) = pipeline.decode_chunk(&registry, chosen.filter_mask.into(), chunk, &target) {
        assert!(decoded.len() <= MOST.max(chunk.len()), "{} bytes", decoded.len());
        if let Some(length) = target.length {
            assert_eq!(decoded.len(), length);
        }
    }
    let whole = ChunkTarget { length: Some(chunk.len()), max_bytes: MOST * 4, ..target };
    if let Ok((stored, mask)) = pipeline.encode_chunk(&registry, chunk, &whole) {
        let again = pipeline.decode_chunk(&registry, mask, stored, &whole);
        assert_eq!(again.as_deref(), Ok(chunk), "{pipeline:?}");
    }
});

fn stage((filter, parameter, optional): &(u8, u8, bool)) -> Stage {
    let parameter = u32::from(*parameter);
    let stage = match filter % 4 {
        0 => Stage::new(FilterId::DEFLATE, &[parameter % 10]),
        1 => Stage::new(FilterId::SHUFFLE, &[parameter]),
        2 => Stage::new(FilterId::FLETCHER32, &[]),
        _ => Stage::new(FilterId::SHUFFLE, &[]),
    };
    if *optional { stage.optional() } else { stage }
}
