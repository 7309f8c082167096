//! Sequences of valid and invalid calls of the C interface. Bytes decide about the calls and their
//! arguments.
//!
//! A run fails if a function panics, reports an internal error, writes after a buffer, or takes too
//! long, and if objects or identifiers are left after the run closed all it knows.

pub(crate) mod arguments;
pub(crate) mod callbacks;
pub(crate) mod ids;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod prototypes;
pub(crate) mod scene;
pub(crate) mod state;
pub(crate) mod steps;
pub(crate) mod texts;
pub(crate) mod transfers;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use arguments::Arguments;
use memory::Block;
use prototypes::Prototype;
use state::{below, byte};

/// The longest time of one call.
const MAX_TIME: Duration = Duration::from_secs(20);

/// The number of references of a run.
const REFERENCES: usize = 4;

/// Functions that a run does not call without knowledge of their arguments, with the reason.
/// `steps` and `scene` call most of them.
pub(crate) const NOT_BLIND: &[(&str, &str)] = &[
    ("H5close", "ends each run"),
    ("H5ESfree_err_info", "frees texts of H5ESget_err_info"),
    ("H5Sdecode", "the bytes state their length"),
    ("H5Tdecode", "the bytes state their length"),
    ("H5Tdecode1", "the bytes state their length"),
    ("H5Pdecode", "the bytes state their length"),
];

/// Functions whose buffers depend on other objects. Only `steps` and `transfers` call them.
const MEASURED: &[&str] = &[
    "H5Dread",
    "H5Dwrite",
    "H5Dread_async",
    "H5Dwrite_async",
    "H5Dread_multi",
    "H5Dwrite_multi",
    "H5Dread_multi_async",
    "H5Dwrite_multi_async",
    "H5Aread",
    "H5Awrite",
    "H5Aread_async",
    "H5Awrite_async",
    "H5Tconvert",
    "H5Dfill",
    "H5Diterate",
    "H5Dgather",
    "H5Dscatter",
    "H5Treclaim",
    "H5Dvlen_reclaim",
    "H5Pset_fill_value",
    "H5Pget_fill_value",
    "H5Tenum_insert",
    "H5Tenum_nameof",
    "H5Tenum_valueof",
    "H5Tget_member_value",
    "H5Pset",
    "H5Pget",
    "H5Dread_chunk",
    "H5Dread_chunk1",
    "H5Dread_chunk2",
    "H5Dwrite_chunk",
];

static INTERFACE: OnceLock<Vec<Prototype>> = OnceLock::new();

/// The numbers of a run.
pub(crate) struct Report {
    pub(crate) calls: usize,
    pub(crate) successes: usize,
    pub(crate) called: BTreeSet<&'static str>,
    pub(crate) failures: Vec<String>,
}

/// The conditions of a run.
pub(crate) struct Conditions<'a> {
    /// The folder of the headers.
    pub(crate) include: &'a Path,
    /// The folder of files, which is empty at first.
    pub(crate) folder: &'a Path,
    /// A file that a part of the runs damages and opens.
    pub(crate) fixture: &'a [u8],
    /// The number of guard bytes after each buffer.
    pub(crate) guard: usize,
    pub(crate) trace: bool,
    /// A part of the functions, which are called once each: the remainder of their numbers, and the
    /// number of parts.
    pub(crate) part: Option<(usize, usize)>,
}

/// Returns the prototypes of all functions.
pub(crate) fn interface() -> &'static [Prototype] {
    INTERFACE.get().expect("a run has loaded the interface")
}

/// Runs the calls that `bytes` describe.
pub(crate) fn run(bytes: &[u8], conditions: &Conditions<'_>) -> Report {
    INTERFACE.get_or_init(|| prototypes::load(conditions.include));
    state::start(bytes, conditions.folder.to_owned(), conditions.guard, conditions.trace);
    let references: Vec<Block> = (0..REFERENCES).map(|_| Block::zeroed(64)).collect();
    state::with(|state| state.references = references.iter().map(Block::word).collect());
    let at_start = scene::counts();
    scene::set(conditions.fixture);
    if let Some((part, parts)) = conditions.part {
        interface().iter().skip(part).step_by(parts).for_each(blind);
    }
    while !state::is_over() {
        step();
    }
    scene::end(&at_start);
    if !references.iter().all(Block::is_intact) {
        state::fail("a function wrote after a reference");
    }
    let failures = state::failures();
    state::with(|state| Report {
        calls: state.calls,
        successes: state.successes,
        called: std::mem::take(&mut state.called),
        failures,
    })
}

