//! Threads that list, open, read and write objects, while other threads remove the objects.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyperslab::{Error, ErrorKind, File, Region};

use super::{Random, in_time, new_file, number, sound};

const NAMES: u64 = 12;

/// Asserts that the error of a missing object is "not found". Any other error would mean that the
/// file is damaged.
fn expect_missing(error: &Error) {
    assert!(matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Exists), "{error:?}");
}

fn change(file: &File, random: &mut Random) {
    let name = format!("g{}/d{}", random.below(3), random.below(NAMES));
    match random.below(8) {
        0 | 1 => {
            let new = file.new_dataset(&name);
            let new = if random.below(2) == 0 { new } else { new.chunks(&[100]).unlimited().deflate(1) };
            match new.write(&vec![7_i64; 500]) {
                Ok(dataset) => {
                    (0..12).for_each(|at| dataset.set_attribute(&format!("n{at}"), "text").unwrap());
                }
                Err(error) => expect_missing(&error),
            }
        }
        2 | 3 => file.remove(&name).unwrap_or_else(|error| expect_missing(&error)),
        4 => file.remove(&format!("g{}", random.below(3))).unwrap_or_else(|error| expect_missing(&error)),
        5 => match file.object(&name) {
            Ok(object) => {
                let again = format!("g{}/d{}", random.below(3), random.below(NAMES));
                file.link_hard(&again, &object).unwrap_or_else(|error| expect_missing(&error));
            }
            Err(error) => expect_missing(&error),
        },
        6 => match file.dataset(&name) {
            Ok(dataset) => {
                dataset.write(.., &vec![7_i64; 500]).unwrap();
                dataset.remove_attribute("n3").unwrap_or_else(|error| expect_missing(&error));
            }
            Err(error) => expect_missing(&error),
        },
        _ => file.flush().unwrap(),
    }
}

fn look(file: &File) {
    for visited in file.walk() {
        let object = visited.object.unwrap();
        if let Some(links) = visited.links {
            links.unwrap();
        }
        for attribute in object.attributes().unwrap() {
            attribute.read_dyn().map_or_else(|error| expect_missing(&error), drop);
        }
        if let Ok(dataset) = object.into_dataset() {
            let values = dataset.read_raw::<i64>(..).unwrap();
            assert!(values.iter().all(|value| *value == 7) || values.iter().all(|value| *value == 0));
        }
    }
    for object in file.members().unwrap() {
        let Ok(group) = object.into_group() else { continue };
        assert!(group.len().unwrap() as u64 <= NAMES);
        group.storage().unwrap();
        for link in group.links().unwrap() {
            if let hyperslab::LinkTarget::Hard(token) = link.target {
                file.object_at(token).map_or_else(|error| expect_missing(&error), drop);
            }
        }
    }
}

#[test]
fn walks_while_other_threads_delete() {
    let until = Instant::now() + Duration::from_secs(number("HYPERSLAB_HANDLES_SECONDS", 4));
    in_time(move || {
        let (file, medium) = new_file();
        let failed = AtomicBool::new(false);
        let failed = &failed;
        let running = || Instant::now() < until && !failed.load(Ordering::Relaxed);
        std::thread::scope(|scope| {
            let run = |work: Box<dyn FnMut() + Send>| {
                let mut work = work;
                scope.spawn(move || {
                    let guard = Failing(failed);
                    while running() {
                        work();
                    }
                    std::mem::forget(guard);
                });
            };
            for seed in 1..=2 {
                let (mine, mut random) = (file.clone(), Random(seed));
                run(Box::new(move || change(&mine, &mut random)));
                let mine = file.clone();
                run(Box::new(move || look(&mine)));
            }
        });
        file.close().unwrap();
        sound(&medium);
    });
}

#[test]
fn writes_that_succeed_during_a_close_are_in_the_file() {
    for round in 0..60 {
        let (file, medium) = new_file();
        let objects: Vec<hyperslab::Group> =
            (0..3).map(|number| file.create_group(&format!("g{number}")).unwrap()).collect();
        let gone = file.new_dataset("gone").chunks(&[100]).deflate(1).write(&vec![0_i64; 30_000]).unwrap();
        file.remove("gone").unwrap();
        let parts =
            file.new_dataset("parts").chunks(&[10_000]).deflate(1).write(&vec![0_i64; 30_000]).unwrap();
        let (done, part): (Vec<i64>, i64) = std::thread::scope(|scope| {
            let count = |object: hyperslab::Group| {
                (1..).take_while(|value: &i64| object.set_attribute("n", *value).is_ok()).last().unwrap_or(0)
            };
            let counting: Vec<_> =
                objects.iter().map(|object| scope.spawn(move || count(object.clone()))).collect();
            scope.spawn(|| while gone.write(.., &vec![1_i64; 30_000]).is_ok() {});
            let part = scope.spawn(|| {
                let write = |value: &i64| parts.write(Region::new(&[5], &[3]).unwrap(), &[*value; 3]).is_ok();
                (1..).take_while(write).last().unwrap_or(0)
            });
            std::thread::sleep(Duration::from_millis(round % 7));
            file.clone().close().unwrap();
            let counted = counting.into_iter().map(|thread| thread.join().unwrap()).collect();
            (counted, part.join().unwrap())
        });
        drop((objects, gone, parts, file));
        let again = File::from_bytes(sound(&medium)).unwrap();
        assert_eq!(again.dataset("parts").unwrap().read_raw::<i64>(..).unwrap()[6], part, "round {round}");
        for (number, done) in done.into_iter().enumerate() {
            let stored = again.group(&format!("g{number}")).unwrap();
            let stored = stored.attribute("n").map_or(0, |attribute| attribute.read_scalar::<i64>().unwrap());
            assert_eq!(stored, done, "round {round}");
        }
    }
}

/// A guard that stops the other threads when its thread panics.
struct Failing<'a>(&'a AtomicBool);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
