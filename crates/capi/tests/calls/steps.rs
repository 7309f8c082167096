//! Calls whose buffers depend on other objects: each step asks for the size and passes a buffer of
//! exactly this size.

use crate::calls::arguments::Arguments;
use crate::calls::callbacks;
use crate::calls::memory::{Block, LARGE};
use crate::calls::scene::text;
use crate::calls::state::{self, below, byte, chance, one_of};
use crate::calls::texts;
use crate::calls::transfers::{elements, extent, pick, size_of};
use crate::calls::{api, find, names, perform, query};

/// The largest number of elements that a step converts.
const MAX_ELEMENTS: u64 = 16;

/// The number of dimensions of offsets.
const MAX_RANK: usize = 32;

/// The number of members of a file of the multi driver.
const MEMBERS: usize = 7;

/// The size of the configuration of the splitter driver, and the offsets of its paths.
const SPLITTER: (usize, usize, usize) = (8224, 24, 24 + 4097);

/// The number that begins a configuration of the splitter driver.
const SPLITTER_MAGIC: u32 = 0x2b91_6880;

/// The steps.
pub(crate) const STEPS: &[fn()] = &[
    convert,
    fill,
    iterate,
    gather,
    scatter,
    reclaim,
    fill_value,
    enumeration,
    member_value,
    property,
    read_chunk,
    write_chunk,
    structured_chunk,
    encode,
    decode_changed,
    event_errors,
    classes,
    splitter,
    multi,
    image,
    link_value,
    push_error,
    close,
];

/// Calls a function with buffers, which the call may fill.
fn call(name: &str, words: &[u64], blocks: Vec<Block>) -> i64 {
    perform(find(name), &Arguments { words: words.to_vec(), blocks, ..Arguments::default() })
}

fn convert() {
    let (source, target) = (pick("mem_type_id"), pick("mem_type_id"));
    let count = below(MAX_ELEMENTS as usize + 1) as u64;
    let larger = if size_of(source) > size_of(target) { source } else { target };
    let (Some(buffer), Some(background)) = (elements(larger, count), elements(target, count)) else { return };
    // Elements that contain pointers in one of the types are zero in both.
    let is_plain = elements(source, 1).zip(elements(target, 1)).is_some_and(|(source, target)| {
        [source, target].iter().all(|block| block.bytes().iter().any(|byte| *byte != 0))
    });
    let buffer = if is_plain { buffer } else { Block::zeroed(buffer.size()) };
    let second = if chance(128) { 0 } else { background.word() };
    let words = [source, target, count, buffer.word(), second, pick("dxpl_id")];
    call("H5Tconvert", &words, vec![buffer, background]);
}

fn fill() {
    let (from, to, space) = (pick("mem_type_id"), pick("mem_type_id"), pick("space_id"));
    let (Some(value), Some(buffer)) = (elements(from, 1), elements(to, extent(space))) else { return };
    let first = if chance(64) { 0 } else { value.word() };
    let words = [first, from, buffer.word(), to, space];
    call("H5Dfill", &words, vec![value, buffer]);
}

fn iterate() {
    let (datatype, space) = (pick("mem_type_id"), pick("space_id"));
    let Some(buffer) = elements(datatype, extent(space)) else { return };
    let words = [buffer.word(), datatype, space, callbacks::choose("H5D_operator_t"), 0];
    call("H5Diterate", &words, vec![buffer]);
}

fn gather() {
    let (datatype, space) = (pick("mem_type_id"), pick("space_id"));
    let Some(source) = elements(datatype, extent(space)) else { return };
    let target = Block::zeroed(one_of(&[0, 1, 4, 8, 24, 64, 256]));
    let callback = callbacks::choose("H5D_gather_func_t");
    let words = [space, source.word(), datatype, target.size() as u64, target.word(), callback, 0];
    call("H5Dgather", &words, vec![source, target]);
}

fn scatter() {
    let (datatype, space) = (pick("mem_type_id"), pick("space_id"));
    let Some(target) = elements(datatype, extent(space)) else { return };
    let words = [callbacks::choose("H5D_scatter_func_t"), 0, datatype, space, target.word()];
    call("H5Dscatter", &words, vec![target]);
}

