//! Checks of sparse storage samples: the bytes of sound files are accounted for, and corrupt
//! indexes are faults.

use hyperslab_check::{BlockKind, check_path};
use hyperslab_testkit::corpus;
use serde_json::Value;

#[test]
fn indexes_and_chunks_of_sound_samples_are_accounted_for() {
    for case in corpus::sparse_samples().unwrap() {
        let truth = case.truth().unwrap();
        let truth = truth.pointer("/datasets/~1sparse").unwrap();
        let Some(chunks) = truth.get("nchunks").and_then(Value::as_u64) else { continue };
        let report = check_path(&case.file).unwrap();
        assert!(report.is_sound(), "{}:\n{report}", case.name);
        assert!(report.chunks >= chunks, "{}:\n{report}", case.name);
        assert_eq!(report.usage_of(BlockKind::Chunk).bytes > 0, chunks > 0, "{}", case.name);
    }
}

#[test]
fn damaged_indexes_of_samples_are_faults() {
    let cases = corpus::sparse_samples().unwrap();
    for name in [
        "bad_bthd_checksum",
        "bad_btree_cycle",
        "bad_btree_record_order",
        "bad_btree_shared_child",
        "bad_client_id",
        "bad_chunk_address_past_eof",
        "bad_chunk_size_past_eof",
        "bad_ea_block_header_address",
        "bad_entry_size",
        "bad_fahd_checksum",
        "bad_offset_past_chunk_end",
    ] {
        let Some(case) = cases.iter().find(|case| case.name == name) else {
            assert!(cases.is_empty(), "no {name}");
            continue;
        };
        let report = check_path(&case.file).unwrap();
        assert!(!report.is_sound(), "{name}:\n{report}");
    }
}
