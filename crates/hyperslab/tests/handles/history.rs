//! Random histories of handles, links and flushes against a naive model, in which a node exists as
//! long as a name or a handle leads to it. At the end, the closed file must equal the model, both
//! for hyperslab and for libhdf5.
//!
//! `HYPERSLAB_HANDLES=1000` is the number of histories, `HYPERSLAB_HANDLES_SEED=7` the first one.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab::vfd::Core;
use hyperslab::{
    Dataset, ErrorKind, File, Group, LibraryVersion, LibverBounds, LinkTarget, Object, ObjectKind,
    ObjectToken, SharedMessageIndexInfo, SharedMessages,
};
use hyperslab_testkit::referee;
use serde_json::{Value, json};

use super::{Medium, Random, number, options, sound};

const STEPS: u64 = 120;
const NAMES: u64 = 6;

/// The state of an object in the model.
#[derive(Debug, Clone, PartialEq)]
enum Content {
    Group(BTreeMap<String, usize>),
    Numbers(Vec<i32>),
    Texts(Vec<String>),
}

#[derive(Debug)]
struct Node {
    content: Content,
    attribute: Option<i64>,
    token: ObjectToken,
}

struct World {
    file: File,
    nodes: Vec<Node>,
    handles: Vec<(usize, Object)>,
    random: Random,
    seed: u64,
}

fn numbers(seed: u64, length: usize) -> Vec<i32> {
    (0..length).map(|at| i32::try_from((seed * 31 + at as u64) % 1000).unwrap()).collect()
}

fn texts(seed: u64) -> Vec<String> {
    (0..20).map(|at| "x".repeat(usize::try_from(1 + (seed + at * 7) % 50).unwrap())).collect()
}

/// Creates a file of the oldest or the newest format, possibly with shared messages and with paged
/// allocation.
fn file_of(seed: u64) -> (File, Medium) {
    let medium = Medium::new(Core::from_vec("handles", Vec::new()));
    let latest = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    let bounds = [LibverBounds::EARLIEST, LibverBounds::DEFAULT, latest];
    let options = options().libver(bounds[usize::try_from(seed % 3).unwrap()]);
    let options = match seed % 4 {
        0 => options.shared_messages(SharedMessages::of(SharedMessageIndexInfo::ALL, 12)),
        _ => options,
    };
    let options = if seed.is_multiple_of(5) { options.dirty_limit(1000) } else { options };
    (options.create_driver(medium.clone()).unwrap(), medium)
}

impl World {
    fn new(seed: u64) -> (Self, Medium) {
        let (file, medium) = file_of(seed);
        let root = Node { content: Content::Group(BTreeMap::new()), attribute: None, token: file.token() };
        (Self { file, nodes: vec![root], handles: Vec::new(), random: Random(seed + 1), seed }, medium)
    }

    /// Returns all nodes that names or handles reach.
    fn live(&self) -> BTreeSet<usize> {
        let mut waiting: Vec<usize> = self.handles.iter().map(|(node, _)| *node).chain([0]).collect();
        let mut live = BTreeSet::new();
        while let Some(node) = waiting.pop() {
            if live.insert(node)
                && let Content::Group(links) = &self.nodes[node].content
            {
                waiting.extend(links.values());
            }
        }
        live
    }

    /// Returns the number of links from existing groups to a node.
    fn links_to(&self, node: usize) -> usize {
        let groups = self.live().into_iter().filter_map(|group| match &self.nodes[group].content {
            Content::Group(links) => Some(links.values().filter(|target| **target == node).count()),
            _ => None,
        });
        groups.sum::<usize>() + usize::from(node == 0)
    }

    /// Returns true if links lead from a group to a node, directly or through other groups.
    fn leads_to(&self, from: usize, to: usize) -> bool {
        from == to
            || match &self.nodes[from].content {
                Content::Group(links) => links.values().any(|node| self.leads_to(*node, to)),
                _ => false,
            }
    }

