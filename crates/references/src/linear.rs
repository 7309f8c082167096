//! Contiguous elements: one chunk in the file, or chunks in external files.

use std::sync::Arc;

use hyperslab::{Dataset, ExternalFile, Result};
use hyperslab_exact::to_usize;

use crate::chunks::{Chunks, Refusal, Storage, grid};
use crate::decoded::Encoder;
use crate::element::Element;
use crate::options::sibling;
use crate::{Chunk, Content};

/// Returns the chunks of a dataset in contiguous layout.
pub(crate) fn storage(
    chunks: &mut Chunks<'_>,
    dataset: &Dataset,
    element: &Element,
    address: Option<u64>,
) -> Result<Result<Storage, Refusal>> {
    let shape = dataset.shape();
    let mut storage = Storage {
        grid: grid(dataset, element, &shape),
        codecs: Vec::new(),
        chunks: Vec::new(),
        encoder: Encoder::of(&[]),
    };
    let count = dataset.dataspace().element_count().unwrap_or(0);
    let Some(length) = count.checked_mul(u64::from(element.memory.size)) else {
        return Ok(Err("more than 2^64 bytes".to_owned()));
    };
    let files = dataset.external_files();
    if length == 0 || (address.is_none() && files.is_empty()) {
        return Ok(Ok(storage));
    }
    let Some(address) = address else {
        return Ok(external(chunks, (dataset, element), length, &files));
    };
    let content = if length <= chunks.inline {
        let mut bytes = vec![0; to_usize(length)?];
        dataset.read_bytes(.., &element.memory, &mut bytes)?;
        Content::Inline(bytes.into())
    } else {
        // The sum of two offsets inside the file.
        Content::Range { url: Arc::clone(&chunks.url), offset: chunks.user_block + address, length }
    };
    storage.chunks.push(Chunk { position: 0, content });
    Ok(Ok(storage))
}

/// Returns the chunks of a dataset in external files: one file has all elements, or each file has
/// the same number of rows.
fn external(
    chunks: &Chunks<'_>,
    (dataset, element): (&Dataset, &Element),
    length: u64,
    files: &[ExternalFile],
) -> Result<Storage, Refusal> {
    let mut chunk = dataset.shape();
    let mut sizes = Vec::with_capacity(files.len());
    let mut left = length;
    for file in files {
        if left == 0 {
            break;
        }
        let size = file.size.unwrap_or(left).min(left);
        left -= size;
        sizes.push(size);
    }
    let first = sizes.first().copied().unwrap_or(0);
    let rows = chunk.first().copied().unwrap_or(1).max(1);
    let row = length / rows;
    let (last, equal) = sizes.split_last().ok_or("no external file")?;
    let is_whole = left == 0 && equal.iter().all(|size| *size == first) && *last <= first;
    // A shorter last file would give a chunk without its end.
    let is_regular = first % row.max(1) == 0 && (sizes.len() == 1 || *last == first);
    if !is_whole || !is_regular {
        return Err("external files with different numbers of rows".to_owned());
    }
    if let (Some(dimension), true) = (chunk.first_mut(), sizes.len() > 1) {
        *dimension = first / row.max(1);
    }
    let mut found = Vec::with_capacity(sizes.len());
    for ((file, length), position) in files.iter().zip(&sizes).zip(0_u64..) {
        let name = String::from_utf8_lossy(&file.name);
        let url = sibling(&chunks.url, &name);
        let url = url.ok_or_else(|| format!("external file `{name}` outside the folder of the file"))?;
        let content = Content::Range { url: url.into(), offset: file.offset, length: *length };
        found.push(Chunk { position, content });
    }
    let grid = grid(dataset, element, &chunk);
    Ok(Storage { grid, codecs: Vec::new(), chunks: found, encoder: Encoder::of(&[]) })
}