/// Makes one call, or the calls of one step.
pub(crate) fn step() {
    match byte() {
        0..90 => {
            let prototype = &interface()[below(interface().len())];
            blind(prototype);
        }
        90..160 => blind(find(state::one_of(scene::FREQUENT))),
        160..240 => state::one_of(steps::STEPS)(),
        _ => transfers::transfer(),
    }
}

/// Calls a function with arguments of the right kinds.
fn blind(prototype: &'static Prototype) {
    let is_blind = NOT_BLIND.iter().all(|(name, _)| *name != prototype.name);
    if is_blind && !MEASURED.contains(&prototype.name) {
        perform(prototype, &arguments::choose(prototype));
    }
}

/// Returns the prototype of a function.
pub(crate) fn find(name: &str) -> &'static Prototype {
    let prototypes = interface();
    let at = prototypes.binary_search_by(|prototype| prototype.name.cmp(name));
    at.map_or_else(|_| panic!("no function {name}"), |at| &prototypes[at])
}

/// Calls a function with words.
pub(crate) fn api(name: &str, words: &[u64]) -> i64 {
    perform(find(name), &Arguments { words: words.to_vec(), ..Arguments::default() })
}

/// Calls a function whose result the run needs. The call is not recorded, and its result is not
/// kept.
pub(crate) fn query(name: &str, words: &[u64]) -> i64 {
    let prototype = find(name);
    signed(prototype, names::call(prototype.function, words, &[]))
}

/// Calls a function and judges the call. Returns the result with its sign.
pub(crate) fn perform(prototype: &'static Prototype, arguments: &Arguments) -> i64 {
    state::record(prototype.name, || {
        let words: Vec<String> = arguments.words.iter().map(|word| shown(*word, &arguments.blocks)).collect();
        format!("({}) {:?}", words.join(", "), arguments.numbers)
    });
    let start = Instant::now();
    let result = signed(prototype, names::call(prototype.function, &arguments.words, &arguments.numbers));
    let name = prototype.name;
    if state::with(|state| state.trace) {
        eprintln!("    = {result:#x}");
    }
    if start.elapsed() > MAX_TIME {
        state::fail(&format!("{name} took {:?}", start.elapsed()));
    }
    for panic in state::panics() {
        state::fail(&format!("{name}: {panic}"));
    }
    if !arguments.blocks.iter().all(Block::is_intact) {
        state::fail(&format!("{name} wrote after a buffer"));
    }
    if result >= 0 {
        keep(prototype, arguments, result);
    } else {
        for error in callbacks::internal_errors() {
            state::fail(&format!("{name}: {error}"));
        }
    }
    result
}

/// Returns a word as hexadecimal number, with the start of the buffer to which it points.
fn shown(word: u64, blocks: &[Block]) -> String {
    let block = blocks.iter().find(|block| block.word() == word);
    block.map_or_else(
        || format!("{word:#x}"),
        |block| format!("[{}]\"{}\"", block.size(), block.start().escape_ascii()),
    )
}

/// Returns a result with the sign of its type.
fn signed(prototype: &Prototype, result: u64) -> i64 {
    let is_wide = ["hid_t", "ssize_t", "hssize_t", "hsize_t", "haddr_t", "size_t"];
    if is_wide.contains(&prototype.result.as_str()) || prototype.result.ends_with('*') {
        return result as i64;
    }
    i64::from(result as u32 as i32)
}

/// Keeps the objects that a call returned.
fn keep(prototype: &Prototype, arguments: &Arguments, result: i64) {
    state::with(|state| state.successes += 1);
    match prototype.result.as_str() {
        "hid_t" => state::keep_id(result),
        "H5I_type_t" if prototype.name.starts_with("H5Iregister_type") => {
            state::with(|state| state.kinds.push(result as u64));
        }
        "char *" if result != 0 => drop(query("H5free_memory", &[result as u64])),
        "void *" if prototype.name.ends_with("e_memory") && result != 0 => {
            state::with(|state| state.blocks.push(result as u64));
        }
        "H5FD_t *" if result != 0 => state::with(|state| state.drivers.push(result as u64)),
        _ => {}
    }
    if prototype.name == "H5Pget_fapl_multi" && arguments.words[2] != 0 {
        let lists = arguments.blocks.iter().find(|block| block.word() == arguments.words[2]);
        (0..7).filter_map(|at| Some(lists?.word_at(at))).for_each(|list| state::keep_id(list as i64));
    }
    for at in &arguments.results {
        state::keep_id(arguments.blocks[*at].word_at(0) as i64);
    }
}
