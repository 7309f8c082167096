//! Random sequences of operations on files of a simulated disk, which crashes at each operation in
//! turn. The test opens and checks the remaining file, and compares it with the committed contents.
//! Other tests use operations that fail, and processes that are really killed.
//!
//! `HYPERSLAB_CRASH=100000` is the number of crashes to try (`cargo xtask crash`),
//! `HYPERSLAB_CRASH_FIRST` the sequence to begin with; `HYPERSLAB_FAULTS` is the number of failing
//! operations, `HYPERSLAB_KILLS` the number of killed processes. A failing case prints
//! `HYPERSLAB_CRASH_CASE=…`. With this variable, the test runs only this case.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::arithmetic_side_effects,
    reason = "in a test a panic is the report"
)]

mod accident;
mod case;
mod content;
mod failing;
#[path = "../model/judge.rs"]
#[expect(dead_code, reason = "the test `model` does more with it")]
mod judge;
mod kills;
mod matrix;
mod outside;
mod record;
#[path = "../model/sequence/mod.rs"]
#[expect(dead_code, reason = "the test `model` does more with it")]
mod sequence;
mod sparse;
