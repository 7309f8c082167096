//! One thread writes, flushes and evicts pages while other threads read them. A reader finds no
//! page that is older than the last write that had ended before, or newer than the last write that
//! had begun.
#![expect(clippy::disallowed_methods, reason = "the versions are numbers of this test, not of a file")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyperslab_vfd::{Core, Driver as _};

use super::{PAGE, PageSource, Pages};

const PAGE_COUNT: u64 = 6;
const PAGES: usize = 6;

/// The state of a test of concurrent reads. For each page, the state has two versions: of the last
/// write that has begun, and of the last write that has ended.
#[derive(Default)]
struct Versions {
    begun: [AtomicU64; PAGES],
    ended: [AtomicU64; PAGES],
}

/// A generator of pseudo-random numbers for tests of concurrent reads.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// Returns a test page. All bytes of the page repeat its version.
fn filled(version: u64) -> Vec<u8> {
    version.to_le_bytes().repeat(usize::try_from(PAGE / 8).unwrap())
}

fn change(pages: &Pages, driver: &Core, versions: &Versions, steps: u64) {
    let source = PageSource { driver, end: PAGE_COUNT * PAGE, journal: None };
    let mut dice = Dice(0x5eed);
    for version in 1..=steps {
        let number = dice.below(PAGE_COUNT);
        let at = usize::try_from(number).unwrap();
        let bytes = filled(version);
        versions.begun[at].store(version, Ordering::SeqCst);
        match dice.below(3) {
            // Writes to the driver, as raw data. Dirty pages get the same bytes.
            0 => {
                driver.write_at(number * PAGE, &bytes).unwrap();
                pages.written_through(number * PAGE, &bytes);
            }
            _ => pages.write(source, number * PAGE, &bytes).unwrap(),
        }
        versions.ended[at].store(version, Ordering::SeqCst);
        if dice.below(4) == 0 {
            pages.write_from(driver, 0, PAGE_COUNT * PAGE, &(0..0), |_, _| {}).unwrap();
            if dice.below(2) == 0 {
                pages.make_all_clean();
            } else {
                pages.make_clean(pages.dirty_before(PAGE_COUNT * PAGE));
            }
        }
    }
}

fn look(pages: &Pages, driver: &Core, versions: &Versions, seed: u64) {
    let source = PageSource { driver, end: PAGE_COUNT * PAGE, journal: None };
    let mut dice = Dice(seed);
    let number = dice.below(PAGE_COUNT);
    let at = usize::try_from(number).unwrap();
    let least = versions.ended[at].load(Ordering::SeqCst);
    let start = number * PAGE + 8 * dice.below(PAGE / 8);
    let found = if dice.below(4) == 0 {
        pages.read_uncached(source, start, 8).unwrap()
    } else {
        pages.read(source, start, 8).unwrap()
    };
    let found = u64::from_le_bytes((*found).try_into().unwrap());
    let maximum = versions.begun[at].load(Ordering::SeqCst);
    assert!((least..=maximum).contains(&found), "page {number}: {found}, not from {least} to {maximum}");
}

#[test]
fn no_read_returns_replaced_bytes() {
    let steps = if cfg!(miri) { 200 } else { 20_000 };
    let driver = Core::from_vec("test", vec![0; usize::try_from(PAGE_COUNT * PAGE).unwrap()]);
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
