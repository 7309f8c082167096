//! Threads that list, open, read and write what other threads remove.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyperslab::{Error, ErrorKind, File};

use super::{Random, in_time, new_file, number, sound};

const NAMES: u64 = 12;

/// What is not there is not found; anything else would be said of a sound file.
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
                Ok(dataset) => (0..12).for_each(|at| dataset.set_attr(&format!("n{at}"), "text").unwrap()),
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
                dataset.write_raw(&vec![7_i64; 500]).unwrap();
                dataset.remove_attr("n3").unwrap_or_else(|error| expect_missing(&error));
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
            let values = dataset.read_raw::<i64>().unwrap();
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
fn walks_beside_threads_that_delete() {
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

/// Stops the other threads when one of them panics.
struct Failing<'a>(&'a AtomicBool);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
