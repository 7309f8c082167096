//! Sections of structured chunks: selections, heaps, chunk metadata; and whole chunks, which are
//! put into datasets as they are and read.
#![no_main]

use std::sync::{Mutex, PoisonError};

use hyperslab::{CharacterSet, Dataset, Datatype, FileOptions, H5Type, Section, SelectionEncoding};
use hyperslab_fuzz::control::Control;
use hyperslab_format::codec::FileParams;
use hyperslab_format::structured_chunk::{
    ChunkSections, DefinedEncoding, MetadataOrder, SectionHeap, decode_defined, encode_defined, seal_section,
};
use libfuzzer_sys::fuzz_target;

const CHUNKS: [&[u64]; 4] = [&[7], &[5, 4], &[3, 2, 4], &[70_000]];
const ENCODINGS: [DefinedEncoding; 3] =
    [DefinedEncoding::Hyperslab, DefinedEncoding::Points, DefinedEncoding::Shortest];

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let chunk = CHUNKS[usize::from(control.choice(0)) % CHUNKS.len()];
    selection(bytes, chunk);
    heap(bytes, control.params());
    metadata(bytes, control);
    whole(bytes, control);
});

fn selection(bytes: &[u8], chunk: &[u64]) {
    let Ok(decoded) = decode_defined(bytes, chunk, 1 << 16) else { return };
    if let Some(order) = &decoded.order {
        assert_eq!(order.len() as u64, decoded.set.len());
        assert!(order.iter().all(|number| *number < decoded.stored));
    } else {
        assert_eq!(decoded.set.len(), decoded.stored);
    }
    for encoding in ENCODINGS {
        let Ok(encoded) = encode_defined(&decoded.set, encoding) else { continue };
        let again = decode_defined(&encoded, chunk, 1 << 20).expect("what was encoded");
        assert_eq!((again.set, again.order), (decoded.set.clone(), None));
    }
}

fn heap(bytes: &[u8], params: FileParams) {
    let (descriptors, heap) = bytes.split_at(bytes.len().min(64));
    let Ok(heap) = SectionHeap::decode(heap, params) else { return };
    for descriptor in descriptors.chunks_exact(16) {
        for size in [0, 1, 4, 16] {
            let _ = heap.get(descriptor, size);
        }
    }
}

fn metadata(bytes: &[u8], control: Control) {
    let size = u64::from(control.choice(1));
    for count in [2, 3] {
        for offset_size in [4, 8] {
            for order in [None, Some(MetadataOrder::OffsetsFirst), Some(MetadataOrder::MasksFirst)] {
                let Ok(sections) = ChunkSections::decode(bytes, (count, offset_size), size, order) else { continue };
                assert_eq!(sections.chunk_size(), size);
                if let Ok(encoded) = sections.encode(offset_size, order) {
                    let again = ChunkSections::decode(&encoded, (count, offset_size), size, order);
                    assert_eq!(again.as_ref(), Ok(&sections));
                }
            }
        }
    }
}

/// Datasets that take the bytes of chunks, each with one chunk to begin with.
fn datasets() -> Vec<Dataset> {
    let file = FileOptions::new().create_in_memory().expect("a file");
    let text = Datatype::variable_string(CharacterSet::Utf8, 8);
    let lists = Datatype::sequence(Datatype::sequence(i16::datatype(), 8), 8);
    let make = |name: &str, datatype: Datatype, filtered: bool| {
        let new = file.new_dataset(name).datatype(datatype).shape(&[20, 9]).sparse(&[5, 4]);
        let new = new.selection_encoding(SelectionEncoding::Shortest);
        if filtered { new.shuffle().deflate(1).create() } else { new.create() }.expect("a dataset")
    };
    let numbers = make("a", i32::datatype(), false);
    let packed = make("b", i32::datatype(), true);
    let texts = make("c", text.clone(), false);
    let nested = make("d", lists, false);
    let dense = file.new_dataset("e").datatype(text).shape(&[20, 9]).variable_chunks(&[5, 4]).create().expect("a dataset");
    for dataset in [&numbers, &packed] {
        dataset.write(.., &[1_i32; 180]).expect("numbers");
    }
    for dataset in [&texts, &dense] {
        dataset.write_strings(.., &["some text"; 180]).expect("texts");
    }
    let nothing = vec![0; 180 * 16];
    nested.write_bytes(.., nested.datatype(), &nothing).expect("empty sequences");
    vec![numbers, packed, texts, nested, dense]
}

/// Cuts the bytes into sections, with checksums that are right, and puts them where a chunk is.
fn whole(bytes: &[u8], control: Control) {
    static DATASETS: Mutex<Vec<Dataset>> = Mutex::new(Vec::new());
    let mut known = DATASETS.lock().unwrap_or_else(PoisonError::into_inner);
    if known.is_empty() {
        *known = datasets();
    }
    let at = usize::from(control.choice(2)) % known.len();
    let dataset = &known[at];
    let place = if control.choice(3) & 1 == 0 { [0, 0] } else { [15, 8] };
    let Ok(Some(mut chunk)) = dataset.sparse().read_chunk(&place) else { return known.clear() };
    let (mut rest, mut stored) = (bytes, Vec::new());
    let count = chunk.info.sections.len();
    for (number, info) in chunk.info.sections.iter_mut().enumerate() {
        let length = match rest.split_first_chunk::<2>() {
            Some((length, behind)) if number + 1 < count => {
                rest = behind;
                usize::from(u16::from_le_bytes(*length)).min(rest.len())
            }
            _ => rest.len(),
        };
        let (content, behind) = rest.split_at(length);
        rest = behind;
        let mut section = content.to_vec();
        let checksum = info.section == Section::Selection || at >= 2;
        if checksum && !section.is_empty() && at != 1 {
            seal_section(&mut section);
        }
        info.offset = stored.len() as u64;
        info.size = section.len() as u64;
        info.unfiltered = if at == 1 { u64::from(control.choice(4)) } else { info.size };
        info.filter_mask = if at == 1 { u32::from(control.choice(5) & 3) } else { 0 };
        stored.extend_from_slice(&section);
    }
    chunk.info.size = stored.len() as u64;
    chunk.bytes = stored;
    if dataset.sparse().write_chunk(&place, &chunk).is_ok() {
        dataset.read_stored(..).expect("a chunk that was taken");
        dataset.sparse().read_stored(..).expect("a chunk that was taken");
        dataset.sparse().defined_count().expect("a chunk that was taken");
        if dataset.sparse().read_chunk(&place).expect("a chunk that was taken").is_none() {
            known.clear();
        }
    }
}
