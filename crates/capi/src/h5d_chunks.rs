//! Access to stored chunks in encoded form (`H5Dget_chunk_*`, `H5Dread_chunk`, `H5Dwrite_chunk`).

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use hyperslab::{ChunkIndexKind, ChunkInfo, Layout};

use crate::call_user;
use crate::ctypes::{HADDR_UNDEF, haddr_t, herr_t, hid_t, hsize_t};
use crate::dataset::{self, DatasetHandle, chunk_list};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::plist;
use crate::pointer::{Buffer, Data, In, Out};

/// The C type of a user's function that visits a stored chunk (`H5D_chunk_iter_op_t`).
pub type Visit = unsafe extern "C" fn(*const hsize_t, c_uint, haddr_t, hsize_t, *mut c_void) -> c_int;

/// Returns a dataset with its chunk shape, if the dataset has chunked layout. Returns an error for
/// other layouts.
fn chunked(dataset_id: hid_t) -> Outcome<(Arc<DatasetHandle>, Vec<u64>)> {
    let handle = dataset::find(dataset_id)?;
    match handle.dataset.layout() {
        Layout::Chunked(chunking) => Ok((handle, chunking.shape)),
        _ => Err(Failure::new(codes::DATASET, codes::BADTYPE, "not a chunked dataset")),
    }
}

/// Returns the coordinates of a chunk's first element from the caller's array. Checks that a chunk
/// starts at these coordinates.
fn offset_of(handle: &DatasetHandle, chunk: &[u64], offset: In<hsize_t>) -> Outcome<Vec<u64>> {
    let shape = handle.dataset.shape();
    let offset = offset.array(shape.len(), "offset")?;
    for ((at, size), chunk) in offset.iter().zip(&shape).zip(chunk) {
        if at >= size {
            return Err(Failure::new(codes::DATASET, codes::BADTYPE, "offset exceeds dimensions of dataset"));
        }
        if at.checked_rem(*chunk) != Some(0) {
            let text = "offset doesn't fall on chunks's boundary";
            return Err(Failure::new(codes::DATASET, codes::BADTYPE, text));
        }
    }
    Ok(offset.to_vec())
}

/// Stores the filter mask, the file offset and the size of a chunk in the caller's memory. Stores
/// default values for a missing chunk.
fn put(
    info: Option<&ChunkInfo>,
    base: u64,
    (mask, address, size): (Out<c_uint>, Out<haddr_t>, Out<hsize_t>),
) {
    mask.put(info.map_or(0, |info| info.filter_mask));
    address.put(info.map_or(HADDR_UNDEF, |info| info.address + base));
    size.put(info.map_or(0, |info| info.size));
}

/// Returns the number of bytes before the base address of the dataset's file.
fn base(handle: &DatasetHandle) -> u64 {
    handle.location.shared.file.info().user_block
}

/// Writes the encoded bytes of a dataset's chunk with the given filter mask.
fn write(
    dataset_id: hid_t,
    dxpl: hid_t,
    (filters, offset): (c_uint, In<hsize_t>),
    bytes: &[u8],
) -> Outcome<()> {
    plist::transfer(dxpl).because(codes::ARGS, codes::BADTYPE, "not a dataset transfer list")?;
    let (handle, chunk) = chunked(dataset_id)?;
    let offset = offset_of(&handle, &chunk, offset)?;
    if bytes.is_empty() || u32::try_from(bytes.len()).is_err() {
        return Err(Failure::bad_value("the size of the chunk is 0 or above 4 GiB"));
    }
    handle.dataset.chunks().write(&offset, bytes, filters)?;
    Ok(())
}

