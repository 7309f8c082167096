//! Sparse datasets: defined elements and structured chunks (`H5Dget_defined`, `H5Derase`,
//! `H5D*_struct_chunk*`), according to HDF5's proposals for sparse data.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use hyperslab::{Section, SectionInfo, Selection, StructuredChunk, StructuredChunkInfo};

use crate::call_user;
use crate::ctypes::{H5S_ALL, HADDR_UNDEF, counted, haddr_t, herr_t, hid_t, hsize_t};
use crate::dataset::{self, DatasetHandle};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::plist;
use crate::pointer::{Buffer, Data, In, Out};
use crate::space::{self, CSpace};

/// The number of the kind of structured chunks that record defined elements (`H5D_SPARSE_CHUNK`).
const SPARSE: c_uint = 0x01;

/// Information about a structured chunk in the C form (`H5D_struct_chunk_info_t`). The arrays
/// belong to the caller and have one entry for each section of the chunk.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5D_struct_chunk_info_t {
    /// The kind of the structured chunk, such as `H5D_SPARSE_CHUNK`.
    pub kind: c_uint,
    /// The number of sections of the chunk.
    pub num_sections: u8,
    /// The array of the sections' filter masks.
    pub filter_mask: Out<u16>,
    /// The array of the sections' encoded sizes in bytes.
    pub section_size: Out<usize>,
    /// The array of the sections' decoded sizes in bytes.
    pub section_orig_size: Out<usize>,
}

/// The C type of a user's function that visits a structured chunk (`H5D_struct_chunk_iter_op_t`).
pub type Visit = unsafe extern "C" fn(
    *const hsize_t,
    *mut H5D_struct_chunk_info_t,
    *mut haddr_t,
    *mut hsize_t,
    *mut c_void,
) -> c_int;

/// Returns a dataset if its layout is structured chunks. Returns an error for other layouts.
fn sparse(dataset_id: hid_t) -> Outcome<Arc<DatasetHandle>> {
    let handle = dataset::find(dataset_id)?;
    if handle.dataset.sparse().chunking().is_none() {
        return Err(Failure::new(codes::DATASET, codes::BADTYPE, "not a dataset of structured chunks"));
    }
    Ok(handle)
}

/// Returns the selection of a file dataspace. Checks that the dataspace has the rank of the
/// dataset.
fn selection(handle: &DatasetHandle, space_id: hid_t) -> Outcome<Selection> {
    if space_id == H5S_ALL {
        return Ok(Selection::All);
    }
    let space = space::copy_of(space_id)?;
    if space.extent.rank() != handle.dataset.ndim() {
        return Err(Failure::bad_value("the rank of the dataspace differs from the rank of the dataset"));
    }
    Ok(space::effective(&space)?.into_owned())
}

/// Creates a dataspace that selects a dataset's defined elements within a selection. Returns the
/// dataspace's identifier.
fn defined(dataset_id: hid_t, space_id: hid_t) -> Outcome<hid_t> {
    let handle = dataset::find(dataset_id)?;
    let wanted = selection(&handle, space_id)?;
    let selection = if handle.dataset.sparse().chunking().is_some() {
        handle.dataset.sparse().defined(&wanted)?
    } else {
        wanted
    };
    Ok(space::register(CSpace { selection, ..CSpace::all(handle.dataset.dataspace()) }))
}

/// Returns the number of a section of structured chunks: its index in the arrays of the C
/// interface, which have one entry for each section.
fn number(section: Section) -> usize {
    match section {
        Section::Selection => 0,
        Section::Values => 1,
        Section::Heap => 2,
    }
}

/// Stores information about a structured chunk in the caller's arrays.
fn put(info: Out<H5D_struct_chunk_info_t>, chunk: &StructuredChunkInfo) -> Outcome<()> {
    let Some(mut given) = info.get() else { return Ok(()) };
    let mut sections: Vec<&SectionInfo> = chunk.sections.iter().collect();
    sections.sort_by_key(|section| number(section.section));
    let size = |bytes: u64| hyperslab_exact::to_usize(bytes).map_err(Failure::from);
    let masks: Vec<u16> = sections.iter().map(|section| (section.filter_mask & 0xffff) as u16).collect();
    let stored: Vec<usize> = sections.iter().map(|section| size(section.size)).collect::<Outcome<_>>()?;
    let original: Vec<usize> =
        sections.iter().map(|section| size(section.unfiltered)).collect::<Outcome<_>>()?;
    given.kind = SPARSE;
    given.num_sections = counted(sections.len())?;
    given.filter_mask.fill(&masks, masks.len())?;
    given.section_size.fill(&stored, stored.len())?;
    given.section_orig_size.fill(&original, original.len())?;
    info.put(given);
    Ok(())
}

