//! Comparison of symbol tables with a map of names, and alternating changes with libhdf5.

use std::collections::BTreeMap;

use hyperslab_format::codec::Address;
use hyperslab_format::local_heap::{LocalHeapHeader, read_free_blocks};
use proptest::prelude::*;

use super::insert::insert;
use super::*;
use crate::object::container::FileSettings;
use crate::object::link::LinkTarget;
use crate::store::image::{editable, new_file_to_reopen};
use crate::store::{Edit, Store};
use crate::versions::LibverBounds;

fn container(store: Store, leaf_k: u16, internal_k: u16) -> Container {
    let settings = FileSettings {
        group_leaf_k: leaf_k,
        group_internal_k: internal_k,
        indexed_storage_k: 32,
        file_space: None,
        cache_image: None,
    };
    Container::new(store, settings)
}

type Model = BTreeMap<Vec<u8>, LinkTarget>;

fn link_to(name: &[u8], target: LinkTarget) -> Link {
    Link { name: name.to_vec(), charset: CharacterSet::Ascii, creation_order: None, target }
}

fn read(container: &Container, table: &SymbolTable) -> Model {
    let mut links = Model::new();
    let mut before: Option<Vec<u8>> = None;
    for_each(container, table, &mut |link| {
        assert!(before.as_ref().is_none_or(|before| *before < link.name), "names in order");
        before = Some(link.name.clone());
        assert!(links.insert(link.name, link.target).is_none());
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    links
}

/// Checks the keys and neighbours of a node and of the nodes below. Returns the names of its
/// children in order.
struct Look<'a> {
    container: &'a Container,
    heap: LocalHeap,
    /// The last visited node of each level.
    last: BTreeMap<u8, (Address, Address, u64)>,
}

impl Look<'_> {
    fn node(&mut self, address: Address, level: Option<u8>, bounds: Option<(u64, u64)>) -> Option<Vec<u8>> {
        let node: Arc<BTreeV1Node> =
            self.container.store.shared(address, &tree_context(self.container)).unwrap();
        assert!(level.is_none_or(|level| node.level == level));
        let keys = node.keys.as_group().unwrap();
        let (first, last) = (keys[0], *keys.last().unwrap());
        assert!(bounds.is_none_or(|bounds| bounds == (first, last)), "keys as the node above has them");
        assert!(level.is_none() || !node.children.is_empty());
        if let Some((before, right, key)) = self.last.insert(node.level, (address, node.right, last)) {
            assert_eq!((node.left, right, key), (before, address, first), "neighbours");
        } else {
            assert!(!node.left.is_defined());
        }
        let mut greatest = None;
        for (number, child) in node.children.iter().enumerate() {
            let (before, after) = (keys[number], keys[number + 1]);
            greatest = if let Some(below) = node.level.checked_sub(1) {
                self.node(*child, Some(below), Some((before, after)))
            } else {
                let context = node_context(self.container);
                let leaf: Arc<SymbolTableNode> = self.container.store.shared(*child, &context).unwrap();
                assert!(leaf.entries.len() <= context.capacity());
                let first = self.heap.name(leaf.entries.first().unwrap().name_offset).unwrap();
                assert!(self.heap.name(before).unwrap() < first);
                Some(self.heap.name(leaf.entries.last().unwrap().name_offset).unwrap().to_vec())
            };
            assert_eq!(
                greatest.as_deref().unwrap(),
                self.heap.name(after).unwrap(),
                "the key is the greatest name"
            );
        }
        greatest
    }
}

fn verify(container: &Container, table: &SymbolTable, model: &Model) {
    assert_eq!(&read(container, table), model);
    for name in model.keys() {
        assert_eq!(find(container, table, name).unwrap().unwrap().target, model[name]);
    }
    let heap = LocalHeap::load(&container.store, table.heap).unwrap();
    let mut look = Look { container, heap, last: BTreeMap::new() };
    look.node(table.btree, None, None);
    for (_, right, _) in look.last.values() {
        assert!(!right.is_defined());
    }
    // Names, values and free blocks fill the heap, except for free bytes that are too few for the
    // list.
    let params = container.params();
    let header: LocalHeapHeader = container.store.get(table.heap, &params).unwrap();
    let segment = container.store.read(header.segment, header.segment_size, "test").unwrap();
    let free: u64 =
        read_free_blocks(&segment, header.free_list, params).unwrap().iter().map(|block| block.size).sum();
    let taken = |text: &[u8]| (text.len() as u64 + 1).next_multiple_of(8);
    let used: u64 = model
        .iter()
        .map(|(name, target)| match target {
            LinkTarget::Soft(path) => taken(name) + taken(path),
            _ => taken(name),
        })
        .sum();
    assert!(8 + used + free <= header.segment_size);
}

