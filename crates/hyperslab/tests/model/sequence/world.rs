//! The file and its model.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hyperslab::{
    Dataset, DatasetBuilder, Dataspace, ErrorKind, File, FileOptions, Group, GroupOptions, LibraryVersion,
    LibverBounds, Link, LinkTarget, Object, OpenOptions, Result,
};
use hyperslab_check::CheckOptions;

use super::element::{Kind, VALUES};
use super::medium::Medium;
use super::operation::{Make, Operation, Settings, Stored};
use super::selection::Choice;

/// The target of a link in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Hard(usize),
    Soft(String),
    External(String, String),
}

/// An attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) kind: Kind,
    pub(crate) dims: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
}

/// A dataset.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) make: Make,
    pub(crate) dims: Vec<u64>,
    pub(crate) values: Vec<u8>,
}

/// An object.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) attributes: BTreeMap<String, Value>,
    /// The links of a group.
    pub(crate) links: BTreeMap<String, Target>,
    /// The elements of a dataset.
    pub(crate) array: Option<Array>,
}

/// The file and the model.
pub(crate) struct World {
    settings: Settings,
    medium: Medium,
    file: Option<File>,
    /// True if the free space is no longer known, because the file was closed and does not record
    /// free space.
    forgot: bool,
    /// All objects, starting with the root group. Objects without a link no longer exist in the
    /// file.
    pub(crate) nodes: Vec<Node>,
    handles: HashMap<usize, Dataset>,
}

/// A path to each object.
type Paths = Vec<(String, usize)>;

fn cycle(seed: u8, count: usize) -> Vec<u8> {
    (0..count).map(|at| ((usize::from(seed) + at * 7) % VALUES as usize) as u8).collect()
}

fn join(path: &str, name: &str) -> String {
    format!("{}/{name}", path.trim_end_matches('/'))
}

impl World {
    pub(crate) fn new(settings: &Settings, medium: Medium) -> Self {
        let options = FileOptions::new()
            .libver(settings.bounds())
            .user_block(settings.user_block)
            .sizes(settings.sizes, settings.sizes)
            .file_space(settings.space)
            .track_order(settings.track_order)
            .chunk_cache(settings.chunk_cache)
            .shared_messages(settings.shared.clone());
        let file = medium.create(options).create_driver(medium.driver.clone()).unwrap();
        let root = Node { attributes: BTreeMap::new(), links: BTreeMap::new(), array: None };
        Self {
            settings: settings.clone(),
            medium,
            file: Some(file),
            forgot: false,
            nodes: vec![root],
            handles: HashMap::new(),
        }
    }

