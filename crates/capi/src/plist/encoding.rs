//! Encodings of creation properties that are not single numbers, in encoded property lists
//! (`H5Pencode`). libhdf5 2.0.0 encodes and decodes the same bytes.
//!
//! ```text
//! layout               1 byte: the class of the layout. Chunked: the rank in 1 byte, then the chunk
//!                      shape in 4 bytes for each dimension. Virtual: the number of mappings in 8
//!                      bytes, then for each mapping the file and the dataset as texts that end with
//!                      a zero byte, the dataspace of the source, and the dataspace of the view
//! efl                  a short number of files, then for each file the short length of its name,
//!                      the name, a zero byte, the short offset, and the short size
//! fill_value           1 byte: allocation time; 1 byte: fill time; 8 bytes: size of the value. Size
//!                      0 is the default value, and -1 no value. Otherwise the value follows, the
//!                      short length of the encoded datatype, and the encoded datatype
//! pline                1 byte: 4; a short number of filters, then for each filter its number and
//!                      flags in 4 bytes each; 1 byte: 1 before a name of 12 bytes, or 0; a short
//!                      number of client data values, and the values in 4 bytes each
//! object header flags  1 byte: 4 for tracked and 8 for indexed attribute order, 32 for times
//! link info            1 byte: 4; the creation order flags of links in 4 bytes
//! merge committed dtype list
//!                      texts that end with a zero byte, and an empty text
//! group info           the size of the local heap in 4 bytes; the maximum number of compact links,
//!                      the minimum number of dense links, the estimated number of links, and their
//!                      estimated name length in 2 bytes each
//! ```
//!
//! A short number has no leading zero bytes and follows its length in 1 byte.

#![expect(clippy::disallowed_methods, reason = "property lists are encoded in memory, not in files")]

use std::ffi::c_int;

use hyperslab::serialized::SelectionFormat;

use super::Settings;
use super::settings::{
    DatasetCreate, FileCreate, FillChoice, FilterEntry, GroupCreate, LayoutChoice, MappingChoice,
    ObjectCreate,
};
use crate::error::{Failure, Outcome, codes};
use crate::pointer::Stream;
use crate::space::CSpace;
use crate::{h5s_encode, h5t_encode};

/// The size in bytes of a filter name in an encoded filter pipeline.
const NAME_BYTES: usize = 12;
/// The smallest number of filters that are encoded with their names.
const FIRST_NAMED: c_int = 256;
/// The size in bytes of the C type `unsigned int`, as encoded lists state it.
const UINT_BYTES: u8 = 4;
/// The bit of the object header flags for the tracked creation order of attributes.
const ORDER_TRACKED: u8 = 0x04;
/// The bit of the object header flags for the indexed creation order of attributes.
const ORDER_INDEXED: u8 = 0x08;
/// The bit of the object header flags for stored times.
const TIMES: u8 = 0x20;

/// A creation property with an encoding of several numbers.
#[derive(Debug)]
pub struct Structured {
    /// The name of the property.
    pub name: &'static str,
    /// Appends the encoding of the property to a list. Returns false if property lists with these
    /// settings do not have the property.
    pub encode: fn(&Settings, &mut Vec<u8>, SelectionFormat) -> Outcome<bool>,
    /// Decodes the property into the settings of a list.
    pub decode: fn(&mut Settings, &mut Stream) -> Outcome<()>,
}

/// Returns all properties with an encoding of several numbers.
pub fn all() -> impl Iterator<Item = &'static Structured> {
    ALL.iter().chain(super::encoding_access::ALL)
}

/// All creation properties with an encoding of several numbers.
const ALL: &[Structured] = &[
    Structured { name: "layout", encode: encode_layout, decode: decode_layout },
    Structured { name: "efl", encode: encode_external, decode: decode_external },
    Structured { name: "fill_value", encode: encode_fill, decode: decode_fill },
    Structured { name: "pline", encode: encode_filters, decode: decode_filters },
    Structured { name: "object header flags", encode: encode_flags, decode: decode_flags },
    Structured { name: "link info", encode: encode_links, decode: decode_links },
    Structured { name: "group info", encode: encode_group, decode: decode_group },
    Structured { name: "merge committed dtype list", encode: encode_paths, decode: decode_paths },
];

fn dataset(settings: &Settings) -> Option<&DatasetCreate> {
    if let Settings::DatasetCreate(dataset) = settings { Some(dataset) } else { None }
}

fn dataset_mut(settings: &mut Settings) -> Outcome<&mut DatasetCreate> {
    if let Settings::DatasetCreate(dataset) = settings { Ok(dataset) } else { Err(misplaced()) }
}

