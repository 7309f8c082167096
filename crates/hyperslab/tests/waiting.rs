//! Dirty links and attributes in memory are visible to all reads, and are stored in any order.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeSet;

use hyperslab::{ErrorKind, File, FileOptions, LibraryVersion, LibverBounds};
use hyperslab_check::CheckOptions;
use hyperslab_testkit::referee;

fn files() -> [FileOptions; 3] {
    let lows = [LibraryVersion::Earliest, LibraryVersion::V18, LibraryVersion::V110];
    lows.map(|low| FileOptions::new().libver(LibverBounds::new(low, LibraryVersion::LATEST).unwrap()))
}

fn sound(file: &File) {
    let driver = hyperslab::vfd::Core::from_vec("written", file.to_bytes().unwrap());
    let report = hyperslab_check::check(std::sync::Arc::new(driver), &CheckOptions::default()).unwrap();
    assert!(report.is_sound(), "{report}");
}

#[test]
fn dirty_elements_are_read() {
    for options in files() {
        let file = options.create_in_memory().unwrap();
        let outer = file.create_group("outer").unwrap();
        // The test uses a group whose header is still dirty.
        let inner = outer.create_group("inner").unwrap();
        inner.link_hard("itself", &inner).unwrap();
        inner.link_hard("outer", &outer).unwrap();
        outer.link_soft("soft", "inner/itself").unwrap();
        for number in 0..20 {
            outer.set_attribute(&format!("a{number}"), number).unwrap();
            outer.set_attribute("again", format!("text {number}")).unwrap();
            inner.link_hard(&format!("l{number}"), &outer).unwrap();
        }
        assert_eq!(inner.link_count().unwrap(), 2);
        assert_eq!(outer.link_count().unwrap(), 22);
        assert_eq!(outer.group("soft").unwrap().token(), inner.token());
        assert_eq!(outer.attribute("a17").unwrap().read_scalar::<i32>().unwrap(), 17);
        assert_eq!(outer.attributes().unwrap().len(), 21);
        let taken = inner.link_hard("l3", &outer).unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::Exists);
        // A refused link does not change the count.
        assert_eq!(outer.link_count().unwrap(), 22);
        assert!(outer.new_dataset("inner").of::<u8>().shape(&[1]).create().is_err());
        let dataset = inner.new_dataset("d").of::<i16>().shape(&[2]).create().unwrap();
        dataset.set_attribute("unit", "K").unwrap();
        dataset.write(.., &[1, 2]).unwrap();
        dataset.set_attribute("unit", "m").unwrap();
        assert_eq!(inner.dataset("d").unwrap().read_raw::<i16>(..).unwrap(), [1, 2]);
        assert_eq!(
            dataset
                .attribute("unit")
                .unwrap()
                .read_strings::<hyperslab::IxDyn>()
                .unwrap()
                .into_raw_vec_and_offset()
                .0,
            ["m"]
        );
        sound(&file);
        file.remove("outer").unwrap();
        sound(&file);
    }
}

/// Many links and attributes in several rounds: each round combines dirty and stored links and
/// attributes.
#[test]
fn dirty_and_stored_elements_are_read_together() {
    let dir = tempfile::tempdir().unwrap();
    for (number, options) in files().into_iter().enumerate() {
        let path = dir.path().join(format!("{number}.h5"));
        let file = options.create(&path).unwrap();
        let (group, target) = (file.create_group("g").unwrap(), file.create_group("t").unwrap());
        let mut names = BTreeSet::new();
        let mut attributes = BTreeSet::new();
        for (round, count) in [300_u32, 7, 900, 40].into_iter().enumerate() {
            for at in 0..count {
                let name = format!("n{}_{round}", at.wrapping_mul(2_654_435_761) % 10_007);
                group.link_hard(&name, &target).unwrap();
                names.insert(name);
                // Old object headers hold only a few attributes.
                if number > 0 || at < 30 {
                    let name = format!("a{}_{round}", at.wrapping_mul(40_503) % 5003);
                    group.set_attribute(&name, at).unwrap();
                    attributes.insert(name);
                }
            }
            if round == 1 {
                file.flush().unwrap();
            }
            let gone = names.iter().nth(names.len() / 3).unwrap().clone();
            group.remove(&gone).unwrap();
            names.remove(&gone);
            let gone = attributes.iter().nth(attributes.len() / 2).unwrap().clone();
            group.remove_attribute(&gone).unwrap();
            attributes.remove(&gone);
            let found: BTreeSet<String> =
                group.links().unwrap().iter().map(hyperslab::Link::name_lossy).collect();
            assert!(found == names);
            assert_eq!(group.attribute_names().unwrap(), attributes.iter().cloned().collect::<Vec<_>>());
            assert_eq!(target.link_count().unwrap() as usize, names.len() + 1);
        }
        drop((group, target));
        file.close().unwrap();
        let report = hyperslab_check::check_path(&path).unwrap();
        assert!(report.is_sound(), "{report}");
        let script = "
import h5py, sys
with h5py.File(sys.argv[1], 'r+') as f:
    g = f['g']
    assert len(g) == int(sys.argv[2]), len(g)
    assert len(g.attrs) == int(sys.argv[3]), len(g.attrs)
    for n in list(g)[::3]:
        del g[n]
    for n in list(g.attrs)[::3]:
        del g.attrs[n]
    for i in range(200):
        g[f'new{i}'] = h5py.SoftLink('/t')
    print(len(g), len(g.attrs))
";
        let args = [path.to_str().unwrap().to_owned(), names.len().to_string(), attributes.len().to_string()];
        let Some(referee) = referee::python() else { continue };
        let output = referee.run_script(script, args).unwrap();
        let file = File::open_rw(&path).unwrap();
        let group = file.group("g").unwrap();
        let counts = format!("{} {}", group.len().unwrap(), group.attributes().unwrap().len());
        assert_eq!(output.trim(), counts);
        for number in 0..300 {
            group.link_soft(&format!("more{number}"), "/t").unwrap();
        }
        assert_eq!(group.len().unwrap(), group.links().unwrap().len());
        drop(group);
        file.close().unwrap();
        let report = hyperslab_check::check_path(&path).unwrap();
        assert!(report.is_sound(), "{report}");
    }
}

/// Readers and writers of the same objects never deadlock, and readers see only complete changes.
#[test]
fn reads_during_writes() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let group = file.create_group("g").unwrap();
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let group = &group;
            scope.spawn(move || {
                for number in 0..300 {
                    group.set_attribute(&format!("a{writer}_{number}"), number).unwrap();
                    group.create_group(&format!("g{writer}_{number}")).unwrap();
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let before = group.links().unwrap().len();
                    assert!(group.links().unwrap().len() >= before);
                    for attribute in group.attributes().unwrap() {
                        assert!(attribute.read_scalar::<i32>().unwrap() < 300);
                    }
                }
            });
        }
    });
    assert_eq!((group.links().unwrap().len(), group.attributes().unwrap().len()), (600, 600));
    sound(&file);
}