fn reclaim() {
    let (datatype, space) = (pick("mem_type_id"), pick("space_id"));
    let Some(size) = size_of(datatype).checked_mul(extent(space)).filter(|size| *size <= LARGE as u64) else {
        return;
    };
    let buffer = Block::zeroed(size as usize);
    let words = [datatype, space, pick("dxpl_id"), buffer.word()];
    call(one_of(&["H5Treclaim", "H5Dvlen_reclaim"]), &words, vec![buffer]);
}

fn fill_value() {
    let (list, datatype) = (pick("dcpl_id"), pick("mem_type_id"));
    let Some(value) = elements(datatype, 1) else { return };
    let name = one_of(&["H5Pset_fill_value", "H5Pget_fill_value"]);
    let word = if chance(24) { 0 } else { value.word() };
    call(name, &[list, datatype, word], vec![value]);
}

fn enumeration() {
    let datatype = pick("mem_type_id");
    let (Some(value), name) = (elements(datatype, 1), Block::of(&texts::choose("", "member"))) else {
        return;
    };
    match below(3) {
        0 => call("H5Tenum_insert", &[datatype, name.word(), value.word()], vec![name, value]),
        1 => call("H5Tenum_valueof", &[datatype, name.word(), value.word()], vec![name, value]),
        _ => {
            let found = Block::zeroed(one_of(&[0, 1, 2, 16]));
            let words = [datatype, value.word(), found.word(), found.size() as u64];
            call("H5Tenum_nameof", &words, vec![found, value])
        }
    };
}

fn member_value() {
    let datatype = pick("mem_type_id");
    let Some(value) = elements(datatype, 1) else { return };
    call("H5Tget_member_value", &[datatype, below(4) as u64, value.word()], vec![value]);
}

/// Sets or gets a property by its name. The values of the library's own properties are structs, so
/// only properties of the run change.
fn property() {
    let list = pick("plist_id");
    let name = Block::of(&texts::choose("", "property"));
    let size = Block::zeroed(8);
    if query("H5Pget_size", &[list, name.word(), size.word()]) < 0 {
        call("H5Pexist", &[list, name.word()], vec![name]);
        return;
    }
    let value = Block::zeroed((size.word_at(0) as usize).min(LARGE));
    let function = one_of(&["H5Pset", "H5Pget"]);
    call(function, &[list, name.word(), value.word()], vec![name, value]);
}

fn offset() -> Block {
    let words: Vec<u64> = (0..MAX_RANK).map(|_| one_of(&[0, 0, 0, 1, 3, 4])).collect();
    Block::of_words(&words)
}

fn read_chunk() {
    let (dataset, list, offset, filters) = (pick("dset_id"), pick("dxpl_id"), offset(), Block::zeroed(4));
    let size = Block::zeroed(8);
    let known = query("H5Dget_chunk_storage_size", &[dataset, offset.word(), size.word()]);
    let stored = if known < 0 { 0 } else { size.word_at(0) as usize };
    if stored > LARGE {
        return;
    }
    let name = one_of(&["H5Dread_chunk", "H5Dread_chunk1", "H5Dread_chunk2"]);
    if name == "H5Dread_chunk2" {
        let buffer = Block::zeroed(below(stored + 1));
        let size = Block::of_words(&[buffer.size() as u64]);
        let words = [dataset, list, offset.word(), filters.word(), buffer.word(), size.word()];
        call(name, &words, vec![offset, filters, buffer, size]);
    } else {
        let buffer = Block::zeroed(stored);
        let words = [dataset, list, offset.word(), filters.word(), buffer.word()];
        call(name, &words, vec![offset, filters, buffer]);
    }
}

fn write_chunk() {
    let (dataset, list, offset) = (pick("dset_id"), pick("dxpl_id"), offset());
    let size = one_of(&[0, 1, 48, 48, 48, 100]);
    let buffer = Block::of(&(0..size).map(|_| byte()).collect::<Vec<u8>>());
    let words = [dataset, list, below(3) as u64, offset.word(), size as u64, buffer.word()];
    call("H5Dwrite_chunk", &words, vec![offset, buffer]);
}

