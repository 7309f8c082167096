//! Comparison of the heap with a map of its objects, also in files of libhdf5.

use std::collections::{BTreeMap, HashMap};

use hyperslab_format::codec::Reader;
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::store::Edit;
use crate::store::image::{editable, new_file_to_reopen};
use crate::versions::LibverBounds;

type Model = BTreeMap<(Address, u32), Vec<u8>>;

fn key(id: GlobalHeapId) -> (Address, u32) {
    (id.collection, id.index)
}

fn verify(store: &Store, heap: &GlobalHeap, model: &Model) {
    let mut by_collection: HashMap<Address, usize> = HashMap::new();
    for ((collection, index), bytes) in model {
        let id = GlobalHeapId { collection: *collection, index: *index };
        assert_eq!(heap.get(store, id).unwrap().bytes(), bytes);
        *by_collection.entry(*collection).or_default() += 1;
    }
    for (address, count) in by_collection {
        assert_eq!(heap.collection(store, address).unwrap().objects().len(), count);
    }
}

#[derive(Debug, Clone)]
enum Change {
    Insert(usize, u8),
    Many(Vec<usize>, u8),
    Filled(Vec<usize>, u8),
    Remove(usize),
    RemoveMany(usize),
    Overwrite(usize, usize, u8),
    Commit,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let length = || prop_oneof![9 => 0..300_usize, 1 => 3000..9000_usize];
    let lengths = || prop::collection::vec(length(), 0..60);
    let change = prop_oneof![
        4 => (length(), any::<u8>()).prop_map(|(length, byte)| Change::Insert(length, byte)),
        1 => (lengths(), any::<u8>()).prop_map(|(lengths, byte)| Change::Many(lengths, byte)),
        1 => (lengths(), any::<u8>()).prop_map(|(lengths, byte)| Change::Filled(lengths, byte)),
        4 => any::<usize>().prop_map(Change::Remove),
        1 => any::<usize>().prop_map(Change::RemoveMany),
        1 => (any::<usize>(), length(), any::<u8>()).prop_map(|(at, length, byte)| Change::Overwrite(at, length, byte)),
        1 => Just(Change::Commit),
    ];
    prop::collection::vec(change, 0..60)
}

fn nth(model: &Model, at: usize) -> Option<GlobalHeapId> {
    let (collection, index) = *model.keys().nth(at.checked_rem(model.len())?)?;
    Some(GlobalHeapId { collection, index })
}

fn note(model: &mut Model, id: GlobalHeapId, bytes: Vec<u8>) {
    assert!(model.insert(key(id), bytes).is_none(), "an ID given twice");
}

