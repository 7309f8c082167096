//! Changes to whole files that know where blocks are: fields of blocks, addresses that lead elsewhere, blocks in place of
//! others. Checksums are made right again.

use libfuzzer_sys::fuzzer_mutate;

use crate::repair;

/// Bytes at the front of a block that are changed: most fields are there.
const FRONT: usize = 200;

/// What blocks begin with.
const SIGNATURES: [&[u8; 4]; 24] = [
    b"OHDR", b"OCHK", b"TREE", b"SNOD", b"HEAP", b"GCOL", b"BTHD", b"BTLF", b"BTIN", b"FRHP", b"FHDB",
    b"FHIB", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB", b"FSHD", b"FSSE", b"SMTB", b"SMLI",
    b"MDCI", b"\x89HDF",
];

/// Changes a file; gives its new length.
pub fn file(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut dice = Dice((u64::from(seed) << 1) | 1);
    let before = data[..size].to_vec();
    if size < 64 || dice.below(16) == 0 {
        let size = fuzzer_mutate(data, size, max_size);
        if dice.below(2) == 0 {
            repair::file(&before, &mut data[..size]);
        }
        return size;
    }
    if dice.below(24) == 0 {
        return size - dice.below(size / 2); // the end is cut off
    }
    let file = &mut data[..size];
    let blocks = blocks(&before);
    for _ in 0..=dice.below(3) {
        match dice.below(8) {
            0 => redirect(file, &blocks, &mut dice),
            1 => replace(file, &blocks, &mut dice),
            _ => change(file, dice.place(&before, &blocks), &mut dice),
        }
    }
    // Now and then the verification itself is tried.
    if dice.below(32) != 0 {
        repair::file(&before, file);
    }
    size
}

/// Where blocks begin.
fn blocks(file: &[u8]) -> Vec<usize> {
    let is_start = |window: &[u8]| SIGNATURES.iter().any(|signature| window == *signature);
    file.windows(4).enumerate().filter(|(_, window)| is_start(window)).map(|(at, _)| at).collect()
}

/// Lets a word that may be the address of a block be that of another one.
fn redirect(file: &mut [u8], blocks: &[usize], dice: &mut Dice) {
    let from = dice.place(file, blocks);
    let is_address = |at: &usize| {
        let word = file.get(*at..*at + 8).and_then(|bytes| bytes.first_chunk::<8>());
        word.is_some_and(|word| blocks.contains(&usize::try_from(u64::from_le_bytes(*word)).unwrap_or(0)))
    };
    let found = (from..file.len().min(from + 512)).find(is_address);
    let (Some(at), false) = (found, blocks.is_empty()) else { return };
    let target = blocks[dice.below(blocks.len())] as u64;
    file[at..at + 8].copy_from_slice(&target.to_le_bytes());
}

/// Puts the front of one block into another one, of the same kind if there is one.
fn replace(file: &mut [u8], blocks: &[usize], dice: &mut Dice) {
    if blocks.is_empty() {
        return;
    }
    let to = blocks[dice.below(blocks.len())];
    let same: Vec<usize> =
        blocks.iter().copied().filter(|at| *at != to && file[*at..*at + 4] == file[to..to + 4]).collect();
    let from = if same.is_empty() { blocks[dice.below(blocks.len())] } else { same[dice.below(same.len())] };
    let length = (8 + dice.below(FRONT)).min(file.len() - from.max(to));
    file.copy_within(from..from + length, to);
}

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

    /// A place to change: mostly shortly behind the start of a block.
    fn place(&mut self, file: &[u8], blocks: &[usize]) -> usize {
        if blocks.is_empty() || self.below(8) == 0 {
            return self.below(file.len());
        }
        let block = blocks[self.below(blocks.len())];
        (block + self.below(FRONT)).min(file.len() - 1)
    }
}