fn group(settings: &Settings) -> Option<&GroupCreate> {
    match settings {
        Settings::GroupCreate(group) | Settings::FileCreate(FileCreate { group, .. }) => Some(group),
        _ => None,
    }
}

fn group_mut(settings: &mut Settings) -> Outcome<&mut GroupCreate> {
    match settings {
        Settings::GroupCreate(group) | Settings::FileCreate(FileCreate { group, .. }) => Ok(group),
        _ => Err(misplaced()),
    }
}

fn object(settings: &Settings) -> Option<&ObjectCreate> {
    match settings {
        Settings::ObjectCreate(object)
        | Settings::FileCreate(FileCreate { group: GroupCreate { object, .. }, .. })
        | Settings::GroupCreate(GroupCreate { object, .. })
        | Settings::DatasetCreate(DatasetCreate { object, .. }) => Some(object),
        _ => None,
    }
}

fn object_mut(settings: &mut Settings) -> Outcome<&mut ObjectCreate> {
    match settings {
        Settings::ObjectCreate(object)
        | Settings::FileCreate(FileCreate { group: GroupCreate { object, .. }, .. })
        | Settings::GroupCreate(GroupCreate { object, .. })
        | Settings::DatasetCreate(DatasetCreate { object, .. }) => Ok(object),
        _ => Err(misplaced()),
    }
}

pub(super) fn misplaced() -> Failure {
    Failure::new(codes::PLIST, codes::BADVALUE, "the class of the list does not have the encoded property")
}

pub(super) fn damaged(text: &'static str) -> Failure {
    Failure::new(codes::PLIST, codes::CANTDECODE, text)
}

/// Converts a property value to the type in which the encoding stores the value.
///
/// # Errors
/// Fails if the value does not fit.
pub fn narrow<A, B: TryFrom<A>>(value: A) -> Outcome<B> {
    let text = "a property value is too large for its encoding";
    B::try_from(value).map_err(|_| Failure::new(codes::PLIST, codes::CANTENCODE, text))
}

/// Appends a number without its leading zero bytes, after a byte with its length.
pub(super) fn put_short(bytes: &mut Vec<u8>, value: u64) {
    let used = (1..8_u8).find(|used| value >> (8 * used) == 0).unwrap_or(8);
    bytes.push(used);
    bytes.extend(value.to_le_bytes().into_iter().take(used.into()));
}

/// Returns the next `count` bytes of an encoded property list.
pub fn take(stream: &mut Stream, count: usize) -> Outcome<Vec<u8>> {
    stream.take(count).ok_or_else(|| damaged("the encoding is too long"))
}

pub(super) fn take_number<const N: usize>(stream: &mut Stream) -> Outcome<[u8; N]> {
    take(stream, N)?.try_into().map_err(|_| damaged("a number is incomplete"))
}

pub(super) fn take_u32(stream: &mut Stream) -> Outcome<u32> {
    take_number(stream).map(u32::from_le_bytes)
}

pub(super) fn take_byte(stream: &mut Stream) -> Outcome<u8> {
    take_number(stream).map(|[byte]| byte)
}

pub(super) fn take_short(stream: &mut Stream) -> Outcome<u64> {
    let used = usize::from(take_byte(stream)?);
    let mut all = [0; 8];
    let part = all.get_mut(..used).ok_or_else(|| damaged("a number has more than 8 bytes"))?;
    part.copy_from_slice(&take(stream, used)?);
    Ok(u64::from_le_bytes(all))
}

/// Returns the bytes of the next text of an encoded property list, without its zero byte.
pub fn take_text(stream: &mut Stream) -> Outcome<Vec<u8>> {
    let mut text = Vec::new();
    loop {
        match take_byte(stream)? {
            0 => return Ok(text),
            byte => text.push(byte),
        }
    }
}

fn count(value: u64, text: &'static str) -> Outcome<usize> {
    usize::try_from(value).map_err(|_| damaged(text))
}

fn encode_layout(settings: &Settings, bytes: &mut Vec<u8>, form: SelectionFormat) -> Outcome<bool> {
    let Some(it) = dataset(settings) else { return Ok(false) };
    bytes.push(it.layout as u8);
    match it.layout {
        LayoutChoice::Compact | LayoutChoice::Contiguous => {}
        LayoutChoice::Chunked => {
            bytes.push(
                u8::try_from(it.chunk.len()).map_err(|_| damaged("the chunk has too many dimensions"))?,
            );
            for size in &it.chunk {
                let size = u32::try_from(*size)
                    .map_err(|_| Failure::unsupported("an encoding of chunks of 4 GiB"))?;
                bytes.extend(size.to_le_bytes());
            }
        }
        LayoutChoice::Virtual => {
            bytes.extend(hyperslab_exact::to_u64(it.mappings.len()).to_le_bytes());
            for mapping in &it.mappings {
                for text in [&mapping.file, &mapping.dataset] {
                    bytes.extend_from_slice(text);
                    bytes.push(0);
                }
                for (extent, selection) in [&mapping.source, &mapping.space] {
                    let space =
                        CSpace { extent: extent.clone(), selection: selection.clone(), offset: Vec::new() };
                    bytes.extend(h5s_encode::encode(&space, form)?);
                }
            }
        }
        LayoutChoice::Structured => return Err(Failure::unsupported("an encoding of structured chunks")),
    }
    Ok(true)
}

