//! Everything that can be asked of a file, asked.

use std::collections::HashSet;

use hyperslab::datatype::{DatatypeClass, VariableLengthKind};
use hyperslab::{
    Attribute, Dataset, Datatype, File, Hyperslab, IxDyn, Limits, LinkTarget, Object, ObjectKind,
    OpenOptions, Points, RegularHyperslab, Selection, Stored,
};

/// Bytes of a dataset beyond which it is not read.
const MOST_BYTES: u64 = 1 << 20;
/// Objects visited.
const MOST_OBJECTS: usize = 500;
/// Elements of variable length followed in one dataset or attribute.
const MOST_ELEMENTS: usize = 500;

/// Bounds under which a damaged file cannot cost much.
pub fn limits() -> Limits {
    Limits {
        metadata_block: 1 << 20,
        index_nodes: 1 << 12,
        header_chunks: 64,
        chunk_bytes: 4 << 20,
        result_bytes: 4 << 20,
        virtual_steps: 1 << 14,
        ..Limits::default()
    }
}

/// Opens a file image and reads what is in it. Nothing comes of it but the certainty that it returns.
pub fn image(bytes: &[u8]) {
    let options = OpenOptions::new().limits(limits()).ignore_status_flags(true);
    if let Ok(opened) = options.open_bytes(bytes.to_vec()) {
        file(&opened);
    }
}

/// Reads what is in a file.
pub fn file(file: &File) {
    let _ = file.info();
    let mut seen = HashSet::from([file.root().token()]);
    let mut pending: Vec<Object> = vec![(**file.root()).clone()];
    while let Some(object) = pending.pop() {
        let _ = (object.link_count(), object.comment(), object.modified(), object.header_info());
        for attribute in object.attributes().unwrap_or_default() {
            let found = object.attribute(&attribute.name());
            drop(found);
            read_attribute(&attribute);
        }
        match object.kind() {
            Some(ObjectKind::Group) => {
                let Ok(group) = object.into_group() else { continue };
                let _ = (group.storage(), group.link_order());
                for link in group.links().unwrap_or_default() {
                    let _ = group.link(&link.name_lossy());
                    match link.target {
                        LinkTarget::Hard(token) if seen.len() < MOST_OBJECTS && seen.insert(token) => {
                            pending.extend(file.object_at(token));
                        }
                        LinkTarget::Soft(path) => {
                            let _ = group.object(&String::from_utf8_lossy(&path));
                        }
                        _ => {}
                    }
                }
            }
            Some(ObjectKind::Dataset) => {
                if let Ok(dataset) = object.into_dataset() {
                    read_dataset(&dataset);
                }
            }
            Some(ObjectKind::Datatype) => {
                let _ = object.into_datatype().map(|named| named.datatype().to_string());
            }
            _ => {}
        }
    }
}

fn read_attribute(attribute: &Attribute) {
    let _ = (attribute.datatype(), attribute.dataspace());
    if let Ok(stored) = attribute.read_stored() {
        follow(&stored);
    }
    let _ = attribute.read::<f64, IxDyn>();
}

fn read_dataset(dataset: &Dataset) {
    let _ = (dataset.layout(), dataset.filters(), dataset.fill_value(), dataset.external_files());
    let _ = (dataset.to_owned(), dataset.storage_size(), dataset.datatype().to_string());
    let bytes = dataset.size().ok().and_then(|size| size.checked_mul(u64::from(dataset.datatype().size)));
    if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
        return;
    }
    if let Ok(stored) = dataset.read_stored(..) {
        assert_eq!(Some(stored.bytes().len() as u64), bytes, "{dataset:?}");
        follow(&stored);
    }
    if let Ok(values) = dataset.read_dyn(..) {
        for index in 0..values.column().len().min(MOST_ELEMENTS) {
            assert!(values.column().get(index).is_some(), "{dataset:?}: no element {index}");
        }
    }
    read_parts(dataset);
    for reference in dataset.read_references::<IxDyn>(..).into_iter().flatten().take(MOST_ELEMENTS) {
        let _ = (reference.object(), reference.attribute(), reference.region());
    }
    for member in dataset.datatype().member_names().iter().take(MOST_ELEMENTS) {
        let _ = dataset.field(member).and_then(|field| field.read::<f64, IxDyn>(..));
    }
}