/// Calls the functions for structured chunks with a description that has its arrays.
fn structured_chunk() {
    let (dataset, list, offset) = (pick("dset_id"), pick("dxpl_id"), offset());
    let sizes: Vec<u64> = (0..3).map(|_| below(64) as u64).collect();
    let arrays = [Block::zeroed(64), Block::of_words(&sizes), Block::of_words(&sizes)];
    let [masks, stored, original] = arrays.each_ref().map(Block::word);
    let info = Block::of_words(&[1 | 2 << 32, masks, stored, original]);
    let sections: Vec<Block> = (0..3).map(|_| Block::zeroed(LARGE)).collect();
    let pointers = Block::of_words(&sections.iter().map(Block::word).collect::<Vec<u64>>());
    let (address, size) = (Block::zeroed(8), Block::zeroed(8));
    match below(4) {
        0 => api("H5Dread_struct_chunk", &[dataset, list, offset.word(), info.word(), pointers.word()]),
        1 => api("H5Dwrite_struct_chunk", &[dataset, list, offset.word(), info.word(), pointers.word()]),
        2 => {
            let words =
                [dataset, 0, below(3) as u64, offset.word(), info.word(), address.word(), size.word()];
            api("H5Dget_struct_chunk_info", &words)
        }
        _ => {
            let words = [dataset, offset.word(), info.word(), address.word(), size.word()];
            api("H5Dget_struct_chunk_info_by_coord", &words)
        }
    };
    if !arrays.iter().chain(&sections).chain([&offset, &info]).all(Block::is_intact) {
        state::fail("a function for structured chunks wrote after a buffer");
    }
}

/// The functions that encode and decode an object: the parameter of the object, and whether the
/// encoding function takes an access list.
const CODECS: &[(&str, &str, &str, bool)] = &[
    ("space_id", "H5Sencode1", "H5Sdecode", false),
    ("space_id", "H5Sencode2", "H5Sdecode", true),
    ("mem_type_id", "H5Tencode", "H5Tdecode1", false),
    ("mem_type_id", "H5Tencode", "H5Tdecode", false),
    ("mem_type_id", "H5Tencode", "H5Tdecode2", false),
    ("dcpl_id", "H5Pencode1", "H5Pdecode", false),
    ("fapl_id", "H5Pencode2", "H5Pdecode", true),
];

/// Encodes an object. Returns the encoding and the name of the function that decodes it.
fn encoded() -> Option<(Block, &'static str)> {
    let (parameter, encode, decode, takes_list) = one_of(CODECS);
    let (object, size) = (pick(parameter), Block::zeroed(8));
    let list = if takes_list { &[0][..] } else { &[] };
    if api(encode, &[&[object, 0, size.word()], list].concat()) < 0 {
        return None;
    }
    let length = (size.word_at(0) as usize).min(LARGE);
    let buffer = Block::zeroed(if chance(32) { below(length + 1) } else { length });
    let stated = Block::of_words(&[buffer.size() as u64]);
    let result = api(encode, &[&[object, buffer.word(), stated.word()], list].concat());
    if !buffer.is_intact() {
        state::fail(&format!("{encode} wrote after the buffer"));
    }
    (result >= 0 && buffer.size() == length).then_some((buffer, decode))
}

fn encode() {
    let Some((buffer, decode)) = encoded() else { return };
    api(decode, &[buffer.word(), buffer.size() as u64][..if decode == "H5Tdecode2" { 2 } else { 1 }]);
}

/// Decodes an encoding with changed bytes. Functions without a size read as much as the encoding
/// states, so other bytes follow.
fn decode_changed() {
    let Some((buffer, decode)) = encoded() else { return };
    let mut bytes = buffer.bytes();
    for _ in 0..=below(4) {
        let at = below(bytes.len().max(1));
        if let Some(changed) = bytes.get_mut(at) {
            *changed ^= byte();
        }
    }
    if decode == "H5Tdecode2" {
        bytes.truncate(below(bytes.len() + 1));
        let changed = Block::of(&bytes);
        call(decode, &[changed.word(), changed.size() as u64], vec![changed]);
    } else if decode == "H5Pdecode" {
        bytes.resize(1 << 20, 0);
        let changed = Block::of(&bytes);
        call(decode, &[changed.word()], vec![changed]);
    }
}

fn event_errors() {
    let (set, count) = (pick("es_id"), below(3));
    let (errors, cleared) = (Block::zeroed(count * 80), Block::zeroed(8));
    api("H5ESget_err_info", &[set, count as u64, errors.word(), cleared.word()]);
    api("H5ESfree_err_info", &[cleared.word_at(0), errors.word()]);
}