fn decode_layout(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    let it = dataset_mut(settings)?;
    it.layout = match take_byte(stream)? {
        0 => LayoutChoice::Compact,
        1 => LayoutChoice::Contiguous,
        2 => LayoutChoice::Chunked,
        3 => LayoutChoice::Virtual,
        _ => return Err(damaged("unknown layout")),
    };
    if it.layout == LayoutChoice::Chunked {
        let rank = take_byte(stream)?;
        it.chunk = (0..rank).map(|_| take_u32(stream).map(u64::from)).collect::<Outcome<_>>()?;
    }
    if it.layout == LayoutChoice::Virtual {
        let mappings = take_number(stream).map(u64::from_le_bytes)?;
        it.mappings = (0..mappings).map(|_| take_mapping(stream)).collect::<Outcome<_>>()?;
    }
    Ok(())
}

fn take_mapping(stream: &mut Stream) -> Outcome<MappingChoice> {
    let (file, dataset) = (take_text(stream)?, take_text(stream)?);
    let mut space = || {
        let (space, length) = h5s_encode::decode(stream.rest())?;
        take(stream, length)?;
        Ok::<_, Failure>((space.extent, space.selection))
    };
    let (source, space) = (space()?, space()?);
    Ok(MappingChoice { space, file, dataset, source })
}

fn encode_external(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Some(it) = dataset(settings) else { return Ok(false) };
    put_short(bytes, hyperslab_exact::to_u64(it.external.len()));
    for (name, offset, size) in &it.external {
        put_short(bytes, hyperslab_exact::to_u64(name.len() + 1));
        bytes.extend_from_slice(name);
        bytes.push(0);
        put_short(bytes, offset.cast_unsigned());
        put_short(bytes, *size);
    }
    Ok(true)
}

fn decode_external(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    let it = dataset_mut(settings)?;
    it.external.clear();
    for _ in 0..take_short(stream)? {
        let length = count(take_short(stream)?, "the name of an external file is too long")?;
        let mut name = take(stream, length)?;
        if name.pop() != Some(0) {
            return Err(damaged("the name of an external file has no zero byte at its end"));
        }
        it.external.push((name, take_short(stream)?.cast_signed(), take_short(stream)?));
    }
    Ok(())
}

fn encode_fill(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Some(it) = dataset(settings) else { return Ok(false) };
    // Without a choice, the layout decides the time of the allocation.
    let allocation = it.allocation_time.unwrap_or(match it.layout {
        LayoutChoice::Compact => 1,
        LayoutChoice::Contiguous | LayoutChoice::Virtual => 2,
        LayoutChoice::Chunked | LayoutChoice::Structured => 3,
    });
    bytes.extend([narrow::<_, u8>(allocation)?, narrow(it.fill_time)?]);
    match &it.fill {
        FillChoice::Default => bytes.extend(0_i64.to_le_bytes()),
        FillChoice::Undefined => bytes.extend((-1_i64).to_le_bytes()),
        FillChoice::Value(datatype, value) => {
            bytes.extend(hyperslab_exact::to_u64(value.len()).to_le_bytes());
            bytes.extend_from_slice(value);
            let datatype = h5t_encode::encode(datatype)?;
            put_short(bytes, hyperslab_exact::to_u64(datatype.len()));
            bytes.extend(datatype);
        }
    }
    Ok(true)
}

fn decode_fill(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    let it = dataset_mut(settings)?;
    it.allocation_time = Some(c_int::from(take_byte(stream)?));
    it.fill_time = take_byte(stream)?.into();
    it.fill = match take_number(stream).map(i64::from_le_bytes)? {
        0 => FillChoice::Default,
        -1 => FillChoice::Undefined,
        size => {
            let size = u64::try_from(size).map_err(|_| damaged("the size of the fill value is negative"))?;
            let value = take(stream, count(size, "the fill value is too long")?)?;
            let length = count(take_short(stream)?, "the datatype of the fill value is too long")?;
            FillChoice::Value(h5t_encode::decode(&take(stream, length)?)?, value)
        }
    };
    Ok(())
}

