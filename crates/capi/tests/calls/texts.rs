//! Names, paths and other texts as arguments.

use std::os::unix::ffi::OsStrExt;

use crate::calls::state::{self, below, byte, chance, one_of};

/// Names of links, attributes and properties.
const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"d",
    b"g",
    b"v",
    b"c",
    b"s",
    b"t",
    b"e",
    b"/",
    b".",
    b"/g",
    b"g/a",
    b"g/new/deep",
    b"..",
    b"",
    b"missing",
    b"\xff\xfe",
    b"\xc3\xbc",
    b"//g//d/",
    b"./d",
    b"/g/../d",
    b"x",
];

/// Names of files in the folder of the run.
const FILES: &[&str] =
    &["one.h5", "two.h5", "three.h5", "damaged.h5", "fixture.h5", "part%d.h5", "missing/file.h5", "four.h5"];

/// Names of parameters that are names of files.
const FILE_WORDS: &[&str] =
    &["filename", "file_name", "container", "logfile", "location", "prefix", "search_path"];

/// Functions whose `name` is the name of a file.
const FILE_FUNCTIONS: &[&str] = &["H5FDopen", "H5FDdelete", "H5Pset_external"];

const DRIVERS: &[&[u8]] =
    &[b"core", b"sec2", b"stdio", b"family", b"split", b"multi", b"log", b"splitter", b"onion", b"none"];

const CONNECTORS: &[&[u8]] = &[b"native", b"pass_through", b"none", b""];

const EXPRESSIONS: &[&[u8]] = &[b"x", b"2*x+1", b"(x", b"x/0", b"", b"1e400*x", b"((((x))))", b"-x*-x", b"y"];

/// Returns a text with the zero byte at its end.
pub(crate) fn choose(function: &str, parameter: &str) -> Vec<u8> {
    let is_file =
        FILE_WORDS.iter().any(|word| parameter.contains(word)) || FILE_FUNCTIONS.contains(&function);
    let text = match parameter {
        _ if is_file => file(),
        "driver_name" => one_of(DRIVERS).to_vec(),
        "connector_name" => one_of(CONNECTORS).to_vec(),
        "name" if function.starts_with("H5VL") => one_of(CONNECTORS).to_vec(),
        "expression" => one_of(EXPRESSIONS).to_vec(),
        _ => name(),
    };
    text.into_iter().chain([0]).collect()
}

/// Returns the path of a file in the folder of the run, or an empty text.
pub(crate) fn file() -> Vec<u8> {
    if chance(8) {
        return Vec::new();
    }
    let path = state::with(|state| state.folder.clone()).join(one_of(FILES));
    path.as_os_str().as_bytes().to_vec()
}

fn name() -> Vec<u8> {
    match byte() {
        0..236 => one_of(NAMES).to_vec(),
        236..244 => file(),
        244..250 => vec![b'n'; 1 << below(10)],
        _ => (0..below(5)).map(|_| byte().max(1)).filter(|byte| *byte != b'%').collect(),
    }
}