#[derive(Debug, Clone)]
enum Change {
    Insert(u16, Option<usize>),
    Remove(usize),
    Commit,
}

fn changes(names: u16) -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        6 => (0..names, prop::option::of(0_usize..40)).prop_map(|(name, soft)| Change::Insert(name, soft)),
        5 => any::<usize>().prop_map(Change::Remove),
        1 => Just(Change::Commit),
    ];
    prop::collection::vec(change, 0..300)
}

fn name_of(number: u16) -> Vec<u8> {
    format!("{number}{}", "n".repeat(usize::from(number % 23))).into_bytes()
}

fn apply(
    container: &Container,
    edit: &mut Edit<'_>,
    table: &SymbolTable,
    model: &mut Model,
    change: &Change,
) {
    match change {
        Change::Insert(number, soft) => {
            let name = name_of(*number);
            let target = match soft {
                Some(length) => LinkTarget::Soft(vec![b'p'; *length]),
                None => LinkTarget::Hard(Address::new(u64::from(*number) * 8)),
            };
            let cached = (number % 3 == 0).then_some(*table);
            let new = insert(container, edit, table, &link_to(&name, target.clone()), cached).unwrap();
            assert_eq!(new, !model.contains_key(&name));
            model.entry(name).or_insert(target);
        }
        Change::Remove(nth) => {
            let Some(at) = nth.checked_rem(model.len()) else { return };
            let name = model.keys().nth(at).unwrap().clone();
            let removed = remove(container, edit, table, &name).unwrap().unwrap();
            assert_eq!((removed.name, Some(removed.target)), (name.clone(), model.remove(&name)));
            assert!(remove(container, edit, table, &name).unwrap().is_none());
        }
        Change::Commit => edit.commit().unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn tables_hold_what_was_put_into_them(changes in changes(300), leaf_k in 1_u16..4, internal_k in 1_u16..4) {
        let (store, reopen) = new_file_to_reopen(LibverBounds::EARLIEST);
        let container = container(store, leaf_k, internal_k);
        let mut edit = container.store.edit().unwrap();
        edit.commit().unwrap();
        let empty = edit.usage().allocated();
        let table = create(&container, &mut edit, 88).unwrap();
        let mut model = Model::new();
        for change in &changes {
            apply(&container, &mut edit, &table, &mut model, change);
        }
        verify(&container, &table, &model);
        edit.commit().unwrap();
        verify(&self::container(reopen(), leaf_k, internal_k), &table, &model);
        delete(&container, &mut edit, &table).unwrap();
        edit.commit().unwrap();
        prop_assert_eq!(edit.usage().allocated(), empty);
    }
}

#[test]
fn names_in_ascending_order_leave_full_nodes() {
    let (store, reopen) = new_file_to_reopen(LibverBounds::EARLIEST);
    let container = container(store, 4, 16);
    let mut edit = container.store.edit().unwrap();
    let table = create(&container, &mut edit, 88).unwrap();
    let mut model = Model::new();
    for number in 0..20_000_u64 {
        let name = format!("name {number:06}").into_bytes();
        let target = LinkTarget::Hard(Address::new(number));
        assert!(insert(&container, &mut edit, &table, &link_to(&name, target.clone()), None).unwrap());
        model.insert(name, target);
    }
    verify(&container, &table, &model);
    edit.commit().unwrap();
    assert!(reopen().file_length() < 20_000 * (41 + 16 + 16));
    for name in model.keys() {
        remove(&container, &mut edit, &table, name).unwrap().unwrap();
    }
    verify(&container, &table, &Model::new());
}

#[test]
fn refusals() {
    let (store, _) = new_file_to_reopen(LibverBounds::EARLIEST);
    let container = container(store, 4, 16);
    let mut edit = container.store.edit().unwrap();
    let table = create(&container, &mut edit, 88).unwrap();
    let external = LinkTarget::External { file: b"f".to_vec(), path: b"p".to_vec() };
    let hard = LinkTarget::Hard(Address::new(0));
    for link in [link_to(b"", hard.clone()), link_to(b"a\0b", hard), link_to(b"e", external)] {
        let error = insert(&container, &mut edit, &table, &link, None).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Misuse);
    }
    verify(&container, &table, &Model::new());
}

