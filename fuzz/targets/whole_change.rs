//! Whole files, checked, salvaged and written anew: what comes of that is sound, whatever went in.
#![no_main]

use std::sync::Arc;

use hyperslab::vfd::Core;
use hyperslab::{OpenOptions, Recovery, Repack};
use hyperslab_check::{CheckOptions, Report, check};
use hyperslab_engine::store::StoreOptions;
use hyperslab_fuzz::{mutate, walk};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|bytes: &[u8]| {
    let _ = judge(bytes.to_vec());
    let options = || OpenOptions::new().limits(walk::limits());
    if let Ok((saved, salvaged)) = Recovery::new().options(options()).salvage_bytes(bytes.to_vec()) {
        sound(saved, &salvaged.to_string(), true);
    }
    let Ok(file) = options().open_bytes(bytes.to_vec()) else { return };
    let target = format!("/dev/shm/hyperslab-fuzz-{}.h5", std::process::id());
    if Repack::new().run(&file, &target).is_ok() {
        // Chunks whose filters stay the same go over as they are stored, whatever they hold.
        sound(std::fs::read(&target).expect("what was written just now"), "repacked", false);
    }
    let _ = std::fs::remove_file(&target);
});

fn judge(bytes: Vec<u8>) -> Result<Report, hyperslab::Error> {
    let store = StoreOptions { limits: walk::limits(), ..StoreOptions::default() };
    let options = CheckOptions { decode_chunks: true, store, ..CheckOptions::default() };
    check(Arc::new(Core::from_vec("image", bytes)), &options)
}

fn sound(bytes: Vec<u8>, subject: &str, decode_chunks: bool) {
    let options = CheckOptions { decode_chunks, ..CheckOptions::default() };
    let report = check(Arc::new(Core::from_vec("image", bytes)), &options).expect("it was written just now");
    assert_eq!(report.faults, 0, "{subject}\n{report}");
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::file(data, size, max_size, seed)
});