    /// Returns the stored bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.medium.bytes()
    }

    pub(crate) fn file(&self) -> &File {
        self.file.as_ref().unwrap()
    }

    /// Returns the file, if it is open, after dropping all other handles.
    pub(crate) fn take_file(&mut self) -> Option<File> {
        self.handles.clear();
        self.file.take()
    }

    /// Returns one path of hard links to each link. The path of a group precedes the paths of its
    /// members.
    pub(crate) fn paths(&self) -> Paths {
        let mut paths = vec![("/".to_owned(), 0)];
        let mut next = 0;
        while let Some((path, node)) = paths.get(next).cloned() {
            for (name, target) in &self.nodes[node].links {
                if let Target::Hard(to) = target {
                    paths.push((join(&path, name), *to));
                }
            }
            next += 1;
        }
        paths
    }

    fn chosen(&self, number: u64, wanted: impl Fn(&Node) -> bool) -> Option<(String, usize)> {
        let paths: Paths = self.paths().into_iter().filter(|(_, node)| wanted(&self.nodes[*node])).collect();
        let at = number as usize % paths.len().max(1);
        paths.into_iter().nth(at)
    }

    fn group(&self, number: u64) -> (String, usize) {
        self.chosen(number, |node| node.array.is_none()).unwrap()
    }

    fn dataset(&self, number: u64) -> Option<(String, usize)> {
        self.chosen(number, |node| node.array.is_some())
    }

    fn any_link(&self, number: u64) -> Option<(String, usize, String)> {
        let mut links = Vec::new();
        for (path, node) in self.paths() {
            links.extend(self.nodes[node].links.keys().map(|name| (path.clone(), node, name.clone())));
        }
        let at = number as usize % links.len().max(1);
        links.into_iter().nth(at)
    }

    fn object(&self, path: &str) -> Object {
        if path == "/" { (**self.file().root()).clone() } else { self.file().object(path).unwrap() }
    }

    /// Executes an operation on the file and the model, and compares the values that it reads.
    pub(crate) fn perform(&mut self, operation: &Operation) {
        match operation {
            Operation::Group { .. } | Operation::Dataset { .. } => self.make(operation),
            Operation::Write { dataset, choice, seed, converted, old_handle } => {
                self.write(*dataset, choice, *seed, *converted, *old_handle);
            }
            Operation::Read { dataset, choice, old_handle } => self.read(*dataset, choice, *old_handle),
            Operation::Resize { dataset, dims } => self.resize(*dataset, *dims),
            Operation::Append { dataset, axis, count, seed } => self.append(*dataset, *axis, *count, *seed),
            Operation::SetAttributes { object, name, kind, size, seed, count } => {
                for number in 0..*count {
                    let name = if number == 0 { name.clone() } else { format!("{name} {number}") };
                    self.set_attribute(*object, &name, *kind, *size, *seed);
                }
            }
            Operation::RenameAttribute { object, attribute, name } => {
                self.rename_attribute(*object, *attribute, name);
            }
            Operation::RemoveAttributes { object, first, count } => {
                self.remove_attributes(*object, *first, *count);
            }
            Operation::Flush => self.flush(),
            Operation::Reopen { low } => {
                self.settings.low = *low;
                self.reopen();
            }
            _ => self.change_links(operation),
        }
    }

    fn make(&mut self, operation: &Operation) {
        let (Operation::Group { parent, name, .. } | Operation::Dataset { parent, name, .. }) = operation
        else {
            return;
        };
        let (path, parent) = self.group(*parent);
        let full = join(&path, name);
        let taken = self.nodes[parent].links.contains_key(name);
        let mut node = Node { attributes: BTreeMap::new(), links: BTreeMap::new(), array: None };
        let outcome = match operation {
            Operation::Dataset { make, .. } => {
                let made = self.make_dataset(&full, make);
                if make.filters == 5 && made.as_ref().is_err_and(|error| error.kind() == ErrorKind::Misuse) {
                    return;
                }
                let count = make.dims.iter().product::<u64>() as usize;
                let values = vec![make.fill.unwrap_or(0); count];
                node.array = Some(Array { make: make.clone(), dims: make.dims.clone(), values });
                made
            }
            Operation::Group { track_order, phases, .. } => {
                let options = GroupOptions::new().track_order(*track_order);
                let options = match phases {
                    Some((maximum, least)) => options.link_phase_change(*maximum, *least),
                    None => options,
                };
                self.file().create_group_with(&full, options).map(|_| ())
            }
            _ => return,
        };
        self.linked(outcome, parent, name, taken, node);
    }

    fn linked(&mut self, outcome: Result<()>, parent: usize, name: &str, taken: bool, node: Node) {
        if taken {
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Exists);
            return;
        }
        outcome.unwrap();
        self.nodes.push(node);
        let target = Target::Hard(self.nodes.len() - 1);
        self.nodes[parent].links.insert(name.to_owned(), target);
    }

    fn make_dataset(&self, path: &str, make: &Make) -> Result<()> {
        let mut builder = self.file().new_dataset(path).datatype(make.kind.datatype()).shape(&make.dims);
        builder = match make.stored {
            Stored::Compact => builder.compact(),
            Stored::Chunked if !make.dims.is_empty() => {
                let builder = builder.chunks(&make.chunk).max_shape(&make.max_dims);
                let builder = make.filters().into_iter().fold(builder, DatasetBuilder::filter);
                // libhdf5 cannot open growing datasets in files with short lengths.
                if make.edges_unfiltered
                    && self.settings.low >= LibraryVersion::V110
                    && self.settings.sizes == 8
                {
                    builder.unfiltered_edges()
                } else {
                    builder
                }
            }
            _ => builder.contiguous(),
        };
        if let Some(value) = make.fill {
            builder = builder.fill_stored(&make.kind.encode(value));
        }
        let builder = builder.fill_time(make.fill_time).allocation_time(make.allocation_time);
        builder.track_order(make.track_order).track_times(make.track_times).create().map(|_| ())
    }

    /// Returns a handle of a dataset: a new handle or an older one.
    fn handle(&mut self, path: &str, node: usize, old: bool) -> Dataset {
        if old && let Some(handle) = self.handles.get(&node) {
            return handle.clone();
        }
        let handle = self.file().dataset(path).unwrap();
        self.handles.entry(node).or_insert(handle).clone()
    }

    fn write(&mut self, number: u64, choice: &Choice, seed: u8, converted: bool, old: bool) {
        let Some((path, node)) = self.dataset(number) else { return };
        let handle = self.handle(&path, node, old);
        let Some(array) = self.nodes[node].array.as_mut() else { return };
        let (selection, offsets) = choice.of(&array.dims);
        let values = cycle(seed, offsets.len());
        let outcome = if converted && array.make.kind.is_number() {
            let values: Vec<i32> = values.iter().map(|value| i32::from(*value)).collect();
            handle.write(&selection, &values)
        } else {
            handle.write_stored(&selection, &array.make.kind.encode_all(&values))
        };
        outcome.unwrap();
        for (offset, value) in offsets.into_iter().zip(values) {
            array.values[offset] = value;
        }
    }

    fn read(&mut self, number: u64, choice: &Choice, old: bool) {
        let Some((path, node)) = self.dataset(number) else { return };
        let handle = self.handle(&path, node, old);
        let Some(array) = &self.nodes[node].array else { return };
        let (selection, offsets) = choice.of(&array.dims);
        let values: Vec<u8> = offsets.into_iter().map(|offset| array.values[offset]).collect();
        let read = handle.read_stored(&selection).unwrap();
        assert_eq!(read.bytes(), array.make.kind.encode_all(&values), "{path}: {selection:?}");
        assert_eq!(handle.dataspace().dims(), array.dims, "{path}");
    }

    fn resize(&mut self, number: u64, wanted: [u16; 3]) {
        let Some((path, node)) = self.dataset(number) else { return };
        let handle = self.handle(&path, node, wanted[0] % 2 == 1);
        let Some(array) = self.nodes[node].array.as_mut() else { return };
        let longest = [200, 40, 9][array.dims.len().saturating_sub(1)];
        let limits = array.make.max_dims.iter().zip(wanted);
        let dims: Vec<u64> =
            limits.map(|(maximum, size)| u64::from(size) % (maximum.unwrap_or(longest) + 1)).collect();
        let outcome = handle.resize(&dims);
        if array.dims.is_empty() || (array.make.stored != Stored::Chunked && dims != array.dims) {
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Misuse, "{path}");
            return;
        }
        outcome.unwrap();
        array.resize(dims);
    }

    fn append(&mut self, number: u64, axis: u64, count: u64, seed: u8) {
        let Some((path, node)) = self.dataset(number) else { return };
        let handle = self.handle(&path, node, seed % 2 == 1);
        let Some(array) = self.nodes[node].array.as_mut() else { return };
        if array.dims.is_empty() || array.make.stored != Stored::Chunked || !array.make.kind.is_number() {
            return;
        }
        let axis = axis as usize % array.dims.len();
        let room = array.make.max_dims[axis].map_or(u64::MAX, |maximum| maximum - array.dims[axis]);
        let mut added = array.dims.clone();
        added[axis] = count.min(room);
        let values = cycle(seed, added.iter().product::<u64>() as usize);
        let shape: Vec<usize> = added.iter().map(|size| *size as usize).collect();
        handle.append(axis, &ndarray::ArrayD::from_shape_vec(shape, values.clone()).unwrap()).unwrap();
        let mut dims = array.dims.clone();
        let before = dims[axis];
        dims[axis] += added[axis];
        array.resize(dims.clone());
        let new = coordinates(&dims).enumerate().filter(|(_, point)| point[axis] >= before);
        let new: Vec<usize> = new.map(|(offset, _)| offset).collect();
        new.into_iter().zip(values).for_each(|(offset, value)| array.values[offset] = value);
    }

    fn change_links(&mut self, operation: &Operation) {
        match operation {
            Operation::SoftLinks { parent, name, count, target } => {
                let (path, parent) = self.group(*parent);
                for number in 0..*count {
                    let name = if number == 0 { name.clone() } else { format!("{name} {number}") };
                    let outcome = self.file().link_soft(&join(&path, &name), target);
                    self.link(outcome, parent, &name, Target::Soft(target.clone()));
                }
            }
            Operation::ExternalLink { parent, name } => {
                let (path, parent) = self.group(*parent);
                let outcome = self.file().link_external(&join(&path, name), "other.h5", name);
                self.link(outcome, parent, name, Target::External("other.h5".into(), name.clone()));
            }
            Operation::HardLink { parent, name, object } => {
                let (path, parent) = self.group(*parent);
                let Some((from, node)) = self.chosen(*object, |_| true) else { return };
                if self.leads_to(node, parent) {
                    return;
                }
                let outcome = self.file().link_hard(&join(&path, name), &self.object(&from));
                self.link(outcome, parent, name, Target::Hard(node));
            }
            Operation::Remove { link } => {
                let Some((path, node, name)) = self.any_link(*link) else { return };
                self.remove(&path, node, &name);
            }
            Operation::RemoveMany { parent, keep } => {
                let (path, node) = self.group(*parent);
                let names: Vec<String> =
                    self.nodes[node].links.keys().skip(*keep as usize).cloned().collect();
                names.iter().for_each(|name| self.remove(&path, node, name));
            }
            Operation::Rename { link, parent, name } => self.rename(*link, *parent, name),
            _ => {}
        }
    }

    fn link(&mut self, outcome: Result<()>, parent: usize, name: &str, target: Target) {
        if self.nodes[parent].links.contains_key(name) {
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Exists);
            return;
        }
        outcome.unwrap();
        self.nodes[parent].links.insert(name.to_owned(), target);
    }

    /// Returns true if hard links lead from one object to another.
    fn leads_to(&self, from: usize, to: usize) -> bool {
        from == to
            || self.nodes[from]
                .links
                .values()
                .any(|target| matches!(target, Target::Hard(next) if self.leads_to(*next, to)))
    }

    fn remove(&mut self, path: &str, node: usize, name: &str) {
        self.nodes[node].links.remove(name);
        self.file().remove(&join(path, name)).unwrap();
        let alive: BTreeSet<usize> = self.paths().into_iter().map(|(_, node)| node).collect();
        self.handles.retain(|node, _| alive.contains(node));
    }

    fn rename(&mut self, link: u64, parent: u64, name: &str) {
        let Some((path, node, old)) = self.any_link(link) else { return };
        let (to, parent) = self.group(parent);
        let target = self.nodes[node].links[&old].clone();
        if matches!(target, Target::Hard(moved) if self.leads_to(moved, parent)) {
            return;
        }
        let outcome = self.file().rename(&join(&path, &old), &join(&to, name));
        if self.nodes[parent].links.contains_key(name) {
            if !(node == parent && old == name) {
                assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Exists);
            }
            return;
        }
        outcome.unwrap();
        self.nodes[node].links.remove(&old);
        self.nodes[parent].links.insert(name.to_owned(), target);
    }

    fn set_attribute(&mut self, object: u64, name: &str, kind: Kind, size: u64, seed: u8) {
        let Some((path, node)) = self.chosen(object, |_| true) else { return };
        let bytes = kind.encode_all(&cycle(seed, size as usize));
        let space = if size == 1 { Dataspace::Scalar } else { Dataspace::simple(&[size]) };
        let outcome = self.object(&path).set_attribute_stored(name, &kind.datatype(), &space, &bytes);
        if bytes.len() > 60_000 && outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Misuse) {
            return;
        }
        outcome.unwrap();
        let dims = if size == 1 { vec![] } else { vec![size] };
        self.nodes[node].attributes.insert(name.to_owned(), Value { kind, dims, bytes });
    }

    fn rename_attribute(&mut self, object: u64, attribute: u64, name: &str) {
        let Some((path, node)) = self.chosen(object, |node| !node.attributes.is_empty()) else { return };
        let attributes = &mut self.nodes[node].attributes;
        let Some(old) = attributes.keys().nth(attribute as usize % attributes.len()).cloned() else { return };
        let taken = attributes.contains_key(name);
        if old == name {
            return;
        }
        let outcome = self.object(&path).rename_attribute(&old, name);
        if taken {
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Exists);
            return;
        }
        outcome.unwrap();
        let attributes = &mut self.nodes[node].attributes;
        if let Some(value) = attributes.remove(&old) {
            attributes.insert(name.to_owned(), value);
        }
    }

    fn remove_attributes(&mut self, object: u64, first: u64, count: u64) {
        let Some((path, node)) = self.chosen(object, |node| !node.attributes.is_empty()) else { return };
        let object = self.object(&path);
        for _ in 0..count {
            let attributes = &mut self.nodes[node].attributes;
            let at = first as usize % attributes.len().max(1);
            let Some(name) = attributes.keys().nth(at).cloned() else { return };
            attributes.remove(&name);
            object.remove_attribute(&name).unwrap();
        }
    }

    /// Flushes the file. The stored bytes then contain all changes.
    fn flush(&mut self) {
        self.file().flush().unwrap();
        if !self.medium.compared {
            return;
        }
        let file = OpenOptions::new().ignore_status_flags(true).open_bytes(self.bytes()).unwrap();
        self.compare(&file);
    }

    /// Compares, closes, checks the file, and opens it again.
    pub(crate) fn reopen(&mut self) {
        if self.medium.compared {
            self.compare(self.file());
        }
        if let Some(file) = self.take_file() {
            file.close().unwrap();
        }
        if self.medium.compared {
            self.compare(&OpenOptions::new().open_driver(self.medium.driver.clone()).unwrap());
            self.check();
        }
        self.forgot |= !self.settings.space.persist;
        let bounds = LibverBounds::new(self.settings.low, LibraryVersion::LATEST).unwrap();
        let options = OpenOptions::new().write(true).libver(bounds).chunk_cache(self.settings.chunk_cache);
        self.file = Some(self.medium.open(options).open_driver(self.medium.driver.clone()).unwrap());
    }

    fn check(&self) {
        let options = CheckOptions { decode_chunks: true, ..CheckOptions::default() };
        let report = hyperslab_check::check(self.medium.driver.clone(), &options).unwrap();
        assert_eq!((report.faults, report.unchecked), (0, 0), "{:#?}", report.findings);
        let wrong_total = report.findings.iter().find(|finding| finding.structure == "fractal heap header");
        assert!(wrong_total.is_none(), "{wrong_total:?}");
        let space = self.settings.space;
        if space.persist && space.threshold <= 1 {
            assert!(report.leaked_bytes() == 0, "leaked: {:x?}, {:#?}", report.leaked, report.usage);
        }
        assert_eq!(report.leaked_heap_objects.blocks, 0);
    }

    /// Asserts that the contents of a file equal the model.
    fn compare(&self, file: &File) {
        let mut tokens = HashMap::new();
        for (path, node) in self.paths() {
            let object = if path == "/" { (**file.root()).clone() } else { file.object(&path).unwrap() };
            let token = *tokens.entry(node).or_insert(object.token());
            assert_eq!(object.token(), token, "{path}");
            self.compare_attributes(&path, &object, node);
            match &self.nodes[node].array {
                Some(array) => array.compare(&path, &object.into_dataset().unwrap()),
                None => self.compare_links(&path, &object.into_group().unwrap(), node),
            }
        }
    }

    fn compare_links(&self, path: &str, group: &Group, node: usize) {
        let links = group.links().unwrap();
        let names: Vec<String> = links.iter().map(Link::name_lossy).collect();
        let expected = &self.nodes[node].links;
        assert_eq!(names, expected.keys().cloned().collect::<Vec<_>>(), "{path}");
        for (link, (name, target)) in links.iter().zip(expected) {
            let same = match (target, &link.target) {
                (Target::Hard(_), LinkTarget::Hard(_)) => true,
                (Target::Soft(to), LinkTarget::Soft(is)) => to.as_bytes() == is,
                (Target::External(file, to), LinkTarget::External { file: in_file, path: is }) => {
                    file.as_bytes() == in_file && to.as_bytes() == is
                }
                _ => false,
            };
            assert!(same, "{path}: {name}: {target:?}, {link:?}");
            assert_eq!(group.link(name).unwrap().as_ref(), Some(link), "{path}: {name}");
        }
    }

    fn compare_attributes(&self, path: &str, object: &Object, node: usize) {
        let expected = &self.nodes[node].attributes;
        let names = object.attribute_names().unwrap();
        assert_eq!(names, expected.keys().cloned().collect::<Vec<_>>(), "{path}");
        for (name, value) in expected {
            let attribute = object.attribute(name).unwrap();
            assert_eq!(attribute.read_stored().unwrap().bytes(), value.bytes, "{path}: {name}");
            assert_eq!(attribute.dataspace().unwrap().dims(), value.dims, "{path}: {name}");
            assert_eq!(attribute.datatype().unwrap(), value.kind.datatype(), "{path}: {name}");
        }
    }
}

