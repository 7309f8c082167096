//! Whole files: everything in them is read. Changes keep the checksums right, so that they reach deep.
#![no_main]

use hyperslab_fuzz::{seal, walk};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| walk::image(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut dice = Dice(u64::from(seed) << 1 | 1);
    if size < 64 || dice.below(16) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let file = &mut data[..size];
    let before = file.to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.place(&before);
        change(file, at, &mut dice);
        seal::seal_around(&before, file, at);
    }
    size
});

/// Changes a few bytes: interesting numbers, bits, or what stands elsewhere in the file.
fn change(file: &mut [u8], at: usize, dice: &mut Dice) {
    const NUMBERS: [u64; 12] = [0, 1, 2, 3, 8, 0x7f, 0x80, 0xff, 0xffff, 0x7fff_ffff, 1 << 40, u64::MAX];
    let width = [1, 1, 2, 4, 8][dice.below(5)];
    let from = dice.below(file.len().saturating_sub(8).max(1));
    let elsewhere: [u8; 8] = std::array::from_fn(|position| file[from + position]);
    let room = &mut file[at..];
    let width = width.min(room.len());
    let word = match dice.below(5) {
        0 => NUMBERS[dice.below(NUMBERS.len())].to_le_bytes(),
        1 => dice.next().to_le_bytes(),
        2 => return room[0] ^= 1 << dice.below(8),
        3 => return room[0] = room[0].wrapping_add(if dice.below(2) == 0 { 1 } else { 255 }),
        _ => elsewhere,
    };
    room[..width].copy_from_slice(&word[..width]);
}

/// Random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 16).unwrap_or(0) % end.max(1)
    }

    /// A place to change: mostly shortly behind a signature, as there metadata is.
    fn place(&mut self, file: &[u8]) -> usize {
        let anywhere = self.below(file.len());
        if self.below(8) == 0 {
            return anywhere;
        }
        let signature = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_uppercase);
        let found = file[anywhere..].windows(4).take(4096).position(signature);
        found.map_or(anywhere, |found| anywhere + found + self.below(160)).min(file.len() - 1)
    }
}
