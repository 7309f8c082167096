//! Pages that one thread changes, writes and forgets while others read them: whoever reads finds no page older than the
//! last change that had ended before, and none newer than the last one that had begun.
#![expect(clippy::disallowed_methods, reason = "the versions are numbers of this test, not of a file")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyperslab_vfd::{Core, Driver as _};

use super::pages::{Medium, PAGE, Pages};

const COUNT: u64 = 6;
const PAGES: usize = 6;

/// The versions of the pages: the first of two has begun, the second one has ended.
#[derive(Default)]
struct Versions {
    begun: [AtomicU64; PAGES],
    ended: [AtomicU64; PAGES],
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// A page of one version says it all over.
fn filled(version: u64) -> Vec<u8> {
    version.to_le_bytes().repeat(usize::try_from(PAGE / 8).unwrap())
}

fn change(pages: &Pages, driver: &Core, versions: &Versions, steps: u64) {
    let medium = Medium { driver, end: COUNT * PAGE, journal: None };
    let mut dice = Dice(0x5eed);
    for version in 1..=steps {
        let number = dice.below(COUNT);
        let at = usize::try_from(number).unwrap();
        let bytes = filled(version);
        versions.begun[at].store(version, Ordering::SeqCst);
        match dice.below(3) {
            // Past the pages, as raw data are; what is changed there is changed alike.
            0 => {
                driver.write_at(number * PAGE, &bytes).unwrap();
                pages.written_through(number * PAGE, &bytes);
            }
            _ => pages.write(medium, number * PAGE, &bytes).unwrap(),
        }
        versions.ended[at].store(version, Ordering::SeqCst);
        if dice.below(4) == 0 {
            pages.write_from(driver, 0, COUNT * PAGE, &(0..0), |_, _| {}).unwrap();
            if dice.below(2) == 0 { pages.all_written() } else { pages.moved(pages.before(COUNT * PAGE)) }
        }
    }
}

fn look(pages: &Pages, driver: &Core, versions: &Versions, seed: u64) {
    let medium = Medium { driver, end: COUNT * PAGE, journal: None };
    let mut dice = Dice(seed);
    let number = dice.below(COUNT);
    let at = usize::try_from(number).unwrap();
    let least = versions.ended[at].load(Ordering::SeqCst);
    let start = number * PAGE + 8 * dice.below(PAGE / 8);
    let found = if dice.below(4) == 0 {
        pages.read_alone(medium, start, 8).unwrap()
    } else {
        pages.read(medium, start, 8).unwrap()
    };
    let found = u64::from_le_bytes((*found).try_into().unwrap());
    let most = versions.begun[at].load(Ordering::SeqCst);
    assert!((least..=most).contains(&found), "page {number}: {found}, not from {least} to {most}");
}

#[test]
fn nobody_reads_what_was_replaced_before() {
    let steps = if cfg!(miri) { 200 } else { 20_000 };
    let driver = Core::from_vec("test", vec![0; usize::try_from(COUNT * PAGE).unwrap()]);
    let pages = Pages::new(8 * PAGE, 64 << 20);
    let (versions, done) = (Versions::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for reader in 1..=3_u64 {
            let (pages, driver, versions, done) = (&pages, &driver, &versions, &done);
            scope.spawn(move || {
                let mut seed = reader << 32;
                while !done.load(Ordering::Relaxed) {
                    seed += 1;
                    look(pages, driver, versions, seed);
                }
            });
        }
        change(&pages, &driver, &versions, steps);
        done.store(true, Ordering::Relaxed);
    });
}
