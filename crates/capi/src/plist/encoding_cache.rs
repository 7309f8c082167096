//! The encoding of the configuration of the metadata cache in encoded access lists. The module
//! [`encoding_access`](super::encoding_access) describes the bytes.

use std::ffi::c_int;

use hyperslab::serialized::SelectionFormat;

use super::Settings;
use super::encoding::{damaged, narrow, put_short, take, take_byte, take_number, take_u32};
use super::encoding_access::{expect_width, take_f64, take_size};
use super::metadata_cache::H5AC_cache_config_t;
use crate::error::Outcome;
use crate::pointer::Stream;

/// The size in bytes of the name of the trace file.
const NAME_BYTES: usize = 1025;

/// Appends the encoding of the configuration of a file access list.
pub(super) fn encode(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Settings::FileAccess(access) = settings else { return Ok(false) };
    let it = &access.metadata_cache;
    let flag = |bytes: &mut Vec<u8>, flag: bool| bytes.extend(u32::from(flag).to_le_bytes());
    let size = |bytes: &mut Vec<u8>, size: usize| put_short(bytes, hyperslab_exact::to_u64(size));
    bytes.extend([4, 8]);
    bytes.extend(it.version.to_le_bytes());
    flag(bytes, it.rpt_fcn_enabled);
    flag(bytes, it.open_trace_file);
    flag(bytes, it.close_trace_file);
    bytes.extend(it.trace_file_name.iter().map(|character| character.to_le_bytes()[0]));
    flag(bytes, it.evictions_enabled);
    flag(bytes, it.set_initial_size);
    size(bytes, it.initial_size);
    bytes.extend(it.min_clean_fraction.to_le_bytes());
    size(bytes, it.max_size);
    size(bytes, it.min_size);
    bytes.extend(it.epoch_length.to_le_bytes());
    bytes.push(narrow(it.incr_mode)?);
    bytes.extend(it.lower_hr_threshold.to_le_bytes());
    bytes.extend(it.increment.to_le_bytes());
    flag(bytes, it.apply_max_increment);
    size(bytes, it.max_increment);
    bytes.push(narrow(it.flash_incr_mode)?);
    bytes.extend(it.flash_multiple.to_le_bytes());
    bytes.extend(it.flash_threshold.to_le_bytes());
    bytes.push(narrow(it.decr_mode)?);
    bytes.extend(it.upper_hr_threshold.to_le_bytes());
    bytes.extend(it.decrement.to_le_bytes());
    flag(bytes, it.apply_max_decrement);
    size(bytes, it.max_decrement);
    bytes.extend(it.epochs_before_eviction.to_le_bytes());
    flag(bytes, it.apply_empty_reserve);
    bytes.extend(it.empty_reserve.to_le_bytes());
    bytes.extend(narrow::<_, u32>(it.dirty_bytes_threshold)?.to_le_bytes());
    bytes.extend(it.metadata_write_strategy.to_le_bytes());
    Ok(true)
}

/// Decodes the configuration into the settings of a file access list.
pub(super) fn decode(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    expect_width(stream, 4)?;
    expect_width(stream, 8)?;
    let flag = |stream: &mut Stream| take_u32(stream).map(|flag| flag != 0);
    let version = take_number(stream).map(i32::from_le_bytes)?;
    let (report, opens, closes) = (flag(stream)?, flag(stream)?, flag(stream)?);
    let name = take(stream, NAME_BYTES)?.into_iter().map(|byte| std::ffi::c_char::from_le_bytes([byte]));
    let name: Vec<_> = name.collect();
    // The members of a struct expression are read in the order of the encoding.
    let config = H5AC_cache_config_t {
        version,
        rpt_fcn_enabled: report,
        open_trace_file: opens,
        close_trace_file: closes,
        trace_file_name: name.try_into().map_err(|_| damaged("the name of the trace file is incomplete"))?,
        evictions_enabled: flag(stream)?,
        set_initial_size: flag(stream)?,
        initial_size: take_size(stream)?,
        min_clean_fraction: take_f64(stream)?,
        max_size: take_size(stream)?,
        min_size: take_size(stream)?,
        epoch_length: take_number(stream).map(i64::from_le_bytes)?,
        incr_mode: take_byte(stream)?.into(),
        lower_hr_threshold: take_f64(stream)?,
        increment: take_f64(stream)?,
        apply_max_increment: flag(stream)?,
        max_increment: take_size(stream)?,
        flash_incr_mode: take_byte(stream)?.into(),
        flash_multiple: take_f64(stream)?,
        flash_threshold: take_f64(stream)?,
        decr_mode: take_byte(stream)?.into(),
        upper_hr_threshold: take_f64(stream)?,
        decrement: take_f64(stream)?,
        apply_max_decrement: flag(stream)?,
        max_decrement: take_size(stream)?,
        epochs_before_eviction: take_number(stream).map(i32::from_le_bytes)?,
        apply_empty_reserve: flag(stream)?,
        empty_reserve: take_f64(stream)?,
        dirty_bytes_threshold: take_u32(stream)? as usize,
        metadata_write_strategy: take_number(stream).map(i32::from_le_bytes)?,
    };
    let Settings::FileAccess(access) = settings else { return Err(super::encoding::misplaced()) };
    access.metadata_cache = config;
    Ok(())
}

/// The version of the configuration of a cache image.
const IMAGE_VERSION: c_int = 1;

/// Appends the encoding of the cache image of a file access list.
#[expect(clippy::unnecessary_wraps, reason = "the encodings of all properties have one type")]
pub(super) fn encode_image(settings: &Settings, bytes: &mut Vec<u8>, _: SelectionFormat) -> Outcome<bool> {
    let Settings::FileAccess(access) = settings else { return Ok(false) };
    let (generate, save, ageout) = access.cache_image;
    bytes.push(4);
    let numbers = [IMAGE_VERSION, generate.into(), save.into(), ageout];
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    Ok(true)
}

/// Decodes the cache image into the settings of a file access list.
pub(super) fn decode_image(settings: &mut Settings, stream: &mut Stream) -> Outcome<()> {
    expect_width(stream, 4)?;
    let mut number = || take_number(stream).map(c_int::from_le_bytes);
    if number()? != IMAGE_VERSION {
        return Err(damaged("unknown version of a cache image"));
    }
    let image = (number()? != 0, number()? != 0, number()?);
    let Settings::FileAccess(access) = settings else { return Err(super::encoding::misplaced()) };
    access.cache_image = image;
    Ok(())
}