    /// Returns an open group, or the root group.
    fn group(&mut self) -> (usize, Group) {
        let is_group = |(node, _): &&(usize, Object)| matches!(self.nodes[*node].content, Content::Group(_));
        let groups: Vec<(usize, Object)> = self.handles.iter().filter(is_group).cloned().collect();
        let choice = self.random.below(groups.len() as u64 * 2 + 1);
        match groups.get(usize::try_from(choice).unwrap()) {
            Some((node, object)) => (*node, object.clone().into_group().unwrap()),
            None => (0, self.file.root().clone()),
        }
    }

    fn children(&mut self, group: usize) -> &mut BTreeMap<String, usize> {
        match &mut self.nodes[group].content {
            Content::Group(links) => links,
            other => panic!("{other:?} is no group"),
        }
    }

    fn handle(&mut self) -> Option<(usize, Object)> {
        let choice = self.random.below(self.handles.len() as u64);
        self.handles.get(usize::try_from(choice).unwrap()).cloned()
    }

    fn name(&mut self) -> String {
        format!("n{}", self.random.below(NAMES))
    }

    fn step(&mut self) {
        match self.random.below(14) {
            0 | 1 => self.create(),
            2 => self.open(),
            3 => {
                let clone = self.handle();
                self.handles.extend(clone);
            }
            4 | 5 => self.drop_one(),
            6 | 7 => self.remove(),
            8 => self.link(),
            9 | 10 => self.write(),
            11 => self.compare_one(),
            12 => self.compare_token(),
            _ => self.file.flush().unwrap(),
        }
    }

    fn create(&mut self) {
        let ((parent, group), name, value) = (self.group(), self.name(), self.random.below(1000));
        let taken = self.children(parent).contains_key(&name);
        let length = 300;
        let numbers = |chunked: bool, deflated: bool| {
            let new = group.new_dataset(&name).of::<i32>().shape(&[length as u64]);
            let new = if chunked { new.chunks(&[64]).unlimited() } else { new };
            let dataset = if deflated { new.deflate(1) } else { new }.create()?;
            dataset.write(.., &numbers(value, length))?;
            Ok(dataset)
        };
        let dataset = |made: hyperslab::Result<Dataset>| made.map(|dataset| Object::clone(&dataset));
        let made = match value % 5 {
            0 => group.create_group(&name).map(|group| Object::clone(&group)),
            1 => dataset(group.new_dataset(&name).write_strings(&texts(value))),
            kind => dataset(numbers(kind > 2, kind > 3)),
        };
        match made {
            Err(error) => assert!(taken && error.kind() == ErrorKind::Exists, "{error:?}"),
            Ok(made) => {
                assert!(!taken);
                let content = match value % 5 {
                    0 => Content::Group(BTreeMap::new()),
                    1 => Content::Texts(texts(value)),
                    _ => Content::Numbers(self::numbers(value, length)),
                };
                let node = self.nodes.len();
                self.nodes.push(Node { content, attribute: None, token: made.token() });
                self.children(parent).insert(name, node);
                if self.random.below(3) > 0 {
                    self.handles.push((node, made));
                }
            }
        }
    }

    fn open(&mut self) {
        let ((parent, group), name) = (self.group(), self.name());
        match (self.children(parent).get(&name).copied(), group.object(&name)) {
            (Some(node), Ok(object)) => self.handles.push((node, object)),
            (None, Err(error)) if error.kind() == ErrorKind::NotFound => {}
            (node, object) => panic!("{node:?} is {object:?}"),
        }
    }

    fn drop_one(&mut self) {
        if !self.handles.is_empty() {
            let choice = self.random.below(self.handles.len() as u64);
            self.handles.swap_remove(usize::try_from(choice).unwrap());
        }
    }

    fn remove(&mut self) {
        let ((parent, group), name) = (self.group(), self.name());
        let known = self.children(parent).remove(&name);
        match group.remove(&name) {
            Ok(()) => assert!(known.is_some()),
            Err(error) => assert!(known.is_none() && error.kind() == ErrorKind::NotFound, "{error:?}"),
        }
    }