/// Reads the encoded sections of a structured chunk into the caller's buffers, one for each
/// section.
fn read(
    dataset_id: hid_t,
    offset: In<hsize_t>,
    info: Out<H5D_struct_chunk_info_t>,
    buffers: In<Buffer>,
) -> Outcome<()> {
    let handle = sparse(dataset_id)?;
    let offset = offset.array(handle.dataset.ndim(), "offset")?;
    let chunk = handle.dataset.sparse().read_chunk(offset)?;
    let chunk = chunk.because(codes::DATASET, codes::NOTFOUND, "the chunk is not stored")?;
    put(info, &chunk.info)?;
    if buffers.is_null() {
        return Ok(());
    }
    let sections = chunk.info.sections.len();
    let buffers = buffers.array(sections, "buffers")?;
    for section in &chunk.info.sections {
        let missing = || Failure::bad_value("a section of the stored chunk has no bytes");
        let bytes = chunk.section(section.section).ok_or_else(missing)?;
        if let Some(buffer) = buffers.get(number(section.section)) {
            buffer.put(bytes, bytes.len());
        }
    }
    Ok(())
}

/// Writes the encoded sections of a structured chunk from the caller's buffers, one for each
/// section.
fn write(
    dataset_id: hid_t,
    offset: In<hsize_t>,
    info: Out<H5D_struct_chunk_info_t>,
    buffers: In<Data>,
) -> Outcome<()> {
    let handle = sparse(dataset_id)?;
    let offset = offset.array(handle.dataset.ndim(), "offset")?;
    let given = info.require("chunk information")?.get();
    let given = given.because(codes::ARGS, codes::BADVALUE, "no chunk information")?;
    let count = usize::from(given.num_sections);
    let masks = crate::memory::array_of_user(given.filter_mask.pointer(), count);
    let sizes = crate::memory::array_of_user(given.section_size.pointer(), count);
    let originals = crate::memory::array_of_user(given.section_orig_size.pointer(), count);
    let (masks, sizes, originals) = (masks?, sizes?, originals?);
    let buffers = buffers.array(count, "buffers")?;
    let names = [Section::Selection, Section::Values, Section::Heap];
    let mut bytes = Vec::new();
    let mut sections = Vec::new();
    for ((((section, mask), size), original), buffer) in
        names.into_iter().zip(masks).zip(sizes).zip(originals).zip(buffers)
    {
        sections.push(SectionInfo {
            section,
            offset: hyperslab_exact::to_u64(bytes.len()),
            size: hyperslab_exact::to_u64(*size),
            unfiltered: hyperslab_exact::to_u64(*original),
            filter_mask: u32::from(*mask),
        });
        bytes.extend_from_slice(buffer.bytes(*size, "section buffer")?);
    }
    let info = StructuredChunkInfo {
        offset: offset.to_vec(),
        address: HADDR_UNDEF,
        size: hyperslab_exact::to_u64(bytes.len()),
        defined: 0,
        sections,
    };
    handle.dataset.sparse().write_chunk(offset, &StructuredChunk { info, bytes })?;
    Ok(())
}

/// Stores the file offset and the size of a structured chunk in the caller's memory. Stores default
/// values for a missing chunk.
fn put_place(chunk: Option<&StructuredChunkInfo>, base: u64, address: Out<haddr_t>, size: Out<hsize_t>) {
    address.put(chunk.map_or(HADDR_UNDEF, |chunk| chunk.address + base));
    size.put(chunk.map_or(0, |chunk| chunk.size));
}

/// Returns information about the stored structured chunks of a dataset, sorted by the coordinates
/// of the chunks.
fn list(handle: &DatasetHandle) -> Outcome<Vec<StructuredChunkInfo>> {
    let mut chunks = handle.dataset.sparse().chunks()?;
    chunks.sort_by(|one, other| one.offset.cmp(&other.offset));
    Ok(chunks)
}

/// Calls a user's function for each stored structured chunk of a dataset. Stops when the function
/// returns a nonzero value.
fn iterate(dataset_id: hid_t, visit: Option<Visit>, data: *mut c_void) -> Outcome<herr_t> {
    let visit = visit.ok_or_else(|| Failure::bad_value("no callback function"))?;
    let handle = sparse(dataset_id)?;
    let base = handle.location.shared.file.info().user_block;
    for chunk in list(&handle)? {
        let (mut masks, mut sizes, mut originals) = ([0_u16; 3], [0_usize; 3], [0_usize; 3]);
        let mut info = H5D_struct_chunk_info_t {
            kind: SPARSE,
            num_sections: 0,
            filter_mask: Out::to(&mut masks),
            section_size: Out::to(&mut sizes),
            section_orig_size: Out::to(&mut originals),
        };
        put(Out::to(std::slice::from_mut(&mut info)), &chunk)?;
        let (mut address, mut size) = (chunk.address + base, chunk.size);
        match call_user!(visit, chunk.offset.as_ptr(), &raw mut info, &raw mut address, &raw mut size, data) {
            0 => {}
            stop if stop > 0 => return Ok(stop),
            _ => return Err(Failure::new(codes::DATASET, codes::BADITER, "the user's function failed")),
        }
    }
    Ok(0)
}

