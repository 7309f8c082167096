//! Arguments of calls, chosen by the kinds and the names of the parameters.

use crate::calls::callbacks;
use crate::calls::memory::{Block, LARGE};
use crate::calls::prototypes::{Kind, Parameter, Prototype};
use crate::calls::state::{self, below, byte, chance, one_of};
use crate::calls::{ids, texts};

/// Names of parameters that state the size of the buffer of the same call.
const SIZE_NAMES: &[&str] = &[
    "size",
    "buf_size",
    "bufsize",
    "namelen",
    "name_size",
    "buf_len",
    "udata_size",
    "link_size",
    "data_size",
];

/// Sizes of buffers that calls state.
const SIZES: &[usize] = &[0, 1, 2, 3, 7, 8, 16, 24, 64, 200];

/// Numbers no memory or file can have, which a function must refuse.
const EXTREMES: &[u64] =
    &[u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, 1 << 62, 0xffff_ffff_ffff_fff0, (1 << 62) + 1];

const FLAGS: &[u64] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 31, 32, 33, 63, 64, 65, 100, 255, 256];

/// Parameters that point to memory of a form that no choice of bytes has. They are null.
const NULLS: &[(&str, &str)] = &[
    ("H5Pset_buffer", "tconv"),
    ("H5Pset_buffer", "bkg"),
    ("H5Pset_driver", "driver_info"),
    ("H5Pset_vol", "new_vol_info"),
    ("H5Pset_file_image_callbacks", "callbacks_ptr"),
    ("H5ESinsert_request", "request"),
    ("H5VL", ""),
];

/// The arguments of a call.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) words: Vec<u64>,
    pub(crate) numbers: Vec<f64>,
    /// The buffers, which live as long as the call.
    pub(crate) blocks: Vec<Block>,
    /// Numbers of blocks in which the function returns identifiers.
    pub(crate) results: Vec<usize>,
}

impl Arguments {
    /// Adds a pointer to a new buffer.
    pub(crate) fn push(&mut self, block: Block) {
        self.words.push(block.word());
        self.blocks.push(block);
    }
}

/// Returns arguments for a function.
pub(crate) fn choose(prototype: &Prototype) -> Arguments {
    let mut chosen = Arguments::default();
    let size = one_of(SIZES);
    let has_buffer = prototype.parameters.iter().any(|parameter| is_buffer(&parameter.kind));
    for parameter in &prototype.parameters {
        let kind = &parameter.kind;
        let is_size = *kind == Kind::Wide && has_buffer && SIZE_NAMES.contains(&parameter.name.as_str());
        match kind {
            _ if is_size => chosen.words.push(size as u64),
            Kind::Id => chosen.words.push(ids::choose(prototype, &parameter.name)),
            Kind::Integer => chosen.words.push(integer(&parameter.name, has_buffer)),
            Kind::Wide => chosen.words.push(wide(has_buffer)),
            Kind::Flag => chosen.words.push(u64::from(chance(128))),
            Kind::Number => {
                chosen.numbers.push(one_of(&[0.0, 0.5, 1.0, 0.25, -1.0, 1e300, f64::NAN, f64::INFINITY]));
            }
            Kind::Callback(name) => chosen.words.push(callbacks::choose(name)),
            Kind::Token => chosen.words.extend([u64::from(byte()) * 8, 0]),
            Kind::Stream => chosen.words.push(callbacks::stream()),
            Kind::Driver => chosen.words.push(driver(prototype.name)),
            Kind::Reference => chosen.words.push(reference()),
            _ if is_null(prototype.name, parameter) => chosen.words.push(0),
            _ => pointer(&mut chosen, prototype, parameter, size),
        }
    }
    chosen
}

fn is_buffer(kind: &Kind) -> bool {
    matches!(kind, Kind::Array(_) | Kind::Ids | Kind::Bytes | Kind::TextBuffer)
}

fn is_null(function: &str, parameter: &Parameter) -> bool {
    let is_listed = NULLS.iter().any(|(prefix, name)| {
        function.starts_with(prefix)
            && (*name == parameter.name || (name.is_empty() && parameter.kind == Kind::Bytes))
    });
    is_listed || parameter.kind == Kind::Null || chance(8)
}