    /// Creates a link that closes no cycle, because the objects of a cycle are never deleted, as in
    /// libhdf5.
    fn link(&mut self) {
        let ((parent, group), name) = (self.group(), self.name());
        let Some((node, object)) = self.handle() else { return };
        if self.leads_to(node, parent) {
            return;
        }
        let taken = self.children(parent).contains_key(&name);
        match group.link_hard(&name, &object) {
            Ok(()) => assert!(!taken && self.children(parent).insert(name, node).is_none()),
            Err(error) => assert!(taken && error.kind() == ErrorKind::Exists, "{error:?}"),
        }
    }

    fn write(&mut self) {
        let Some((node, object)) = self.handle() else { return };
        let value = self.random.below(1000);
        if value.is_multiple_of(3) {
            object.set_attribute("value", i64::try_from(value).unwrap()).unwrap();
            self.nodes[node].attribute = Some(i64::try_from(value).unwrap());
            return;
        }
        match &mut self.nodes[node].content {
            Content::Group(_) => {}
            Content::Texts(now) => {
                *now = texts(value);
                object.into_dataset().unwrap().write_strings(.., now).unwrap();
            }
            Content::Numbers(now) => {
                let dataset = object.into_dataset().unwrap();
                if value.is_multiple_of(2) && dataset.chunking().is_some() {
                    let length = usize::try_from(100 + value % 400).unwrap();
                    dataset.resize(&[length as u64]).unwrap();
                    now.resize(length, 0);
                }
                let written = numbers(value, now.len());
                now.copy_from_slice(&written);
                dataset.write(.., &written).unwrap();
            }
        }
    }

    /// Returns the content of an object, without the targets of its links.
    fn compare(&self, node: usize, object: &Object) {
        let (subject, at) = (&self.nodes[node], format!("seed {}, node {node}", self.seed));
        let attributes: Vec<i64> =
            object.attributes().unwrap().iter().map(|one| one.read_scalar().unwrap()).collect();
        assert_eq!(attributes, subject.attribute.into_iter().collect::<Vec<_>>(), "{at}");
        match &subject.content {
            Content::Group(links) => {
                let group = object.clone().into_group().unwrap();
                let expected: BTreeMap<String, ObjectToken> =
                    links.iter().map(|(name, node)| (name.clone(), self.nodes[*node].token)).collect();
                let found = group.links().unwrap().into_iter().map(|link| match link.target {
                    LinkTarget::Hard(token) => (link.name_lossy(), token),
                    other => panic!("{other:?}"),
                });
                assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{at}");
            }
            Content::Numbers(numbers) => {
                let dataset = object.clone().into_dataset().unwrap();
                assert_eq!(dataset.read_raw::<i32>(..).unwrap(), *numbers, "{at}");
            }
            Content::Texts(texts) => {
                let dataset = object.clone().into_dataset().unwrap();
                assert_eq!(
                    dataset.read_strings::<hyperslab::IxDyn>(..).unwrap().into_raw_vec_and_offset().0,
                    *texts,
                    "{at}"
                );
            }
        }
    }

    fn compare_one(&mut self) {
        if let Some((node, object)) = self.handle() {
            self.compare(node, &object);
            assert_eq!(object.token(), self.nodes[node].token);
            // Until then, a group may exist although its last handle was dropped.
            self.file.flush().unwrap();
            assert_eq!(object.link_count().unwrap() as usize, self.links_to(node), "seed {}", self.seed);
        }
    }

