//! Random sequences of operations on files of a disk that crashes at every operation in turn: what is left is opened, checked, and held
//! against what had been committed. The same with operations that fail, and with processes that are killed in earnest.
//!
//! `HYPERSLAB_CRASH=100000` is the number of crashes to try (`cargo xtask crash`), `HYPERSLAB_CRASH_FIRST` the sequence to begin with; `HYPERSLAB_FAULTS`
//! is that of failing operations, `HYPERSLAB_KILLS` that of processes killed.
//! What fails prints `HYPERSLAB_CRASH_CASE=…`, with which it is tried alone.
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
