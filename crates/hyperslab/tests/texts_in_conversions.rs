//! Texts of variable length that a conversion moves from the file to a heap in memory.

use std::sync::Arc;

use hyperslab::datatype::StringPadding;
use hyperslab::datatype::convert::{Conversions, VariableArena, VariableSource as _};
use hyperslab::{CharacterSet, Datatype, FileOptions, Points, s};

/// The size of a descriptor of the arena, in bytes.
const DESCRIPTOR_BYTES: usize = 16;
/// More texts than one collection of the heap holds.
const TEXTS: u64 = 3000;

#[test]
fn texts_lie_in_the_collections_that_their_descriptors_state() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let text = Datatype::variable_string(CharacterSet::Utf8, 8);
    let dataset = file.new_dataset("a").datatype(text.clone()).shape(&[TEXTS]).create().unwrap();
    let mut expected = vec![String::new(); 3000];
    // The texts 0, 3, 6, … and the texts 1, 4, 7, … lie in different collections, and the others
    // are null.
    for first in [1, 0] {
        let numbers: Vec<u64> = (first..TEXTS).step_by(3).collect();
        let texts: Vec<String> =
            numbers.iter().map(|number| "ä".repeat(1 + usize::try_from(*number).unwrap() % 40)).collect();
        let points = Points::from_rows(numbers.iter().map(|number| [*number]));
        dataset.write_strings(&points, &texts).unwrap();
        for (number, text) in numbers.iter().zip(texts) {
            expected[usize::try_from(*number).unwrap()] = text;
        }
    }
    let stored = dataset.read_stored(s![1..; 2]).unwrap();

    let arena = Arc::new(VariableArena::default());
    let conversions = Conversions::default().with_destination_heap(arena.clone());
    let plan = stored.plan(&text, &conversions).unwrap();
    let mut descriptors = vec![0; stored.len() * DESCRIPTOR_BYTES];
    plan.convert(stored.bytes(), &mut descriptors, stored.len()).unwrap();

    let expected: Vec<&str> = expected.iter().skip(1).step_by(2).map(String::as_str).collect();
    let mut found = Vec::new();
    let collect = &mut |number, items: Option<&[u8]>| {
        assert_eq!(number, found.len());
        found.push(String::from_utf8(items.unwrap_or_default().to_vec()).unwrap());
        Ok(())
    };
    arena.each(&descriptors, DESCRIPTOR_BYTES, 1, collect).unwrap();
    assert_eq!(found, expected);

    let fixed = Datatype::fixed_string(80, StringPadding::NullPadded, CharacterSet::Utf8);
    let plan = stored.plan(&fixed, &Conversions::default()).unwrap();
    let mut bytes = vec![0xff; stored.len() * 80];
    plan.convert(stored.bytes(), &mut bytes, stored.len()).unwrap();
    for (element, text) in bytes.chunks_exact(80).zip(&expected) {
        assert_eq!(std::str::from_utf8(element).unwrap().trim_end_matches('\0'), *text);
    }
}