fn pointer(chosen: &mut Arguments, prototype: &Prototype, parameter: &Parameter, size: usize) {
    let has_size = prototype
        .parameters
        .iter()
        .any(|other| other.kind == Kind::Wide && SIZE_NAMES.contains(&other.name.as_str()));
    // A size beside a buffer for a text is the size of this buffer.
    let has_text = prototype.parameters.iter().any(|other| other.kind == Kind::TextBuffer);
    let (function, name) = (prototype.name, parameter.name.as_str());
    match parameter.kind {
        Kind::Text => chosen.push(Block::of(&texts::choose(function, name))),
        Kind::Bytes if ["H5free_memory", "H5resize_memory"].contains(&function) => chosen.words.push(block()),
        Kind::TextBuffer if has_size => chosen.push(Block::zeroed(size)),
        Kind::Bytes if has_size && !has_text => {
            let bytes: Vec<u8> = (0..size).map(|_| byte() % 5).collect();
            chosen.push(Block::of(&bytes));
        }
        Kind::TextBuffer => chosen.push(Block::zeroed(LARGE)),
        Kind::Bytes => chosen.push(numbers(8, false)),
        Kind::Array(width) => chosen.push(numbers(width, parameter.is_constant)),
        Kind::Single(size) => chosen.push(single(size)),
        Kind::IdResult => {
            chosen.results.push(chosen.blocks.len());
            chosen.push(Block::zeroed(8));
        }
        Kind::Ids => {
            let some: Vec<u64> = (0..8).map(|_| ids::choose(prototype, name)).collect();
            let words: Vec<u64> = (0..LARGE / 8).map(|at| some[at % 8]).collect();
            chosen.push(Block::of_words(&words));
        }
        _ => chosen.words.push(0),
    }
}

/// Returns an integer of 32 bits. Counts stay small if the call has a buffer.
fn integer(name: &str, has_buffer: bool) -> u64 {
    if name == "type" && chance(48) {
        let kinds = state::with(|state| state.kinds.clone());
        return if kinds.is_empty() { 0 } else { one_of(&kinds) };
    }
    match byte() {
        0..160 => below(8) as u64,
        160..230 => one_of(FLAGS) & if has_buffer { 63 } else { u64::MAX },
        230..242 => below(20) as u64,
        _ if has_buffer => one_of(&[0, u64::MAX]),
        _ => one_of(&[u64::MAX, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe]),
    }
}

fn wide(has_buffer: bool) -> u64 {
    match byte() {
        0..180 => below(8) as u64,
        180..220 => below(64) as u64,
        220..240 if !has_buffer => 1 << below(12),
        240.. if !has_buffer => one_of(EXTREMES),
        _ => below(3) as u64,
    }
}

/// Returns a large array of small numbers, of which one may be extreme.
fn numbers(width: usize, may_be_extreme: bool) -> Block {
    let pattern: Vec<u64> = (0..6).map(|_| u64::from(byte()) % 11).collect();
    let mut words: Vec<u64> = (0..LARGE / 8).map(|at| pattern[at % 6]).collect();
    if width == 4 {
        words.iter_mut().for_each(|word| *word |= *word << 32);
    }
    if width == 8 && may_be_extreme && chance(24) {
        words[below(4)] = one_of(EXTREMES);
    }
    Block::of_words(&words)
}

/// Returns a buffer for one value. Structs contain zeros and ones, which are valid flags.
fn single(size: usize) -> Block {
    match size {
        1 => Block::of(&[byte() & 1]),
        2..=8 => {
            let value = wide(true).to_ne_bytes();
            Block::of(&value[..size])
        }
        _ => {
            let mut bytes: Vec<u8> = (0..size.min(64)).map(|_| byte() & 1).collect();
            bytes.resize(size, 0);
            bytes[..4].copy_from_slice(&1_u32.to_ne_bytes());
            Block::of(&bytes)
        }
    }
}

fn driver(function: &str) -> u64 {
    let at = below(4);
    state::with(|state| {
        let Some(file) = state.drivers.get(at).copied() else { return 0 };
        if function == "H5FDclose" {
            state.drivers.remove(at);
        }
        file
    })
}

fn reference() -> u64 {
    let references = state::with(|state| state.references.clone());
    if chance(12) { 0 } else { one_of(&references) }
}

/// Takes a block of `H5allocate_memory`.
fn block() -> u64 {
    state::with(|state| state.blocks.pop()).unwrap_or(0)
}
