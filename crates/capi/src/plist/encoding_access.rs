//! Encodings of the properties of access, transfer and file creation lists that are not single
//! numbers. libhdf5 encodes and decodes the same bytes.
//!
//! ```text
//! rdcc_nbytes, rdcc_nslots   a short number; of dataset access lists, 0 in 1 byte for the value of
//!                            the file
//! rdcc_w0                    1 byte: 8; the number in 8 bytes; of dataset access lists, a negative
//!                            number for the value of the file
//! vds_prefix, external file prefix, external link prefix, mdc_log_location
//!                            the short length of the text, and the text
//! external link fapl         1 byte: 0 for the default list; or 1, the short length of an encoded
//!                            list, and the list
//! btree_split_ratio          1 byte: 8; three numbers in 8 bytes each
//! data_transform             the short length of the text with its zero byte, and the text
//! btree_rank                 1 byte: 4; two numbers in 4 bytes each
//! shmsg_message_types, shmsg_message_minsize
//!                            1 byte: 4; eight numbers in 4 bytes each
//! num_shmsg_indexes          1 byte: 4; a number in 4 bytes
//! mdc_initCacheImageCfg      1 byte: 4; four numbers in 4 bytes each
//! mdc_initCacheCfg           1 byte: 4; 1 byte: 8; the members of `H5AC_cache_config_t`: numbers and
//!                            truth values in 4 bytes each, the name in 1025 bytes, sizes as short
//!                            numbers, `epoch_length` in 8 bytes, rules for the size in 1 byte each,
//!                            `dirty_bytes_threshold` in 4 bytes
//! ```

#![expect(clippy::disallowed_methods, reason = "property lists are encoded in memory, not in files")]

use hyperslab::serialized::SelectionFormat;

use super::Settings;
use super::encoding::{Structured, damaged, put_short, take, take_byte, take_number, take_short, take_u32};
use super::settings::{DatasetAccess, FileCreate, LinkAccess};
use crate::convert::transform::Transform;
use crate::error::Outcome;
use crate::pointer::Stream;

/// The largest number of indexes of shared messages.
const INDEXES: usize = 8;
/// The smallest size of a shared message in an index that no list describes.
const UNUSED_SIZE: u32 = 250;
/// The size of an `unsigned int`, as encoded lists state it.
const UINT_BYTES: u8 = 4;
/// The size of a `double`, as encoded lists state it.
const DOUBLE_BYTES: u8 = 8;

/// The properties of access, transfer and file creation lists with an encoding of their own.
pub(super) const ALL: &[Structured] = &[
    Structured { name: "rdcc_w0", encode: encode_preemption, decode: decode_preemption },
    Structured { name: "rdcc_nbytes", encode: encode_cache_bytes, decode: decode_cache_bytes },
    Structured { name: "rdcc_nslots", encode: encode_cache_slots, decode: decode_cache_slots },
    Structured { name: "vds_prefix", encode: encode_sources, decode: decode_sources },
    Structured { name: "external file prefix", encode: encode_raw, decode: decode_raw },
    Structured { name: "external link prefix", encode: encode_links, decode: decode_links },
    Structured { name: "external link fapl", encode: encode_link_access, decode: decode_link_access },
    Structured { name: "btree_split_ratio", encode: encode_ratios, decode: decode_ratios },
    Structured { name: "data_transform", encode: encode_transform, decode: decode_transform },
    Structured { name: "btree_rank", encode: encode_ranks, decode: decode_ranks },
    Structured { name: "shmsg_message_types", encode: encode_types, decode: decode_types },
    Structured { name: "shmsg_message_minsize", encode: encode_sizes, decode: decode_sizes },
    Structured { name: "num_shmsg_indexes", encode: encode_indexes, decode: decode_indexes },
    Structured {
        name: "mdc_initCacheCfg",
        encode: super::encoding_cache::encode,
        decode: super::encoding_cache::decode,
    },
    Structured {
        name: "mdc_initCacheImageCfg",
        encode: super::encoding_cache::encode_image,
        decode: super::encoding_cache::decode_image,
    },
    Structured { name: "mdc_log_location", encode: absent, decode: skip_text },
    Structured { name: "use_mdc_logging", encode: absent, decode: skip_byte },
    Structured { name: "start_mdc_log_on_access", encode: absent, decode: skip_byte },
    Structured { name: "bkgr_buf_type", encode: absent, decode: skip_byte },
    Structured { name: "io_xfer_mode", encode: absent, decode: skip_byte },
    Structured { name: "mpio_collective_opt", encode: absent, decode: skip_byte },
    Structured { name: "mpio_chunk_opt_hard", encode: absent, decode: skip_byte },
    Structured { name: "mpio_chunk_opt_num", encode: absent, decode: skip_number },
    Structured { name: "mpio_chunk_opt_ratio", encode: absent, decode: skip_number },
];