fn encode_filters(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let filters: &[FilterEntry] = match settings {
        Settings::DatasetCreate(dataset) => &dataset.filters,
        Settings::ObjectCreate(object) => &object.filters,
        _ if group(settings).is_some() => &[],
        _ => return Ok(false),
    };
    bytes.push(UINT_BYTES);
    put_short(bytes, hyperslab_exact::to_u64(filters.len()));
    for filter in filters {
        bytes.extend(filter.id.to_le_bytes());
        bytes.extend(filter.flags.to_le_bytes());
        let name = filter.name.as_ref().filter(|_| filter.id >= FIRST_NAMED);
        bytes.push(u8::from(name.is_some()));
        if let Some(name) = name {
            let mut field: Vec<u8> = name.iter().copied().take(NAME_BYTES - 1).collect();
            field.resize(NAME_BYTES, 0);
            bytes.extend(field);
        }
        put_short(bytes, hyperslab_exact::to_u64(filter.data.len()));
        bytes.extend(filter.data.iter().flat_map(|value| value.to_le_bytes()));
    }
    Ok(true)
}

fn decode_filters(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    if take_byte(stream)? != UINT_BYTES {
        return Err(damaged("the numbers of the filter pipeline do not have 4 bytes"));
    }
    let filters = (0..take_short(stream)?).map(|_| take_filter(stream)).collect::<Outcome<Vec<_>>>()?;
    match settings {
        Settings::DatasetCreate(dataset) => dataset.filters = filters,
        Settings::ObjectCreate(object) => object.filters = filters,
        _ if !filters.is_empty() => return Err(misplaced()),
        _ => {}
    }
    Ok(())
}

fn take_filter(stream: &mut Stream) -> Outcome<FilterEntry> {
    let (id, flags) = (take_number(stream).map(c_int::from_le_bytes)?, take_u32(stream)?);
    let name = match take_byte(stream)? {
        0 => crate::filter::name(id),
        _ => Some(take(stream, NAME_BYTES)?.into_iter().take_while(|byte| *byte != 0).collect()),
    };
    let data = (0..take_short(stream)?).map(|_| take_u32(stream)).collect::<Outcome<_>>()?;
    Ok(FilterEntry { id, flags, data, name })
}

fn encode_flags(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Some(it) = object(settings) else { return Ok(false) };
    let tracked = if it.attribute_order & 1 == 0 { 0 } else { ORDER_TRACKED };
    let indexed = if it.attribute_order & 2 == 0 { 0 } else { ORDER_INDEXED };
    bytes.push(tracked | indexed | if it.track_times { TIMES } else { 0 });
    Ok(true)
}

fn decode_flags(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    let flags = take_byte(stream)?;
    let it = object_mut(settings)?;
    it.attribute_order = u32::from(flags & ORDER_TRACKED != 0) | u32::from(flags & ORDER_INDEXED != 0) << 1;
    it.track_times = flags & TIMES != 0;
    Ok(())
}

fn encode_links(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Some(it) = group(settings) else { return Ok(false) };
    bytes.push(UINT_BYTES);
    bytes.extend(it.link_order.to_le_bytes());
    Ok(true)
}

fn decode_links(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    if take_byte(stream)? != UINT_BYTES {
        return Err(damaged("the creation order flags of links do not have 4 bytes"));
    }
    group_mut(settings)?.link_order = take_u32(stream)?;
    Ok(())
}

fn encode_group(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Some(it) = group(settings) else { return Ok(false) };
    bytes.extend(narrow::<_, u32>(it.local_heap_size)?.to_le_bytes());
    for value in [it.max_compact, it.min_dense, it.estimated_links, it.estimated_name_length] {
        bytes.extend(narrow::<_, u16>(value)?.to_le_bytes());
    }
    Ok(true)
}

fn decode_group(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    let heap = take_u32(stream)?;
    let mut value = || take_number(stream).map(u16::from_le_bytes).map(u32::from);
    let values = (value()?, value()?, value()?, value()?);
    let it = group_mut(settings)?;
    it.local_heap_size = heap as usize;
    (it.max_compact, it.min_dense, it.estimated_links, it.estimated_name_length) = values;
    Ok(())
}

fn encode_paths(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Settings::ObjectCopy(it) = settings else { return Ok(false) };
    for path in &it.merge_paths {
        bytes.extend_from_slice(path);
        bytes.push(0);
    }
    bytes.push(0);
    Ok(true)
}

fn decode_paths(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    let Settings::ObjectCopy(it) = settings else { return Err(misplaced()) };
    it.merge_paths.clear();
    loop {
        let path = take_text(stream)?;
        if path.is_empty() {
            return Ok(());
        }
        it.merge_paths.push(path);
    }
}