export! {
    /// Creates a dataspace that selects a dataset's defined elements within the selection of
    /// `file_space`.
    fn H5Dget_defined(dataset_id: hid_t, file_space: hid_t, dxpl: hid_t) -> hid_t {
        plist::transfer(dxpl)?;
        defined(dataset_id, file_space)
            .because(codes::DATASET, codes::CANTGET, "unable to get the defined elements")
    }

    /// Makes the selected elements of a sparse dataset undefined.
    fn H5Derase(dataset_id: hid_t, file_space: hid_t, dxpl: hid_t) -> herr_t {
        plist::transfer(dxpl)?;
        let handle = sparse(dataset_id)?;
        let selection = selection(&handle, file_space)?;
        handle.dataset.sparse().erase(&selection)
            .because(codes::DATASET, codes::CANTDELETE, "unable to erase elements")?;
        Ok(0)
    }

    /// Writes sections that are already encoded as the dataset's structured chunk at the
    /// coordinates `offset`.
    fn H5Dwrite_struct_chunk(
        dataset_id: hid_t, dxpl: hid_t, offset: In<hsize_t>, info: Out<H5D_struct_chunk_info_t>, buffers: In<Data>,
    ) -> herr_t {
        plist::transfer(dxpl)?;
        write(dataset_id, offset, info, buffers)
            .because(codes::DATASET, codes::WRITEERROR, "can't write structured chunk")?;
        Ok(0)
    }

    /// Reads the encoded sections of the dataset's structured chunk at the coordinates `offset`.
    fn H5Dread_struct_chunk(
        dataset_id: hid_t, dxpl: hid_t, offset: In<hsize_t>, info: Out<H5D_struct_chunk_info_t>, buffers: In<Buffer>,
    ) -> herr_t {
        plist::transfer(dxpl)?;
        read(dataset_id, offset, info, buffers)
            .because(codes::DATASET, codes::READERROR, "can't read structured chunk")?;
        Ok(0)
    }

    /// Stores information about one structured chunk of the dataset. `number` counts the chunks
    /// that overlap the bounding box of the dataspace's selection.
    fn H5Dget_struct_chunk_info(
        dataset_id: hid_t, space_id: hid_t, number: hsize_t, offset: Out<hsize_t>,
        info: Out<H5D_struct_chunk_info_t>, address: Out<haddr_t>, size: Out<hsize_t>,
    ) -> herr_t {
        let handle = sparse(dataset_id)?;
        let wanted = selection(&handle, space_id)?;
        let dims = handle.dataset.shape();
        let region = wanted.bounding_box(&dims)?;
        let shape = handle.dataset.sparse().chunking().map(|chunking| chunking.shape).unwrap_or_default();
        let meets = |chunk: &StructuredChunkInfo| region.as_ref().is_some_and(|region| {
            region.bounds().zip(chunk.offset.iter().zip(&shape)).all(|((low, high), (at, size))| {
                *at < high && low < at.saturating_add(*size) // Only compared.
            })
        });
        let chunks: Vec<StructuredChunkInfo> = list(&handle)?.into_iter().filter(meets).collect();
        let found = usize::try_from(number).ok().and_then(|number| chunks.get(number));
        let base = handle.location.shared.file.info().user_block;
        put_place(found, base, address, size);
        if let Some(chunk) = found {
            offset.fill(&chunk.offset, chunk.offset.len())?;
            put(info, chunk)?;
        }
        Ok(0)
    }

    /// Stores information about the dataset's structured chunk that starts at the coordinates
    /// `offset`.
    fn H5Dget_struct_chunk_info_by_coord(
        dataset_id: hid_t, offset: In<hsize_t>, info: Out<H5D_struct_chunk_info_t>, address: Out<haddr_t>,
        size: Out<hsize_t>,
    ) -> herr_t {
        let handle = sparse(dataset_id)?;
        let offset = offset.array(handle.dataset.ndim(), "offset")?;
        let found = handle.dataset.sparse().chunk_at(offset)?;
        put_place(found.as_ref(), handle.location.shared.file.info().user_block, address, size);
        if let Some(chunk) = &found {
            put(info, chunk)?;
        }
        Ok(0)
    }

    /// Calls the user's function `visit` for each stored structured chunk of a dataset until the
    /// function returns a nonzero value.
    fn H5Dstruct_chunk_iter(dataset_id: hid_t, dxpl: hid_t, visit: Option<Visit>, data: *mut c_void) -> herr_t {
        plist::transfer(dxpl)?;
        iterate(dataset_id, visit, data)
    }
}