/// Encodes nothing: this library has no such property.
#[expect(clippy::unnecessary_wraps, reason = "the encodings of all properties have one type")]
fn absent(_: &Settings, _: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    Ok(false)
}

fn skip_byte(_: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    take_byte(stream).map(drop)
}

fn skip_number(_: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    let width = take_byte(stream)?;
    take(stream, width.into()).map(drop)
}

fn skip_text(_: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    take_counted(stream).map(drop)
}

/// Reads the width of numbers and checks that it is `width`.
pub(super) fn expect_width(stream: &mut Stream, width: u8) -> Outcome<()> {
    if take_byte(stream)? != width {
        return Err(damaged("the numbers of a property have another width than in C"));
    }
    Ok(())
}

/// Reads a floating-point number of 8 bytes.
pub(super) fn take_f64(stream: &mut Stream) -> Outcome<f64> {
    take_number(stream).map(f64::from_le_bytes)
}

/// Reads a size without its leading zero bytes.
pub(super) fn take_size(stream: &mut Stream) -> Outcome<usize> {
    let size = take_short(stream)?;
    usize::try_from(size).map_err(|_| damaged("a size exceeds the memory of this machine"))
}

/// Reads bytes behind their number.
fn take_counted(stream: &mut Stream) -> Outcome<Vec<u8>> {
    let length = take_size(stream)?;
    take(stream, length)
}

fn put_counted(bytes: &mut Vec<u8>, text: &[u8]) {
    put_short(bytes, hyperslab_exact::to_u64(text.len()));
    bytes.extend_from_slice(text);
}

fn dataset_access(settings: &Settings) -> Option<&DatasetAccess> {
    if let Settings::DatasetAccess(it) = settings { Some(it) } else { None }
}

fn dataset_access_mut(settings: &mut Settings) -> Outcome<&mut DatasetAccess> {
    if let Settings::DatasetAccess(it) = settings { Ok(it) } else { Err(super::encoding::misplaced()) }
}

fn link_access(settings: &Settings) -> Option<&LinkAccess> {
    match settings {
        Settings::LinkAccess(it) | Settings::DatasetAccess(DatasetAccess { link: it, .. }) => Some(it),
        _ => None,
    }
}

fn link_access_mut(settings: &mut Settings) -> Outcome<&mut LinkAccess> {
    match settings {
        Settings::LinkAccess(it) | Settings::DatasetAccess(DatasetAccess { link: it, .. }) => Ok(it),
        _ => Err(super::encoding::misplaced()),
    }
}

fn file_create_mut(settings: &mut Settings) -> Outcome<&mut FileCreate> {
    if let Settings::FileCreate(it) = settings { Ok(it) } else { Err(super::encoding::misplaced()) }
}

#[expect(clippy::unnecessary_wraps, reason = "the encodings of all properties have one type")]
fn encode_preemption(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Some(it) = dataset_access(settings) else { return Ok(false) };
    bytes.push(DOUBLE_BYTES);
    bytes.extend(it.cache_preemption.unwrap_or(-1.0).to_le_bytes());
    Ok(true)
}

