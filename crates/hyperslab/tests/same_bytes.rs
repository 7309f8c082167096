//! Equal calls create equal files, byte for byte. So programs can compare files, or cache them by
//! their content.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab::FileOptions;

/// Creates many datasets whose chunks stay dirty in memory until the end.
fn made() -> Vec<u8> {
    let file = FileOptions::new().create_in_memory().unwrap();
    for group in 0..20 {
        for name in ["a", "b", "c"] {
            let dataset = file.new_dataset(&format!("{group}/{name}")).chunks(&[100]).deflate(1);
            let dataset = dataset.write(&(0..1000 + group).collect::<Vec<i32>>()).unwrap();
            dataset.set_attribute("units", name).unwrap();
        }
    }
    file.new_dataset("texts").write_strings(&["one", "two"]).unwrap();
    file.remove("7/b").unwrap();
    file.flush().unwrap();
    file.to_bytes().unwrap()
}

#[test]
fn the_same_calls_make_the_same_file() {
    let first = made();
    for _ in 0..5 {
        assert!(made() == first);
    }
}