const REFEREE: &str = r#"
import h5py, random, sys
path, seed = sys.argv[1], int(sys.argv[2])
draw = random.Random(seed)
with h5py.File(path, "r+" if seed % 10 else "w", libver="earliest") as file:
    group = file.require_group("g")
    def check():
        names = list(group)
        assert names == sorted(names)
        for name in names:
            if name.startswith("soft"):
                assert group.get(name, getlink=True).path == "/" + name, name
            else:
                assert isinstance(group[name], h5py.Group)
        return names
    names = check()
    for name in draw.sample(names, len(names) // 2):
        del group[name]
    check()
    for number in range(100):
        name = f"soft {draw.random()}".ljust(draw.randrange(10, 80), "x")
        group[name] = h5py.SoftLink("/" + name)
    for number in range(30):
        group.create_group(f"{draw.random()} group")
    names = check()
    for name in draw.sample(names, 40):
        del group[name]
    check()
    print(group.id.__class__.__name__)
"#;

/// Inserts links into the group with the second tree and the second heap of the file, and removes
/// other links.
fn change_file(bytes: Vec<u8>, seed: usize) -> Vec<u8> {
    let places = |signature: &[u8]| {
        let found = bytes.windows(4).enumerate().filter(|(_, window)| *window == signature);
        found.map(|(at, _)| at as u64).collect::<Vec<_>>()
    };
    let (store, committed) = editable(bytes.clone(), LibverBounds::EARLIEST);
    let container = container(store, 4, 16);
    let root = container.store.superblock();
    let hyperslab_format::superblock::SuperblockVersion::Old(old) = root.version else { panic!("not old") };
    let SymbolTableCache::Group { btree, heap } = old.root.cache else { panic!("no root table") };
    assert!(places(b"HEAP").contains(&heap.raw()));
    let root = SymbolTable { btree, heap };
    let group = {
        let names = LocalHeap::load(&container.store, heap).unwrap();
        let path = path::TablePath::to(&container, &root, &names, b"g").unwrap();
        let node: Arc<SymbolTableNode> =
            container.store.shared(path.node, &node_context(&container)).unwrap();
        let SymbolTableCache::Group { btree, heap } = node.entries[path.index].cache else {
            panic!("no table")
        };
        SymbolTable { btree, heap }
    };
    let mut model = read(&container, &group);
    verify(&container, &group, &model);
    let mut edit = container.store.edit().unwrap();
    for (number, name) in model.clone().into_keys().enumerate() {
        if !(number + seed).is_multiple_of(3) {
            // Objects of removed hard links are not deleted.
            remove(&container, &mut edit, &group, &name).unwrap().unwrap();
            model.remove(&name);
        }
    }
    for number in 0..150 {
        let name =
            format!("soft {}{}", (number * 7919 + seed * 31) % 1000, "y".repeat(number % 37)).into_bytes();
        let target = LinkTarget::Soft([b"/", &*name].concat());
        if insert(&container, &mut edit, &group, &link_to(&name, target.clone()), None).unwrap() {
            model.insert(name, target);
        }
    }
    verify(&container, &group, &model);
    edit.commit().unwrap();
    committed()
}

#[test]
fn in_turn_with_libhdf5() {
    let Some(referee) = hyperslab_testkit::referee::python() else { return };
    let path = std::env::temp_dir().join(format!("hyperslab-symbols-{}.h5", std::process::id()));
    for round in 0..20_usize {
        let seed = round.to_string();
        let answer = referee.run_script(REFEREE, [path.to_str().unwrap(), seed.as_str()]);
        answer.unwrap_or_else(|error| panic!("round {round}: {error:#}"));
        let bytes = change_file(std::fs::read(&path).unwrap(), round);
        std::fs::write(&path, bytes).unwrap();
    }
    std::fs::remove_file(path).unwrap();
}