fn apply(heap: &GlobalHeap, edit: &mut Edit<'_>, model: &mut Model, change: &Change) {
    let objects = |lengths: &[usize], byte: u8| -> Vec<Vec<u8>> {
        lengths.iter().map(|length| vec![byte; *length]).collect()
    };
    match change {
        Change::Insert(length, byte) => {
            let bytes = vec![*byte; *length];
            let id = heap.insert(edit, &bytes).unwrap();
            note(model, id, bytes);
        }
        Change::Many(lengths, byte) => {
            let objects = objects(lengths, *byte);
            let ids = heap.insert_many(edit, objects.iter().map(Vec::as_slice)).unwrap();
            ids.into_iter().zip(objects).for_each(|(id, bytes)| note(model, id, bytes));
        }
        Change::Filled(lengths, byte) => {
            let objects = objects(lengths, *byte);
            let writer = GlobalHeapWriter::new(heap, edit).unwrap();
            let short = || Error::Misuse("no space".into());
            for objects in objects.chunks(7) {
                let run = || {
                    objects
                        .iter()
                        .map(|bytes| writer.insert(bytes)?.ok_or_else(short))
                        .collect::<Result<Vec<_>>>()
                };
                let ids = writer.fill(heap, edit, run).unwrap();
                ids.into_iter().zip(objects).for_each(|(id, bytes)| note(model, id, bytes.clone()));
            }
            writer.finish(heap, edit).unwrap();
        }
        Change::Remove(at) => {
            let Some(id) = nth(model, *at) else { return };
            heap.remove(edit, id).unwrap();
            model.remove(&key(id));
        }
        Change::RemoveMany(at) => {
            let start = at % (model.len() + 1);
            let gone: Vec<_> = model.keys().skip(start).step_by(2).copied().collect();
            let ids = gone
                .iter()
                .map(|(collection, index)| GlobalHeapId { collection: *collection, index: *index });
            heap.remove_many(edit, ids).unwrap();
            gone.iter().for_each(|id| drop(model.remove(id)));
        }
        Change::Overwrite(at, length, byte) => {
            let Some(id) = nth(model, *at) else { return };
            let bytes = vec![*byte; *length];
            let new = heap.overwrite(edit, id, &bytes).unwrap();
            model.remove(&key(id));
            note(model, new, bytes);
        }
        Change::Commit => edit.commit().unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_heap_holds_what_was_put_into_it(changes in changes()) {
        let (store, reopen) = new_file_to_reopen(LibverBounds::DEFAULT);
        let heap = GlobalHeap::new();
        let mut edit = store.edit().unwrap();
        edit.commit().unwrap();
        let empty = reopen().file_length();
        let mut model = Model::new();
        for change in &changes {
            apply(&heap, &mut edit, &mut model, change);
        }
        verify(&store, &heap, &model);
        edit.commit().unwrap();
        verify(&reopen(), &GlobalHeap::new(), &model);
        let ids = model.keys().map(|(collection, index)| GlobalHeapId { collection: *collection, index: *index });
        heap.remove_many(&mut edit, ids).unwrap();
        edit.commit().unwrap();
        edit.commit().unwrap();
        prop_assert!(reopen().file_length() <= empty);
    }
}

#[test]
fn what_is_not_there_is_not_removed() {
    let (store, _) = new_file_to_reopen(LibverBounds::DEFAULT);
    let (heap, mut edit) = (GlobalHeap::new(), store.edit().unwrap());
    let id = heap.insert(&mut edit, b"one").unwrap();
    let other = GlobalHeapId { index: 9, ..id };
    assert_eq!(heap.remove(&mut edit, other).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(heap.get(&store, id).unwrap().bytes(), b"one");
    let failing = GlobalHeapWriter::new(&heap, &edit).unwrap();
    let failed: Result<()> = failing.fill(&heap, &mut edit, || Err(Error::Misuse("other".into())));
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Misuse);
    failing.finish(&heap, &mut edit).unwrap();
    assert_eq!(heap.get(&store, id).unwrap().bytes(), b"one");
}

const REFEREE: &str = r#"
import h5py, sys
path, step = sys.argv[1], sys.argv[2]
if step == "make":
    with h5py.File(path, "w", libver="latest") as file:
        file.create_dataset("s", data=[f"string {number}" * (number % 7 + 1) for number in range(500)], dtype=h5py.string_dtype())
        print(file["s"].id.get_offset())
else:
    with h5py.File(path, "r+") as file:
        data = file["s"]
        want = [(f"other {number}" * (number % 11)).encode() for number in range(500)]
        assert list(data[:]) == want
        data[10:200] = ["replaced " * (number % 5) for number in range(190)]
        file.create_dataset("more", data=["more" * number for number in range(300)], dtype=h5py.string_dtype())
    with h5py.File(path) as file:
        assert list(file["s"][200:]) == want[200:]
        assert list(file["s"][10:200]) == [("replaced " * (number % 5)).encode() for number in range(190)]
        assert file["more"][299] == b"more" * 299
        print("good")
"#;

#[test]
fn collections_of_libhdf5_are_filled_and_emptied() {
    let Some(referee) = hyperslab_testkit::referee::python() else { return };
    let path = std::env::temp_dir().join(format!("hyperslab-strings-{}.h5", std::process::id()));
    let ask = |step: &str| referee.run_script(REFEREE, [path.to_str().unwrap(), step]).unwrap();
    let offset: u64 = ask("make").trim().parse().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let before = bytes.len() as u64;
    let (store, committed) = editable(bytes, LibverBounds::LATEST);
    let (heap, mut edit) = (GlobalHeap::new(), store.edit().unwrap());
    for number in 0..500_u64 {
        let address = Address::new(offset + 16 * number);
        let element = store.read_raw_vec(address, 16).unwrap();
        let mut reader = Reader::new("test", &element[4..]);
        let id = GlobalHeapId::read(&mut reader, store.params()).unwrap();
        let text = format!("other {number}").repeat(usize::try_from(number % 11).unwrap());
        let id = heap.overwrite(&mut edit, id, text.as_bytes()).unwrap();
        let mut writer = hyperslab_format::codec::Writer::new("test");
        writer.u32(u32::try_from(text.len()).unwrap());
        id.write(&mut writer, store.params());
        store.write_raw(address, &writer.finish().unwrap()).unwrap();
    }
    edit.commit().unwrap();
    let bytes = committed();
    assert!(bytes.len() as u64 <= before + (80 << 10), "{} bytes after {before}", bytes.len());
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(ask("change").trim(), "good");
    std::fs::remove_file(path).unwrap();
}

proptest! {
    #[test]
    fn many_objects_fill_collections(lengths in prop::collection::vec(prop_oneof![8 => 0..2000_usize, 1 => 0..100_000_usize], 0..200)) {
        let (store, reopen) = new_file_to_reopen(LibverBounds::DEFAULT);
        let (heap, mut edit) = (GlobalHeap::new(), store.edit().unwrap());
        let objects: Vec<Vec<u8>> =
            lengths.iter().enumerate().map(|(at, length)| vec![u8::try_from(at % 251).unwrap(); *length]).collect();
        let views: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
        let bulk = heap.place_many(&mut edit, &views).unwrap();
        let mut elements = vec![0; bulk.len() * 16];
        bulk.write_elements(&mut elements).unwrap();
        for run in bulk.runs(100_000) {
            let mut bytes = vec![0xee; run.length];
            bulk.fill(&run, &mut bytes).unwrap();
            store.write_raw(run.address, &bytes).unwrap();
        }
        // The other objects do not fill a collection, or all objects fill too few collections.
        let left: usize = views[bulk.len()..].iter().map(|object| object.len().next_multiple_of(8) + 16).sum();
        prop_assert!(left < 64 << 10 || bulk.is_empty() && left < 5 * (264 << 10));
        let later = heap.insert(&mut edit, b"later").unwrap();
        edit.commit().unwrap();
        let (store, heap) = (reopen(), GlobalHeap::new());
        for (element, object) in elements.chunks_exact(16).zip(&views) {
            let mut reader = Reader::new("element", element);
            prop_assert_eq!(reader.u32("length").unwrap() as usize, object.len());
            let id = GlobalHeapId::read(&mut reader, store.params()).unwrap();
            prop_assert!(heap.get(&store, id).unwrap().bytes() == *object);
        }
        prop_assert!(heap.get(&store, later).unwrap().bytes() == b"later");
    }
}
