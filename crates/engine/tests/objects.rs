//! Groups, links and attributes that hyperslab and libhdf5 change in turn. After each turn, both
//! libraries read the same contents.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test a panic is the report"
)]

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use hyperslab_dataspace::Dataspace;
use hyperslab_datatype::{CharacterSet, Datatype};
use hyperslab_engine::LibverBounds;
use hyperslab_engine::object::attribute_edit::{self, NewAttribute};
use hyperslab_engine::object::committed::commit_datatype;
use hyperslab_engine::object::container::{Container, FileSettings};
use hyperslab_engine::object::group_edit::{
    GroupOptions, LinkOrder, add_hard_link, create_group, insert_link, move_link, remove_link, set_root,
};
use hyperslab_engine::object::header::ObjectHeader;
use hyperslab_engine::object::header_edit::{AttributeOrder, NewHeader};
use hyperslab_engine::object::kind::ObjectKind;
use hyperslab_engine::object::link::{Link, LinkTarget};
use hyperslab_engine::object::{annotation, attribute, group};
use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::store::{CreateOptions, Edit, Store, StoreOptions};
use hyperslab_testkit::referee::{self, Referee};
use hyperslab_vfd::{Access, Sec2};

/// A script that prints the contents of a file, line by line. With a seed, the script first makes
/// random changes.
const SCRIPT: &str = r"
import h5py, numpy, random, sys
path, seed = sys.argv[1], int(sys.argv[2])

def objects(file):
    found, todo = {}, [file['/']]
    while todo:
        thing = todo.pop()
        address = h5py.h5o.get_info(thing.id).addr
        if address in found: continue
        found[address] = thing
        if isinstance(thing, h5py.Group):
            for name in thing:
                if thing.get(name, getlink=True).__class__ is h5py.HardLink: todo.append(thing[name])
    return [found[address] for address in sorted(found)]

def change(file):
    chance = random.Random(seed)
    name = lambda: f'n{chance.randrange(40)}'
    for _ in range(30):
        everything = objects(file)
        groups = [thing for thing in everything if isinstance(thing, h5py.Group)]
        group, thing = chance.choice(groups), chance.choice(everything)
        names, new = sorted(group), name()
        match chance.randrange(9):
            case 0 if new not in group: group.create_group(new, track_order=chance.choice([True, False]))
            case 1 if new not in group: group[new] = h5py.SoftLink('/target' * chance.randrange(1, 40))
            case 2 if new not in group: group[new] = h5py.ExternalLink('file.h5', '/path')
            case 3 if new not in group: group[new] = thing
            case 4 if len(names) > 5: del group[chance.choice(names)]
            case 5 if names and new not in group: group.move(chance.choice(names), new)
            case 6:
                for _ in range(chance.randrange(12)):
                    thing.attrs[name()] = numpy.full(chance.randrange(1, 60), chance.randrange(256), 'u1')
            case 7:
                for key in list(thing.attrs)[:chance.randrange(12)]: del thing.attrs[key]
            case 8:
                h5py.h5o.set_comment(thing.id, b'remark %d' % chance.randrange(100))
                key = name()
                if len(thing.attrs) and key not in thing.attrs:
                    h5py.h5a.rename(thing.id, sorted(thing.attrs)[0].encode(), key.encode())
    for group in objects(file):
        if chance.randrange(6) == 0 and isinstance(group, h5py.Group):
            for number in range(chance.randrange(120)):
                if f'many{number}' not in group: group[f'many{number}'] = h5py.SoftLink('/x')

def describe(thing):
    info = h5py.h5o.get_info(thing.id)
    yield f'{info.addr} rc={info.rc}'
    yield from sorted(f'  @{name} {value.size} {sum(map(int, value.ravel()))}' for name, value in thing.attrs.items())
    if isinstance(thing, h5py.Group):
        for name in sorted(thing):
            detail = thing.id.links.get_info(name.encode())
            order = detail.corder if detail.corder_valid else '-'
            link = thing.get(name, getlink=True)
            match link:
                case h5py.SoftLink(): target = f'soft {link.path}'
                case h5py.ExternalLink(): target = f'external {link.filename} {link.path}'
                case _: target = f'hard {h5py.h5o.get_info(thing[name].id).addr}'
            yield f'  {name} {order} {target}'

if seed:
    with h5py.File(path, 'r+', libver=(sys.argv[3], 'latest')) as file: change(file)
with h5py.File(path) as file:
    for thing in objects(file):
        print('\n'.join(describe(thing)))
";

fn write_options(bounds: LibverBounds) -> StoreOptions {
    StoreOptions { write: Some(bounds), ..StoreOptions::default() }
}

fn new_container(path: &Path, bounds: LibverBounds) -> Container {
    let driver = Arc::new(Sec2::open(path, Access::ReadWrite).unwrap());
    let store = Store::create(driver, &CreateOptions::default(), write_options(bounds)).unwrap();
    Container::new(store, FileSettings::default())
}

/// A generator of pseudo-random numbers. Equal seeds give equal numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn name(&mut self) -> Vec<u8> {
        format!("n{}", self.below(40)).into_bytes()
    }
}

