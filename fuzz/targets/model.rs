//! Sequences of operations on a file, against a model of it: the sequences of the test `model` of the crate `hyperslab`.
#![no_main]

#[path = "../../crates/hyperslab/tests/model/sequence/mod.rs"]
mod sequence;

use libfuzzer_sys::fuzz_target;
use sequence::Numbers;
use sequence::operation::{Operation, Settings};

/// Numbers that settings are drawn from, and those of each operation.
const SETTINGS: usize = 12;
const OPERATION: usize = 40;
/// More operations take too long.
const MOST: usize = 80;

fuzz_target!(|numbers: Vec<u16>| {
    let (settings, rest) = numbers.split_at(numbers.len().min(SETTINGS));
    let settings = Settings::draw(&mut Numbers::new(settings));
    let operations = rest.chunks(OPERATION).take(MOST);
    let operations: Vec<Operation> = operations.map(|drawn| Operation::draw(&mut Numbers::new(drawn))).collect();
    sequence::run(&settings, &operations);
});
