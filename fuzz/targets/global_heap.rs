//! Global heap collections: decoding, and any sequence of changes.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use hyperslab_format::codec::{FileParams, Structure as _};
use hyperslab_format::global_heap::{GlobalHeapCollection, GlobalHeapContext};
use hyperslab_fuzz::control::Control;
use hyperslab_fuzz::law;
use libfuzzer_sys::fuzz_target;

/// A change to a collection.
#[derive(Debug, Arbitrary)]
enum Change {
    Insert(Vec<u8>),
    Remove(u16),
    Overwrite(u16, u8),
    Count(u16, u16),
}

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    if control.choice(0) % 2 == 1 {
        changes(bytes, params);
        return;
    }
    let Ok(size) = GlobalHeapCollection::stored_size(bytes, params) else { return };
    let Some(size) = usize::try_from(size).ok().filter(|size| *size <= bytes.len()) else { return };
    let context = GlobalHeapContext { params, size };
    if let Some(mut collection) = law::structure::<GlobalHeapCollection>(bytes, &context) {
        let _ = collection.insert(b"something new");
        check(&collection, params);
    }
});

fn changes(bytes: &[u8], params: FileParams) {
    let Ok(mut collection) = GlobalHeapCollection::new(4096, params) else { return };
    let mut input = Unstructured::new(bytes);
    let mut model = std::collections::BTreeMap::new();
    while let Ok(change) = Change::arbitrary(&mut input) {
        match change {
            Change::Insert(data) => {
                if let Ok(Some(index)) = collection.insert(&data) {
                    assert!(model.insert(index, data).is_none(), "index {index} is in use");
                }
            }
            Change::Remove(index) => {
                let index = index % 64;
                assert_eq!(collection.remove(index.into()) == Ok(true), model.remove(&index).is_some());
            }
            Change::Overwrite(index, value) => {
                if let Some(data) = collection.get_mut(u32::from(index % 64)) {
                    data.fill(value);
                    model.get_mut(&(index % 64)).expect("the model has it").fill(value);
                }
            }
            Change::Count(index, count) => {
                collection.set_reference_count(u32::from(index % 64), count);
            }
        }
        for (index, data) in &model {
            assert_eq!(collection.get(u32::from(*index)), Some(data.as_slice()));
        }
        if input.is_empty() {
            break;
        }
    }
    assert_eq!(collection.objects().len(), model.len());
    check(&collection, params);
}

fn check(collection: &GlobalHeapCollection, params: FileParams) {
    let context = GlobalHeapContext { params, size: collection.bytes().len() };
    let encoded = collection.encode(&context).expect("a collection");
    let again = GlobalHeapCollection::decode(&encoded, &context).expect("what was encoded");
    assert_eq!(again.objects().len(), collection.objects().len());
    for object in collection.objects() {
        assert_eq!(again.get(object.index.into()), collection.get(object.index.into()));
    }
}
