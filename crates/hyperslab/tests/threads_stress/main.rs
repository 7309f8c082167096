//! Threads execute random operations on shared datasets of one file. For each chunk, some order of
//! the concurrent operations must explain the values that each thread read.
//!
//! `HYPERSLAB_STRESS=200` is the number of seeds, `HYPERSLAB_STRESS_SEED=7` the first one,
//! `HYPERSLAB_STRESS_STEPS=1000` the number of steps of each thread.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "in a test a panic is the report"
)]

mod history;
mod world;

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use history::History;
use hyperslab::vfd::Core;
use hyperslab::{FileOptions, OpenOptions};
use world::{Worker, World};

const THREADS: u64 = 4;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |number| number.parse().expect("a number"))
}

/// Runs the steps of all threads. Fails if the threads do not end in time.
fn on_threads(world: &Arc<World>, seed: u64, steps: u64, in_pool: bool) -> Vec<History> {
    let (done, ended) = mpsc::channel();
    let histories = Arc::new(Mutex::new(Vec::new()));
    let pool =
        in_pool.then(|| rayon::ThreadPoolBuilder::new().num_threads(THREADS as usize).build().unwrap());
    for thread in 0..THREADS {
        let (world, done, histories) = (Arc::clone(world), done.clone(), Arc::clone(&histories));
        let work = move || {
            let mut worker = Worker::new(&world, thread, seed);
            (0..steps).for_each(|_| worker.step());
            histories.lock().unwrap().push(worker.history);
            drop(world);
            done.send(()).unwrap();
        };
        match &pool {
            Some(pool) => pool.spawn(work),
            None => drop(std::thread::spawn(work)),
        }
    }
    drop(done);
    for _ in 0..THREADS {
        ended.recv_timeout(Duration::from_secs(300)).expect("a thread failed, or all wait for each other");
    }
    std::mem::take(&mut *histories.lock().unwrap())
}

fn run(seed: u64, steps: u64) {
    let medium = Arc::new(Core::from_vec("stress", Vec::new()));
    let cache = [0, 20 << 10, 100 << 10, 64 << 20][(seed % 4) as usize];
    let file = FileOptions::new().chunk_cache(cache).create_driver(medium.clone()).unwrap();
    let world = Arc::new(World::new(file, seed));
    let mut histories = on_threads(&world, seed, steps, seed % 3 == 2);
    let mut last = Worker::new(&world, THREADS, seed);
    last.look_at_all();
    histories.push(last.history);
    let all = History::of_all(histories);
    let written = world.contents();
    all.check(&world);
    let world = Arc::into_inner(world).expect("nobody else has it");
    world.file.close().unwrap();
    let report = hyperslab_check::check(medium.clone(), &Default::default()).unwrap();
    assert_eq!(report.faults, 0, "seed {seed}: {:#?}", report.findings);
    let again = World::again(OpenOptions::new().open_driver(medium).unwrap());
    assert!(again.contents() == written, "seed {seed}: the file holds something else");
}

#[test]
fn results_of_threads_have_a_sequential_order() {
    let (first, seeds) = (number("HYPERSLAB_STRESS_SEED", 1), number("HYPERSLAB_STRESS", 6));
    let steps = number("HYPERSLAB_STRESS_STEPS", 80);
    for seed in first..first + seeds {
        run(seed, steps);
    }
}