/// Returns all coordinates of a shape in C order.
fn coordinates(dims: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    (0..dims.iter().product::<u64>()).map(move |mut offset| {
        let mut point = vec![0; dims.len()];
        for (at, size) in point.iter_mut().zip(dims).rev() {
            *at = offset % size;
            offset /= size;
        }
        point
    })
}

impl Array {
    fn resize(&mut self, dims: Vec<u64>) {
        let kept = |point: &[u64]| {
            let inside = point.iter().zip(&self.dims).all(|(at, size)| at < size);
            let offset = point.iter().zip(&self.dims).fold(0, |sum, (at, size)| sum * size + at);
            if inside { self.values[offset as usize] } else { self.make.fill.unwrap_or(0) }
        };
        let values = coordinates(&dims).map(|point| kept(&point)).collect();
        self.values = values;
        self.dims = dims;
    }

    fn compare(&self, path: &str, dataset: &Dataset) {
        assert_eq!(dataset.dataspace().dims(), self.dims, "{path}");
        assert_eq!(dataset.datatype(), &self.make.kind.datatype(), "{path}");
        let stored =
            dataset.read_stored(..).unwrap_or_else(|error| panic!("{path}: {error}: {:?}", self.make));
        assert_eq!(stored.bytes(), self.make.kind.encode_all(&self.values), "{path}: {:?}", self.make);
        if self.make.stored == Stored::Chunked && !self.dims.is_empty() {
            assert_eq!(dataset.dataspace().max_dims().to_vec(), self.make.max_dims, "{path}");
            assert_eq!(dataset.filters().len(), self.make.filters().len(), "{path}");
        }
    }
}
