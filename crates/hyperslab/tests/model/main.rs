//! Random sequences of operations on files, held against a model; `check` finds no fault in what comes out, and libhdf5
//! reads the same in some of them.
//!
//! `HYPERSLAB_MODEL=10000` is the number of sequences (`cargo xtask model`); a few hundred by default.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::arithmetic_side_effects,
    reason = "in a test a panic is the report"
)]

mod judge;
mod matrix;
mod sequence;

use proptest::prelude::*;
use sequence::Numbers;
use sequence::operation::{Operation, Settings};

const FEW: u32 = 300;

fn sequences() -> u32 {
    std::env::var("HYPERSLAB_MODEL").map_or(FEW, |number| number.parse().unwrap())
}

fn drawn<T>(count: usize, draw: impl Fn(&mut Numbers<'_>) -> T) -> impl Strategy<Value = T>
where
    T: std::fmt::Debug,
{
    prop::collection::vec(any::<u16>(), count).prop_map(move |numbers| draw(&mut Numbers::new(&numbers)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sequences(), max_shrink_iters: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_is_what_was_done_to_it(
        settings in drawn(9, Settings::draw),
        operations in prop::collection::vec(drawn(40, Operation::draw), 1..60),
    ) {
        sequence::run(&settings, &operations);
    }
}
