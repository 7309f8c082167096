//! Random sequences of operations on files, compared with a model. `check` must find no fault in
//! the resulting files, and libhdf5 must read the same contents from some of them.
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

mod found;
mod judge;
mod matrix;
mod sequence;
mod shared;

use std::collections::BTreeMap;

use hyperslab::{File, LibraryVersion};
use hyperslab_testkit::referee;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use judge::Manifest;
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
    #![proptest_config(ProptestConfig {
        cases: sequences(), max_shrink_iters: 4000, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn a_file_equals_its_model_after_random_operations(
        settings in drawn(12, Settings::draw),
        operations in prop::collection::vec(drawn(40, Operation::draw), 1..60),
    ) {
        sequence::run(&settings, &operations);
    }
}

/// libhdf5 changes files of random sequences. Then hyperslab reads them.
#[test]
fn libhdf5_reads_and_changes_a_sample_of_the_files() {
    let Some(python) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut expected, mut low) = (Manifest::new(), BTreeMap::new());
    let strategy = (drawn(12, Settings::draw), prop::collection::vec(drawn(40, Operation::draw), 20..90));
    let mut runner = TestRunner::deterministic();
    for number in 0..sequences().div_ceil(10) {
        let (settings, operations) = strategy.new_tree(&mut runner).unwrap().current();
        if settings.sizes < 8 && settings.space.persist {
            // libhdf5 cannot read the free space that it stores in such files.
            continue;
        }
        let world = sequence::run(&settings, &operations);
        let path = folder.path().join(format!("{number}.h5"));
        std::fs::write(&path, world.bytes()).unwrap();
        let name = path.to_str().unwrap().to_owned();
        expected.insert(name.clone(), judge::content(&File::open(&path).unwrap()));
        low.insert(name, settings.low.name().to_owned());
    }
    let answer = judge::ask(&python, folder.path(), &["verify", "change"], &expected, &low);
    for (name, content) in judge::manifest(&answer["changed"]) {
        judge::assert_same(&name, &judge::content(&File::open(&name).unwrap()), &content);
        judge::assert_sound(name.as_ref());
        matrix::change_file(name.as_ref(), LibraryVersion::from_name(&low[&name]).unwrap());
        expected.insert(name.clone(), judge::content(&File::open(&name).unwrap()));
    }
    judge::ask(&python, folder.path(), &["verify"], &expected, &low);
}