fn classes() {
    if chance(128) {
        callbacks::with_filter_class(|class| api("H5Zregister", &[class]));
    } else {
        callbacks::with_link_class(|class| api("H5Lregister", &[class]));
    }
}

fn splitter() {
    let (size, first, second) = SPLITTER;
    let mut bytes = vec![0; size];
    bytes[..4].copy_from_slice(&SPLITTER_MAGIC.to_ne_bytes());
    bytes[4] = u8::from(!chance(24));
    bytes[8..16].copy_from_slice(&pick("fapl_id").to_ne_bytes());
    bytes[16..24].copy_from_slice(&pick("fapl_id").to_ne_bytes());
    for start in [first, second] {
        let path = texts::file();
        bytes[start..start + path.len()].copy_from_slice(&path);
    }
    let config = Block::of(&bytes);
    call("H5Pset_fapl_splitter", &[pick("fapl_id"), config.word()], vec![config]);
}

fn multi() {
    let map = Block::of(&(0..MEMBERS).flat_map(|_| [below(8) as u8, 0, 0, 0]).collect::<Vec<u8>>());
    let lists = Block::of_words(&(0..MEMBERS).map(|_| pick("fapl_id")).collect::<Vec<u64>>());
    let names: Vec<Block> = ["%s-1", "%s-2", "%s-3"].map(text).into();
    let pointers = Block::of_words(&(0..MEMBERS).map(|at| names[at % 3].word()).collect::<Vec<u64>>());
    let starts = Block::of_words(&(0..MEMBERS as u64).map(|at| at << 20).collect::<Vec<u64>>());
    let words =
        [pick("fapl_id"), map.word(), lists.word(), pointers.word(), starts.word(), u64::from(chance(128))];
    let words: Vec<u64> = words
        .iter()
        .enumerate()
        .map(|(at, word)| if (1..5).contains(&at) && chance(48) { 0 } else { *word })
        .collect();
    call("H5Pset_fapl_multi", &words, vec![map, lists, pointers, starts]);
}

/// Reads the image of a file, and sets it as the content of another file.
fn image() {
    let file = pick("file_id");
    let size = query("H5Fget_file_image", &[file, 0, 0]);
    let size = usize::try_from(size).unwrap_or(0).min(LARGE);
    let buffer = Block::zeroed(if chance(64) { below(size + 1) } else { size });
    api("H5Fget_file_image", &[file, buffer.word(), buffer.size() as u64]);
    call("H5Pset_file_image", &[pick("fapl_id"), buffer.word(), buffer.size() as u64], vec![buffer]);
}

fn link_value() {
    let (group, name) = (pick("loc_id"), Block::of(&texts::choose("", "link")));
    let buffer = Block::zeroed(one_of(&[0, 1, 4, 40]));
    api("H5Lget_val", &[group, name.word(), buffer.word(), buffer.size() as u64, 0]);
    let (flags, file, path) = (Block::zeroed(4), Block::zeroed(8), Block::zeroed(8));
    let words = [buffer.word(), buffer.size() as u64, flags.word(), file.word(), path.word()];
    call("H5Lunpack_elink_val", &words, vec![buffer, flags, file, path, name]);
}

fn push_error() {
    let stack = if chance(128) { 0 } else { pick("err_stack") };
    let ids = ["err_class", "maj_id", "min_id"].map(|parameter| pick(parameter) as i64);
    if let Some(name) = names::push_error(stack as i64, ids) {
        state::record(name, || format!("({stack:#x}, {ids:x?})"));
    }
}

/// Closes an identifier by the function for its kind, or by one for another kind.
fn close() {
    const CLOSE: &[(&str, &str)] = &[
        ("H5Fclose", "file_id"),
        ("H5Gclose", "group_id"),
        ("H5Dclose", "dset_id"),
        ("H5Aclose", "attr_id"),
        ("H5Tclose", "mem_type_id"),
        ("H5Sclose", "space_id"),
        ("H5Pclose", "plist_id"),
        ("H5Oclose", "obj_id"),
        ("H5ESclose", "es_id"),
        ("H5Eclose_stack", "err_stack"),
        ("H5Ssel_iter_close", "sel_iter_id"),
    ];
    let (function, parameter) = one_of(CLOSE);
    api(function, &[pick(parameter)]);
}
