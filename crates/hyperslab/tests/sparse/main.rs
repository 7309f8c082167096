//! Random sequences of operations on sparse datasets, compared with a naive model. An independent
//! reader and libhdf5 read the resulting files.
//!
//! `HYPERSLAB_SPARSE=10000` sets the number of sequences, `HYPERSLAB_SPARSE_SEED` the first seed.
//! The test shrinks a sequence that fails, and prints its steps.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::arithmetic_side_effects,
    reason = "in a test a panic is the report"
)]

mod array;
mod draw;
mod found;
mod judge;
mod kind;
mod make;
mod many_points;
mod selection;
mod world;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use draw::Numbers;
use judge::Written;
use world::{Settings, World};

const FEW: u32 = 150;

fn number_of(variable: &str, otherwise: u32) -> u32 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().unwrap())
}

/// A sequence as numbers: the properties of the file, and the operations on it.
type Sequence = (Vec<u16>, Vec<Vec<u16>>);

fn sequences(maximum: usize) -> impl Strategy<Value = Sequence> {
    let number = any::<u16>;
    (
        prop::collection::vec(number(), 120),
        prop::collection::vec(prop::collection::vec(number(), 60), 1..maximum),
    )
}

fn runner(name: &str, cases: u32) -> (TestRunner, u32) {
    let seed = number_of("HYPERSLAB_SPARSE_SEED", 0);
    let mut bytes = [0; 32];
    bytes.iter_mut().zip(seed.to_le_bytes().iter().chain(name.as_bytes())).for_each(|(to, from)| *to = *from);
    let config = Config { cases, max_shrink_iters: 1500, failure_persistence: None, ..Config::default() };
    (TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)), seed)
}

fn run((settings, operations): &Sequence, common: bool, trace: bool) -> World {
    let settings = Settings::draw(&mut Numbers::new(settings), common);
    let mut world = World::new(&settings, trace);
    for operation in operations {
        world.perform(&mut Numbers::new(operation));
    }
    world.reopen();
    world
}

#[test]
fn a_sparse_dataset_equals_its_model() {
    let (mut runner, seed) = runner("model", number_of("HYPERSLAB_SPARSE", FEW));
    // Errors of shrunk sequences need not be printed.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = runner.run(&sequences(40), |sequence| {
        run(&sequence, false, false);
        Ok(())
    });
    std::panic::set_hook(hook);
    if let Err(TestError::Fail(reason, sequence)) = &outcome {
        let again = std::panic::catch_unwind(|| drop(run(sequence, false, true)));
        panic!("seed {seed}: {reason}; again: {}", again.is_err());
    }
    outcome.unwrap();
}

/// Other readers read the files of random sequences after the first step and at the end.
#[test]
fn other_implementations_read_the_files() {
    let cases = number_of("HYPERSLAB_SPARSE", FEW).div_ceil(2);
    let oracle = judge::oracle();
    let (mut runner, seed) = runner("others", cases);
    let strategy = sequences(24);
    for first in (0..cases).step_by(500) {
        let folder = tempfile::tempdir().unwrap();
        let mut written = Vec::new();
        for number in first..cases.min(first + 500) {
            let (settings, operations) = strategy.new_tree(&mut runner).unwrap().current();
            let early = (settings.clone(), operations[..1].to_vec());
            for (stage, sequence) in [early, (settings, operations)].into_iter().enumerate() {
                let world = run(&sequence, true, false);
                let file = folder.path().join(format!("{seed}-{number}-{stage}.h5"));
                std::fs::write(&file, world.bytes()).unwrap();
                written.push(Written { file, arrays: world.arrays });
            }
        }
        if let Some(script) = &oracle {
            judge::ask_oracle(folder.path(), script, &written);
        }
        judge::ask_libhdf5(folder.path(), &written);
        judge::ask_h5ls(&written);
    }
}
