//! Filter pipelines of all built-in filters: what they decode stays in bounds, damaged or not; what lossless ones encode
//! comes back.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use hyperslab_filter::{ChunkTarget, FilterId, Pipeline, Registry, Stage};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    stages: Vec<ChosenStage>,
    filter_mask: u8,
    length: Option<u16>,
    element_size: u8,
    /// Changes to what was encoded, before it is decoded again: where, and to what.
    damage: Vec<(u16, u8)>,
}

#[derive(Debug, Arbitrary)]
struct ChosenStage {
    filter: u8,
    optional: bool,
    client_data: Vec<Number>,
}

/// Numbers that parameters are: mostly small.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Number {
    Small(u8),
    Middle(u16),
    Any(u32),
}

/// Bytes that no stage may pass.
const MOST: usize = 1 << 18;
/// Parameters of one stage.
const MOST_PARAMETERS: usize = 40;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Unstructured::new(bytes);
    let Ok(chosen) = Input::arbitrary(&mut input) else { return };
    let chunk = input.take_rest();
    let registry = Registry::default();
    let stages = chosen.stages.iter().take(5).map(|chosen| stage(chosen, &registry)).collect();
    let pipeline = Pipeline::new(stages);
    let target = ChunkTarget {
        length: chosen.length.map(usize::from),
        element_size: chosen.element_size.into(),
        max_bytes: MOST,
        expansion: 1 << 10,
        verify: chosen.filter_mask & 0x80 == 0,
        ..ChunkTarget::default()
    };
    let mask = u32::from(chosen.filter_mask);
    decode(&pipeline, &registry, mask, chunk, &target);
    let whole = ChunkTarget { length: Some(chunk.len()), max_bytes: MOST * 4, ..target };
    if let Ok((mut stored, mask)) = pipeline.encode_chunk(&registry, chunk, &whole) {
        if pipeline.stages.iter().all(|stage| is_lossless(stage.id)) {
            let again = pipeline.decode_chunk(&registry, mask, stored.clone(), &whole);
            assert_eq!(again.as_deref(), Ok(chunk), "{pipeline:?}");
        }
        for (at, byte) in &chosen.damage {
            let at = usize::from(*at) % stored.len().max(1);
            if let Some(place) = stored.get_mut(at) {
                *place = *byte;
            }
        }
        decode(&pipeline, &registry, mask, &stored, &whole);
    }
});

fn decode(pipeline: &Pipeline, registry: &Registry, mask: u32, chunk: &[u8], target: &ChunkTarget) {
    if let Ok(decoded) = pipeline.decode_chunk(registry, mask, chunk, target) {
        assert!(decoded.len() <= target.max_bytes.max(chunk.len()), "{} bytes", decoded.len());
        if let Some(length) = target.length {
            assert_eq!(decoded.len(), length);
        }
    }
}

fn is_lossless(id: FilterId) -> bool {
    [FilterId::DEFLATE, FilterId::SHUFFLE, FilterId::FLETCHER32].contains(&id)
}

fn stage(chosen: &ChosenStage, registry: &Registry) -> Stage {
    let ids: Vec<FilterId> = registry.ids().collect();
    let id = ids[usize::from(chosen.filter) % ids.len()];
    let parameters = chosen.client_data.iter().take(MOST_PARAMETERS).map(|number| match number {
        Number::Small(number) => u32::from(*number),
        Number::Middle(number) => u32::from(*number),
        Number::Any(number) => *number,
    });
    let parameters: Vec<u32> = parameters.collect();
    let stage = Stage::new(id, &parameters);
    if chosen.optional { stage.optional() } else { stage }
}