fn decode_preemption(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    expect_width(stream, DOUBLE_BYTES)?;
    let value = take_f64(stream)?;
    match settings {
        Settings::FileAccess(it) => it.cache.preemption = value,
        other => dataset_access_mut(other)?.cache_preemption = Some(value).filter(|value| *value >= 0.0),
    }
    Ok(())
}

/// Encodes a size of a chunk cache. The width 0 stands for the size that the file states.
fn encode_cache(size: Option<usize>, bytes: &mut Vec<u8>) {
    match size {
        Some(size) => put_short(bytes, hyperslab_exact::to_u64(size)),
        None => bytes.push(0),
    }
}

/// Reads a size of a chunk cache; `None` for the size that the file states.
fn take_cache(stream: &mut Stream) -> Outcome<Option<usize>> {
    let width = usize::from(take_byte(stream)?);
    let mut all = [0; 8];
    let part = all.get_mut(..width).ok_or_else(|| damaged("a number has more than 8 bytes"))?;
    part.copy_from_slice(&take(stream, width)?);
    let size = usize::try_from(u64::from_le_bytes(all));
    let size = size.map_err(|_| damaged("a size exceeds the memory of this machine"))?;
    Ok((width > 0).then_some(size))
}

#[expect(clippy::unnecessary_wraps, reason = "the encodings of all properties have one type")]
fn encode_cache_bytes(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Some(it) = dataset_access(settings) else { return Ok(false) };
    encode_cache(it.cache_bytes, bytes);
    Ok(true)
}

