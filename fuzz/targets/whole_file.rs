//! Whole files: everything in them is read. Changes keep the checksums right, so that they reach deep.
#![no_main]

use hyperslab_fuzz::{mutate, walk};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|bytes: &[u8]| walk::image(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::file(data, size, max_size, seed)
});