    fn compare_token(&mut self) {
        self.file.flush().unwrap();
        let node = usize::try_from(self.random.below(self.nodes.len() as u64)).unwrap();
        match self.file.object_at(self.nodes[node].token) {
            Ok(object) => {
                assert!(self.live().contains(&node), "seed {}: node {node} lives", self.seed);
                self.compare(node, &object);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NotFound, "{error:?}");
                assert!(!self.live().contains(&node), "seed {}: node {node} is gone", self.seed);
            }
        }
    }

    /// Compares all objects that names reach in a file with the model. Returns the objects as JSON.
    fn compare_all(&self, file: &File) -> Value {
        let mut all = serde_json::Map::new();
        let mut waiting = vec![("/".to_owned(), 0)];
        while let Some((path, node)) = waiting.pop() {
            let object = if node == 0 { Object::clone(file.root()) } else { file.object(&path).unwrap() };
            let subject = &self.nodes[node];
            let content = match &subject.content {
                Content::Group(links) => {
                    assert_eq!(object.kind(), Some(ObjectKind::Group));
                    let inner = path.trim_end_matches('/');
                    waiting.extend(links.iter().map(|(name, node)| (format!("{inner}/{name}"), *node)));
                    json!(links.keys().collect::<Vec<_>>())
                }
                Content::Numbers(numbers) => {
                    assert_eq!(object.into_dataset().unwrap().read_raw::<i32>(..).unwrap(), *numbers);
                    json!(numbers)
                }
                Content::Texts(texts) => {
                    let read = object.into_dataset().unwrap().read_strings::<hyperslab::IxDyn>(..).unwrap();
                    assert_eq!(read.into_raw_vec_and_offset().0, *texts);
                    json!(texts)
                }
            };
            all.insert(path, json!([content, subject.attribute]));
        }
        Value::Object(all)
    }
}

/// Runs a history. Returns the bytes and the content of the file. Every second history drops its
/// handles before the close.
fn run(seed: u64) -> (Vec<u8>, Value) {
    let (mut world, medium) = World::new(seed);
    for _ in 0..STEPS {
        world.step();
    }
    world.file.flush().unwrap();
    world.handles.iter().for_each(|(node, object)| world.compare(*node, object));
    let kept = std::mem::take(&mut world.handles);
    let kept = if seed.is_multiple_of(2) { kept } else { Vec::new() };
    let content = world.compare_all(&world.file);
    world.file.clone().close().unwrap();
    for (node, object) in &kept {
        if world.links_to(*node) == 0 {
            assert_eq!(object.attributes().unwrap_err().kind(), ErrorKind::Misuse, "seed {seed}");
        }
        assert!(object.set_attribute("late", 1).is_err());
    }
    drop(kept);
    let bytes = sound(&medium);
    world.compare_all(&File::from_bytes(bytes.clone()).unwrap());
    (bytes, content)
}

/// A script that prints the contents of files in the form of [`World::compare_all`].
const SCRIPT: &str = r#"
import json, os, sys
import h5py

def content(o):
    if isinstance(o, h5py.Group):
        return sorted(o)
    if o.dtype.kind == "O":
        return [text.decode() for text in o[()]]
    return o[()].tolist()

def note(found, path, o):
    value = o.attrs.get("value")
    found[path] = [content(o), None if value is None else int(value)]
    if isinstance(o, h5py.Group):
        for name in o:
            note(found, path.rstrip("/") + "/" + name, o[name])

truth = {}
for name in os.listdir(sys.argv[1]):
    with h5py.File(os.path.join(sys.argv[1], name)) as f:
        truth[name] = {}
        note(truth[name], "/", f)
json.dump(truth, sys.stdout)
"#;

#[test]
fn histories_equal_those_of_a_naive_model() {
    let first = number("HYPERSLAB_HANDLES_SEED", 1);
    let folder = tempfile::tempdir().unwrap();
    let mut expected = serde_json::Map::new();
    for seed in first..first + number("HYPERSLAB_HANDLES", 60) {
        let (bytes, content) = run(seed);
        std::fs::write(folder.path().join(format!("{seed}.h5")), bytes).unwrap();
        expected.insert(format!("{seed}.h5"), content);
    }
    let Some(referee) = referee::python() else { return };
    let answer = referee.run_script(SCRIPT, [folder.path()]).unwrap();
    let found: serde_json::Map<String, Value> = serde_json::from_str(&answer).unwrap();
    for (name, content) in &expected {
        assert_eq!(found[name], *content, "{name}");
    }
}