fn decode_cache_bytes(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    let size = take_cache(stream)?;
    match settings {
        Settings::FileAccess(it) => it.cache.bytes = size.unwrap_or(it.cache.bytes),
        other => dataset_access_mut(other)?.cache_bytes = size,
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the encodings of all properties have one type")]
fn encode_cache_slots(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Some(it) = dataset_access(settings) else { return Ok(false) };
    encode_cache(it.cache_slots, bytes);
    Ok(true)
}

fn decode_cache_slots(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    let size = take_cache(stream)?;
    match settings {
        Settings::FileAccess(it) => it.cache.slots = size.unwrap_or(it.cache.slots),
        other => dataset_access_mut(other)?.cache_slots = size,
    }
    Ok(())
}

/// Defines the encoding and the decoding of a folder name.
macro_rules! folders {
    ($($encode:ident $decode:ident: $list:ident $list_mut:ident $field:ident;)*) => {$(
        fn $encode(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
            let Some(it) = $list(settings) else { return Ok(false) };
            put_counted(bytes, it.$field.as_deref().unwrap_or(b""));
            Ok(true)
        }

        fn $decode(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
            let text = take_counted(stream)?;
            $list_mut(settings)?.$field = Some(text).filter(|text| !text.is_empty());
            Ok(())
        }
    )*};
}

folders! {
    encode_sources decode_sources: dataset_access dataset_access_mut virtual_prefix;
    encode_raw decode_raw: dataset_access dataset_access_mut external_prefix;
    encode_links decode_links: link_access link_access_mut external_prefix;
}

fn encode_link_access(settings: &Settings, bytes: &mut Vec<u8>, form: SelectionFormat) -> Outcome<bool> {
    let Some(it) = link_access(settings) else { return Ok(false) };
    match &it.external_access {
        None => bytes.push(0),
        Some(list) => {
            bytes.push(1);
            put_counted(bytes, &crate::h5p_encode::encode(list, form)?);
        }
    }
    Ok(true)
}

fn decode_link_access(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    link_access_mut(settings)?; // Lists of other classes contain no list.
    let mut list = None;
    if take_byte(stream)? != 0 {
        take_short(stream)?; // The list states its own end.
        list = Some(std::sync::Arc::new(crate::h5p_encode::decode_file_access(stream)?));
    }
    link_access_mut(settings)?.external_access = list;
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the encodings of all properties have one type")]
fn encode_ratios(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Settings::Transfer(it) = settings else { return Ok(false) };
    bytes.push(DOUBLE_BYTES);
    bytes.extend(it.btree_ratios.iter().flat_map(|ratio| ratio.to_le_bytes()));
    Ok(true)
}

fn decode_ratios(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    expect_width(stream, DOUBLE_BYTES)?;
    let ratios = [take_f64(stream)?, take_f64(stream)?, take_f64(stream)?];
    let Settings::Transfer(it) = settings else { return Err(super::encoding::misplaced()) };
    it.btree_ratios = ratios;
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the encodings of all properties have one type")]
fn encode_transform(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Settings::Transfer(it) = settings else { return Ok(false) };
    match &it.transform {
        Some(transform) => put_counted(bytes, &[&transform.text[..], &[0]].concat()),
        None => put_short(bytes, 0),
    }
    Ok(true)
}

fn decode_transform(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    // The length does not count the zero byte, which follows a text.
    let text = take_counted(stream)?;
    let Settings::Transfer(it) = settings else { return Err(super::encoding::misplaced()) };
    it.transform = None;
    if let Some(text) = text.strip_suffix(&[0]) {
        it.transform = Some(Transform::new(text)?);
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the encodings of all properties have one type")]
fn encode_ranks(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Settings::FileCreate(it) = settings else { return Ok(false) };
    bytes.push(UINT_BYTES);
    bytes.extend([it.group_internal_k, it.chunk_k].iter().flat_map(|k| k.to_le_bytes()));
    Ok(true)
}

fn decode_ranks(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    expect_width(stream, UINT_BYTES)?;
    let (group, chunk) = (take_u32(stream)?, take_u32(stream)?);
    let it = file_create_mut(settings)?;
    (it.group_internal_k, it.chunk_k) = (group, chunk);
    Ok(())
}

/// Encodes one number of each of the eight possible indexes of shared messages.
fn encode_each(
    settings: &Settings,
    bytes: &mut Vec<u8>,
    unused: u32,
    number: fn(&(u32, u32)) -> u32,
) -> bool {
    let Settings::FileCreate(it) = settings else { return false };
    bytes.push(UINT_BYTES);
    let numbers = it.shared_indexes.iter().map(number).chain(std::iter::repeat(unused)).take(INDEXES);
    bytes.extend(numbers.flat_map(u32::to_le_bytes));
    true
}

/// Reads one number of each of the eight possible indexes of shared messages.
fn decode_each(settings: &mut Settings, stream: &mut Stream, put: fn(&mut (u32, u32), u32)) -> Outcome<()> {
    expect_width(stream, UINT_BYTES)?;
    let it = file_create_mut(settings)?;
    it.shared_indexes.resize(INDEXES, (0, UNUSED_SIZE));
    for index in &mut it.shared_indexes {
        put(index, take_u32(stream)?);
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the encodings of all properties have one type")]
fn encode_types(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    Ok(encode_each(settings, bytes, 0, |(types, _)| *types))
}

fn decode_types(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    decode_each(settings, stream, |index, types| index.0 = types)
}

#[expect(clippy::unnecessary_wraps, reason = "the encodings of all properties have one type")]
fn encode_sizes(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    Ok(encode_each(settings, bytes, UNUSED_SIZE, |(_, size)| *size))
}

fn decode_sizes(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    decode_each(settings, stream, |index, size| index.1 = size)
}

fn encode_indexes(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Settings::FileCreate(it) = settings else { return Ok(false) };
    bytes.push(UINT_BYTES);
    bytes.extend(super::encoding::narrow::<_, u32>(it.shared_indexes.len())?.to_le_bytes());
    Ok(true)
}

/// Reads the number of indexes of shared messages. The parts of the indexes may come later.
fn decode_indexes(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    expect_width(stream, UINT_BYTES)?;
    let count = take_u32(stream)? as usize;
    if count > INDEXES {
        return Err(damaged("a file has more than 8 indexes of shared messages"));
    }
    file_create_mut(settings)?.shared_indexes.resize(count, (0, UNUSED_SIZE));
    Ok(())
}
