//! Threads that write to datasets of one file, and read other datasets at the same time.
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "in a test a panic is the report")]

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use hyperslab::vfd::Core;
use hyperslab::{Dataset, File, FileOptions, Region, s};

const THREADS: u64 = 4;
const ROUNDS: u64 = 40;
const LENGTH: u64 = 2000;

fn dataset(file: &File, number: u64) -> Dataset {
    let dataset = file.new_dataset(&format!("data {number}")).of::<u64>().shape(&[LENGTH]).fill(u64::MAX);
    let dataset = match number % 4 {
        0 => dataset,
        1 => dataset.chunks(&[128]),
        2 => dataset.chunks(&[100]).unlimited().deflate(1),
        _ => dataset.chunks(&[33]).unlimited().shuffle(),
    };
    dataset.create().unwrap()
}

/// Asserts the allowed contents of a dataset at any time: each block of 100 elements holds the
/// number of a round and of the dataset, or the fill value.
fn is_whole(number: u64, values: &[u64]) -> bool {
    values.chunks(100).all(|block| {
        let first = block.first().copied().unwrap_or(u64::MAX);
        (first == u64::MAX || first % 10 == number) && block.iter().all(|value| *value == first)
    })
}

fn work(file: &File, number: u64) {
    let mine = file.dataset(&format!("data {number}")).unwrap();
    for round in 0..ROUNDS {
        let block = round * 7 % (LENGTH / 100);
        let value = round * 10 + number;
        let region = Region { start: vec![block * 100].into(), count: vec![100].into() };
        mine.write(&region, &[value; 100]).unwrap();
        let read: Vec<u64> = mine.read_raw(s![block * 100..block * 100 + 100]).unwrap();
        assert_eq!(read, [value; 100]);
        let other = (number + 1 + round % (THREADS - 1)) % THREADS;
        let theirs = file.dataset(&format!("data {other}")).unwrap();
        assert!(is_whole(other, &theirs.read_raw::<u64>(..).unwrap()), "{number} sees {other} in {round}");
        let own = format!("group {number}");
        match round % 10 {
            3 => file.flush().unwrap(),
            5 => mine.set_attribute("round", round).unwrap(),
            6 => drop(file.create_group(&format!("{own}/{round}")).unwrap()),
            8 => file.remove(&own).unwrap(),
            9 if number >= 2 => mine.resize(&[LENGTH + 100 * (round % 3)]).unwrap(),
            _ => assert!(file.links().unwrap().len() as u64 >= THREADS),
        }
    }
}

#[test]
fn threads_write_and_read_concurrently() {
    let medium = Arc::new(Core::from_vec("threads", Vec::new()));
    let file = FileOptions::new().create_driver(medium.clone()).unwrap();
    for number in 0..THREADS {
        dataset(&file, number);
    }
    let (done, ended) = mpsc::channel();
    for number in 0..THREADS {
        let (file, done) = (file.clone(), done.clone());
        std::thread::spawn(move || {
            work(&file, number);
            done.send(number).unwrap();
        });
    }
    drop(done);
    for _ in 0..THREADS {
        ended.recv_timeout(Duration::from_secs(100)).expect("a thread failed, or all wait for each other");
    }
    file.close().unwrap();
    let report = hyperslab_check::check(medium.clone(), &Default::default()).unwrap();
    assert_eq!(report.faults, 0, "{:#?}", report.findings);
    let file = hyperslab::OpenOptions::new().open_driver(medium).unwrap();
    for number in 0..THREADS {
        let values = file.dataset(&format!("data {number}")).unwrap().read_raw::<u64>(..).unwrap();
        assert!(is_whole(number, &values));
        assert!(values.iter().any(|value| *value != u64::MAX));
    }
}