/// Returns all objects that hard links reach, by address.
fn objects(container: &Container) -> Vec<Arc<ObjectHeader>> {
    let mut todo = vec![container.store.superblock().root()];
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    while let Some(address) = todo.pop() {
        if !seen.insert(address) {
            continue;
        }
        let header = ObjectHeader::load(&container.store, address).unwrap();
        if ObjectKind::of(&header) == Some(ObjectKind::Group) {
            for link in links(container, &header) {
                if let LinkTarget::Hard(target) = link.target {
                    todo.push(target);
                }
            }
        }
        found.push(Arc::new(header));
    }
    found.sort_by_key(|header| header.address());
    found
}

fn links(container: &Container, group: &ObjectHeader) -> Vec<Link> {
    let mut links = Vec::new();
    group::for_each(container, group, &mut |link| {
        links.push(link);
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    links.sort_by(|a, b| a.name.cmp(&b.name));
    links
}

/// Describes the file in the format of the script.
fn describe(container: &Container) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut lines = Vec::new();
    for header in objects(container) {
        let count = header.reference_count(&container.store).unwrap();
        lines.push(format!("{} rc={count}", header.address().raw()));
        // h5py cannot read comments.
        let comment = annotation::comment(container, &header).unwrap();
        assert!(comment.is_none_or(|comment| comment.starts_with(b"remark ")));
        let mut attributes = Vec::new();
        attribute::for_each(container, &header, &mut |attribute| {
            let value = attribute.value(container)?;
            let size = value.dataspace.element_count().unwrap();
            let data = &value.data[..usize::try_from(size).unwrap()];
            let sum: u64 = data.iter().map(|byte| u64::from(*byte)).sum();
            attributes.push(format!("  @{} {size} {sum}", text(attribute.name())));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        attributes.sort();
        lines.append(&mut attributes);
        if ObjectKind::of(&header) != Some(ObjectKind::Group) {
            continue;
        }
        for link in links(container, &header) {
            let order = link.creation_order.map_or_else(|| "-".to_owned(), |order| order.to_string());
            let target = match link.target {
                LinkTarget::Hard(address) => format!("hard {}", address.raw()),
                LinkTarget::Soft(path) => format!("soft {}", text(&path)),
                LinkTarget::External { file, path } => format!("external {} {}", text(&file), text(&path)),
                LinkTarget::UserDefined { .. } => "user-defined".to_owned(),
            };
            lines.push(format!("  {} {order} {target}", text(&link.name)));
        }
    }
    lines.join("\n") + "\n"
}

fn set_attribute(container: &Container, edit: &mut Edit<'_>, object: &ObjectHeader, chance: &mut Chance) {
    let length = chance.below(60) + 1;
    let data = vec![u8::try_from(chance.below(256)).unwrap(); length];
    let committed = objects(container)
        .iter()
        .find(|header| ObjectKind::of(header) == Some(ObjectKind::Datatype))
        .map(|header| header.address())
        .filter(|_| chance.below(3) == 0);
    let attribute = NewAttribute {
        name: &chance.name(),
        charset: CharacterSet::Ascii,
        datatype: &Datatype::u8(),
        committed,
        dataspace: &Dataspace::simple(&[length as u64]),
        data: &data,
    };
    attribute_edit::set(container, edit, object.address(), &attribute).unwrap();
}

/// Makes one random change. If a name already exists, or a group has no links, the change has no
/// effect.
fn change(container: &Container, edit: &mut Edit<'_>, chance: &mut Chance) {
    let everything = objects(container);
    let groups: Vec<_> =
        everything.iter().filter(|header| ObjectKind::of(header) == Some(ObjectKind::Group)).collect();
    let group = groups[chance.below(groups.len())];
    let thing = &everything[chance.below(everything.len())];
    let (name, charset) = (chance.name(), CharacterSet::Ascii);
    let names: Vec<Vec<u8>> = links(container, group).into_iter().map(|link| link.name).collect();
    let free = !names.contains(&name);
    let insert = |edit: &mut Edit<'_>, target| {
        let link = Link { name: name.clone(), charset, creation_order: None, target };
        insert_link(container, edit, group.address(), &link).unwrap();
    };
    match chance.below(9) {
        0 if free => {
            let tracked = chance.below(2) == 0;
            let link_order = if tracked { LinkOrder::Indexed } else { LinkOrder::Untracked };
            let attribute_order = if tracked { AttributeOrder::Indexed } else { AttributeOrder::Untracked };
            let options = GroupOptions { link_order, attribute_order, ..GroupOptions::default() };
            let made = create_group(container, edit, &options).unwrap();
            insert(edit, LinkTarget::Hard(made));
        }
        1 if free => insert(edit, LinkTarget::Soft(b"/target".repeat(chance.below(40) + 1))),
        2 if free => {
            insert(edit, LinkTarget::External { file: b"file.h5".to_vec(), path: b"/path".to_vec() });
        }
        3 if free => {
            add_hard_link(container, edit, group.address(), &name, charset, thing.address()).unwrap();
        }
        4 if names.len() > 5 => {
            let gone = &names[chance.below(names.len())];
            remove_link(container, edit, group.address(), gone, &mut |_, _| Ok(())).unwrap();
        }
        5 if free && !names.is_empty() => {
            let from = (group.address(), &*names[chance.below(names.len())]);
            move_link(container, edit, from, (group.address(), &name), charset).unwrap();
        }
        6 => {
            for _ in 0..chance.below(12) {
                set_attribute(container, edit, thing, chance);
            }
        }
        7 => change_attributes(container, edit, thing, chance),
        _ => {
            let comment = format!("remark {}", chance.below(100));
            annotation::set_comment(edit, thing.address(), comment.as_bytes()).unwrap();
        }
    }
}

fn change_attributes(container: &Container, edit: &mut Edit<'_>, object: &ObjectHeader, chance: &mut Chance) {
    let object = ObjectHeader::load(&container.store, object.address()).unwrap();
    let mut names = Vec::new();
    attribute::for_each(container, &object, &mut |attribute| {
        names.push(attribute.name().to_vec());
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    names.sort();
    let new = chance.name();
    if let Some(last) = names.pop().filter(|last| *last != new && !names.contains(&new)) {
        let to = (&*new, CharacterSet::Utf8);
        attribute_edit::rename(container, edit, object.address(), &last, to).unwrap();
    }
    for name in names.iter().take(chance.below(12)) {
        attribute_edit::remove(container, edit, object.address(), name).unwrap();
    }
}

fn change_all(container: &Container, seed: u64) {
    let mut edit = container.store.edit().unwrap();
    let mut chance = Chance(seed);
    for _ in 0..40 {
        change(container, &mut edit, &mut chance);
    }
    for header in objects(container) {
        if ObjectKind::of(&header) == Some(ObjectKind::Group) && chance.below(6) == 0 {
            for number in 0..chance.below(120) {
                let name = format!("many{number}").into_bytes();
                if group::find(container, &header, &name).unwrap().is_none() {
                    let target = LinkTarget::Soft(b"/x".to_vec());
                    let link = Link { name, charset: CharacterSet::Ascii, creation_order: None, target };
                    insert_link(container, &mut edit, header.address(), &link).unwrap();
                }
            }
        }
    }
    edit.commit().unwrap();
}

fn make(path: &Path, bounds: LibverBounds) {
    let container = new_container(path, bounds);
    let mut edit = container.store.edit().unwrap();
    let root = create_group(&container, &mut edit, &GroupOptions::default()).unwrap();
    set_root(&container, &mut edit, root).unwrap();
    let datatype = commit_datatype(&mut edit, &Datatype::u8(), NewHeader::default()).unwrap();
    let target = LinkTarget::Hard(datatype);
    let link = Link { name: b"type".to_vec(), charset: CharacterSet::Ascii, creation_order: None, target };
    insert_link(&container, &mut edit, root, &link).unwrap();
    drop(edit);
    change_all(&container, 1);
}

fn take_turns(referee: &Referee, bounds: LibverBounds, libver: &str) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path();
    make(path, bounds);
    for turn in 1..4_u64 {
        let ask = |seed: &str| {
            referee
                .run_script(SCRIPT, [path.to_str().unwrap(), seed, libver])
                .map_err(|error| format!("{error:#}"))
        };
        let open = || {
            let driver = Arc::new(Sec2::open(path, Access::ReadWrite).unwrap());
            OpenFile::open(driver, write_options(bounds)).unwrap()
        };
        let reported = ask("0").unwrap_or_else(|error| panic!("{bounds:?}, turn {turn}: {error}"));
        let ours = describe(&open().container);
        assert!(
            reported == ours,
            "{bounds:?}, turn {turn}, after us:\n{}",
            first_difference(&reported, &ours)
        );
        let reported =
            ask(&turn.to_string()).unwrap_or_else(|error| panic!("{bounds:?}, turn {turn}: {error}"));
        let opened = open();
        let ours = describe(&opened.container);
        assert!(
            reported == ours,
            "{bounds:?}, turn {turn}, after libhdf5:\n{}",
            first_difference(&reported, &ours)
        );
        change_all(&opened.container, turn * 1000);
    }
}

fn first_difference(reported: &str, ours: &str) -> String {
    let pair = reported.lines().zip(ours.lines()).enumerate().find(|(_, (a, b))| a != b);
    format!("{pair:?}, {} and {} lines", reported.lines().count(), ours.lines().count())
}

#[test]
fn libhdf5_and_hyperslab_change_new_groups_in_turn() {
    let Some(referee) = referee::python() else { return };
    take_turns(&referee, LibverBounds::DEFAULT, "v108");
    take_turns(&referee, LibverBounds::LATEST, "latest");
}

#[test]
fn libhdf5_and_hyperslab_change_symbol_tables_in_turn() {
    let Some(referee) = referee::python() else { return };
    take_turns(&referee, LibverBounds::EARLIEST, "earliest");
}