/// Copies the encoded bytes of a dataset's chunk to the caller's buffer and returns their number.
fn read(
    dataset_id: hid_t,
    dxpl: hid_t,
    offset: In<hsize_t>,
    filters: Out<c_uint>,
    (buffer, size): (Buffer, Option<usize>),
) -> Outcome<usize> {
    plist::transfer(dxpl).because(codes::ARGS, codes::BADTYPE, "not a dataset transfer list")?;
    let (handle, chunk) = chunked(dataset_id)?;
    let offset = offset_of(&handle, &chunk, offset)?;
    let stored = handle.dataset.chunks().read(&offset)?;
    let stored = stored.because(codes::DATASET, codes::CANTGET, "the chunk is not stored")?;
    filters.put(stored.info.filter_mask);
    let length = stored.bytes.len();
    buffer.put(&stored.bytes, size.unwrap_or(length));
    Ok(length)
}

export! {
    /// Stores in `count` the number of stored chunks of a dataset. Ignores the dataspace argument.
    fn H5Dget_num_chunks(dataset_id: hid_t, space_id: hid_t, count: Out<hsize_t>) -> herr_t {
        let _ = space_id;
        count.require("number of chunks")?;
        let handle = dataset::find(dataset_id)?;
        if let Some(sparse) = handle.dataset.sparse().chunking() {
            let _ = sparse;
            count.put(hyperslab_exact::to_u64(handle.dataset.sparse().chunks()?.len()));
            return Ok(0);
        }
        let (handle, _) = chunked(dataset_id).because(codes::DATASET, codes::CANTGET, "can't get number of chunks")?;
        count.put(hyperslab_exact::to_u64(chunk_list::list(&handle)?.len()));
        Ok(0)
    }

    /// Stores the coordinates, filter mask, file offset and size of the dataset's stored chunk with
    /// the index `number`.
    fn H5Dget_chunk_info(
        dataset_id: hid_t, space_id: hid_t, number: hsize_t, offset: Out<hsize_t>, filters: Out<c_uint>,
        address: Out<haddr_t>, size: Out<hsize_t>,
    ) -> herr_t {
        let _ = space_id;
        let (handle, _) = chunked(dataset_id)?;
        let chunks = chunk_list::written(&handle)?;
        let found = usize::try_from(number).ok().and_then(|number| chunks.get(number));
        let found = found.ok_or_else(|| Failure::bad_value("chunk index is out of range"))?;
        offset.fill(&found.offset, found.offset.len())?;
        put(Some(found), base(&handle), (filters, address, size));
        Ok(0)
    }

    /// Stores the filter mask, file offset and size of the dataset's chunk that starts at the
    /// coordinates `offset`.
    fn H5Dget_chunk_info_by_coord(
        dataset_id: hid_t, offset: In<hsize_t>, filters: Out<c_uint>, address: Out<haddr_t>, size: Out<hsize_t>,
    ) -> herr_t {
        let (handle, chunk) = chunked(dataset_id)?;
        chunk_list::write(&handle)?;
        let offset = offset.array(chunk.len(), "offset")?;
        let shape = handle.dataset.shape();
        let outside = offset.iter().zip(&shape).any(|(at, size)| at >= size);
        let found = if outside { None } else { handle.dataset.chunks().at(offset)? };
        put(found.as_ref(), base(&handle), (filters, address, size));
        Ok(0)
    }

    /// Calls the user's function `visit` for each stored chunk of a dataset until the function
    /// returns a nonzero value, and returns this value.
    fn H5Dchunk_iter(dataset_id: hid_t, dxpl: hid_t, visit: Option<Visit>, data: *mut c_void) -> herr_t {
        plist::transfer(dxpl).because(codes::ARGS, codes::BADTYPE, "not a dataset transfer list")?;
        let visit = visit.ok_or_else(|| Failure::bad_value("invalid callback to chunk iteration"))?;
        let (handle, _) = chunked(dataset_id)?;
        let base = base(&handle);
        for chunk in chunk_list::written(&handle)?.iter() {
            let (mask, address) = (chunk.filter_mask, chunk.address + base);
            match call_user!(visit, chunk.offset.as_ptr(), mask, address, chunk.size, data) {
                0 => {}
                stop if stop > 0 => return Ok(stop),
                _ => return Err(Failure::new(codes::DATASET, codes::BADITER, "error iterating over chunks")),
            }
        }
        Ok(0)
    }

    /// Stores in `size` the number of encoded bytes of the dataset's chunk that starts at the
    /// coordinates `offset`.
    fn H5Dget_chunk_storage_size(dataset_id: hid_t, offset: In<hsize_t>, size: Out<hsize_t>) -> herr_t {
        let (handle, chunk) = chunked(dataset_id)?;
        let offset = offset_of(&handle, &chunk, offset)?;
        let found = handle.dataset.chunks().at(&offset)?;
        let found = found.because(codes::DATASET, codes::CANTGET, "the chunk is not stored")?;
        size.require("size")?.put(found.size);
        Ok(0)
    }

    /// Reads the encoded bytes of a dataset's chunk into `buffer`, which must be large enough.
    fn H5Dread_chunk1(
        dataset_id: hid_t, dxpl: hid_t, offset: In<hsize_t>, filters: Out<c_uint>, buffer: Buffer,
    ) -> herr_t {
        read(dataset_id, dxpl, offset, filters, (buffer, None))
            .because(codes::DATASET, codes::READERROR, "can't read unprocessed chunk data")?;
        Ok(0)
    }

    /// Reads at most `size` encoded bytes of a dataset's chunk into `buffer` and stores the chunk's
    /// full size in `size`.
    fn H5Dread_chunk2(
        dataset_id: hid_t, dxpl: hid_t, offset: In<hsize_t>, filters: Out<c_uint>, buffer: Buffer, size: Out<usize>,
    ) -> herr_t {
        let room = size.get().unwrap_or(0);
        let length = read(dataset_id, dxpl, offset, filters, (buffer, Some(room)))
            .because(codes::DATASET, codes::READERROR, "can't read unprocessed chunk data")?;
        size.put(length);
        Ok(0)
    }

    /// Reads the encoded bytes of a dataset's chunk into `buffer`, for programs that were compiled
    /// for HDF5 1.14.
    fn H5Dread_chunk(
        dataset_id: hid_t, dxpl: hid_t, offset: In<hsize_t>, filters: Out<c_uint>, buffer: Buffer,
    ) -> herr_t {
        read(dataset_id, dxpl, offset, filters, (buffer, None))
            .because(codes::DATASET, codes::READERROR, "can't read unprocessed chunk data")?;
        Ok(0)
    }

    /// Writes bytes that are already encoded as the dataset's chunk that starts at the coordinates
    /// `offset`.
    fn H5Dwrite_chunk(
        dataset_id: hid_t, dxpl: hid_t, filters: c_uint, offset: In<hsize_t>, size: usize, bytes: Data,
    ) -> herr_t {
        let bytes = bytes.bytes(size, "buffer")?;
        write(dataset_id, dxpl, (filters, offset), bytes)
            .because(codes::DATASET, codes::WRITEERROR, "can't write unprocessed chunk data")?;
        Ok(0)
    }

    /// Stores the type of the dataset's chunk index in `kind` (`H5D_chunk_index_t`).
    fn H5Dget_chunk_index_type(dataset_id: hid_t, kind: Out<c_int>) -> herr_t {
        let handle = dataset::find(dataset_id)?;
        let Layout::Chunked(chunking) = handle.dataset.layout() else {
            return Err(Failure::new(codes::DATASET, codes::BADTYPE, "not a chunked dataset"));
        };
        kind.require("index type")?.put(match chunking.index {
            ChunkIndexKind::BTreeV1 => 0,
            ChunkIndexKind::Single => 1,
            ChunkIndexKind::Implicit => 2,
            ChunkIndexKind::FixedArray => 3,
            ChunkIndexKind::ExtensibleArray => 4,
            ChunkIndexKind::BTreeV2 => 5,
        });
        Ok(0)
    }
}
