//! The blocks of a file, and functions that destroy them.

use crate::snapshot::Snapshot;

/// A generator of pseudo-random numbers, which are the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }
}

const SIGNATURES: &[&str] = &[
    "OHDR", "OCHK", "TREE", "SNOD", "HEAP", "GCOL", "BTHD", "BTLF", "BTIN", "FRHP", "FHDB", "FHIB", "FAHD",
    "FADB", "EAHD", "EAIB", "EASB", "EADB", "FSHD", "FSSE", "SMTB", "SMLI",
];

/// The number of blocks of one kind that the test destroys in one file.
const MOST: usize = 1;

/// The number of bytes at the start of a block that must be valid for the block to be recognized.
const HEAD: usize = 12;

/// Returns some blocks of every kind.
pub(crate) fn blocks(file: &[u8], original: &Snapshot, numbers: &mut Numbers) -> Vec<(usize, &'static str)> {
    let mut all = Vec::new();
    for signature in SIGNATURES {
        let places = file.windows(4).enumerate().filter(|(_, window)| *window == signature.as_bytes());
        all.push((places.map(|(at, _)| at).collect(), *signature));
    }
    let headers = original.objects.iter().filter_map(|object| usize::try_from(object.address).ok());
    all.push((headers.collect(), "object header"));
    let chunks = original.objects.iter().flat_map(|object| &object.chunks);
    all.push((chunks.filter_map(|chunk| usize::try_from(*chunk).ok()).collect::<Vec<_>>(), "chunk"));
    let mut some = Vec::new();
    for (mut places, kind) in all {
        for _ in 0..MOST.min(places.len()) {
            some.push((places.swap_remove(numbers.below(places.len())), kind));
        }
    }
    some
}

/// Writes zeros or noise over the start of a block.
pub(crate) fn destroy(file: &mut [u8], at: usize, noise: Option<&mut Numbers>) {
    let end = (at + HEAD).min(file.len());
    let head = &mut file[at.min(end)..end];
    match noise {
        None => head.fill(0),
        Some(numbers) => head.fill_with(|| numbers.byte()),
    }
}