/// Reads through selections, chunk by chunk, and of sparse datasets what is defined.
fn read_parts(dataset: &Dataset) {
    let _ = (dataset.virtual_mappings(), dataset.stored_fill_value().map(|fill| follow(&fill)));
    let chunks = dataset.chunks().list().unwrap_or_default();
    for chunk in chunks.iter().take(8) {
        let _ = dataset.chunks().read(&chunk.offset);
    }
    let dims = dataset.shape();
    if dims.is_empty() || dims.contains(&0) {
        return;
    }
    let ones = vec![1; dims.len()];
    let start: Vec<u64> = dims.iter().map(|size| u64::from(*size > 2)).collect();
    let stride = vec![3; dims.len()];
    let count: Vec<u64> = dims.iter().zip(&start).map(|(size, start)| (size - start).div_ceil(3)).collect();
    let slab = RegularHyperslab {
        start: start.iter().copied().collect(),
        stride: stride.iter().copied().collect(),
        count: count.iter().copied().collect(),
        block: ones.iter().copied().collect(),
    };
    let last: Vec<u64> = dims.iter().map(|size| size - 1).collect();
    let coordinates = [start, last.clone(), vec![0; dims.len()], last].concat();
    let points = Selection::Points(Points { rank: dims.len(), coordinates });
    for selection in [Selection::Hyperslab(Hyperslab::Regular(slab)), points] {
        let count = selection.element_count(&dims).unwrap_or(0);
        if let Ok(stored) = dataset.read_stored(&selection) {
            assert_eq!(stored.len() as u64, count, "{dataset:?}");
        }
        read_defined(dataset, &selection);
    }
    read_defined(dataset, &Selection::All);
    for chunk in dataset.sparse().chunks().unwrap_or_default().iter().take(8) {
        let _ = dataset.sparse().read_chunk(&chunk.offset);
    }
}

fn read_defined(dataset: &Dataset, selection: &Selection) {
    if dataset.sparse().chunking().is_none() {
        return;
    }
    let _ =
        (dataset.sparse().defined_count(), dataset.sparse().density(), dataset.sparse().defined(selection));
    if let Ok((points, stored)) = dataset.sparse().read_stored(selection) {
        assert_eq!(points.coordinates.len(), stored.len() * points.rank, "{dataset:?}");
        follow(&stored);
    }
    for block in dataset.sparse().rows::<f64>(7).take(50) {
        if block.is_err() {
            break;
        }
    }
    let _ = dataset.sparse().read_csr::<f64, u32>();
}

/// Follows the variable-length data of elements, and converts numbers.
fn follow(stored: &Stored) {
    for element in stored.elements().take(MOST_ELEMENTS) {
        follow_element(stored, stored.datatype(), element, 0);
    }
    if stored.datatype().is_number() {
        let _ = (stored.convert::<f64>(), stored.convert::<i32>());
    }
    let _ = stored.strings();
}

fn follow_element(stored: &Stored, datatype: &Datatype, element: &[u8], depth: usize) {
    if depth > 3 {
        return;
    }
    match &datatype.class {
        DatatypeClass::VariableLength(variable) => {
            let Ok(value) = stored.variable_length(element) else { return };
            let size = variable.base.size as usize;
            let Ok(items) = value.items(size) else { return };
            if matches!(variable.kind, VariableLengthKind::Sequence) && size > 0 {
                for item in items.chunks_exact(size).take(16) {
                    follow_element(stored, &variable.base, item, depth + 1);
                }
            }
        }
        DatatypeClass::Compound(compound) => {
            for member in compound.members.iter().take(16) {
                let start = usize::try_from(member.offset).unwrap_or(usize::MAX);
                let end = start.saturating_add(member.datatype.size as usize);
                if let Some(part) = element.get(start..end) {
                    follow_element(stored, &member.datatype, part, depth + 1);
                }
            }
        }
        DatatypeClass::Array(array) => {
            let size = (array.base.size as usize).max(1);
            for item in element.chunks_exact(size).take(16) {
                follow_element(stored, &array.base, item, depth + 1);
            }
        }
        _ => {}
    }
}
