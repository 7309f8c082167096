//! Reading and changing files with libhdf5: one run of `referee.py` handles many files.

use std::collections::BTreeMap;
use std::path::Path;

use hyperslab::{File, Object, ObjectKind};
use hyperslab_testkit::referee::Referee;
use serde_json::{Value, json};

/// The contents of a file, by path.
pub(crate) type Content = BTreeMap<String, Value>;

/// The contents of files, by the paths of the files.
pub(crate) type Manifest = BTreeMap<String, Content>;

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attributes(object: &Object) -> BTreeMap<String, String> {
    let one =
        |attribute: &hyperslab::Attribute| (attribute.name(), hex(attribute.read_stored().unwrap().bytes()));
    object.attributes().unwrap().iter().map(one).collect()
}

/// Returns the contents of a file as hyperslab reads it.
pub(crate) fn content(file: &File) -> Content {
    let mut found = Content::new();
    let mut waiting = vec![("/".to_owned(), (**file.root()).clone())];
    while let Some((path, object)) = waiting.pop() {
        let attributes = attributes(&object);
        let reported = if object.kind() == Some(ObjectKind::Group) {
            let group = object.into_group().unwrap();
            for link in group.links().unwrap() {
                if let hyperslab::LinkTarget::Hard(token) = link.target {
                    let path = format!("{}/{}", path.trim_end_matches('/'), link.name_lossy());
                    waiting.push((path, file.object_at(token).unwrap()));
                }
            }
            json!({"kind": "group", "attributes": attributes, "links": group.member_names().unwrap()})
        } else if object.kind() == Some(ObjectKind::Datatype) {
            json!({"kind": "datatype", "attributes": attributes})
        } else {
            let dataset = object.into_dataset().unwrap();
            let stored = dataset.read_stored(..).unwrap_or_else(|error| panic!("{path}: {error:?}"));
            let dims = dataset.dataspace().dims().to_vec();
            json!({"kind": "dataset", "attributes": attributes, "dims": dims, "hex": hex(stored.bytes())})
        };
        found.insert(path, reported);
    }
    found
}

/// Runs the tasks. Returns their answers.
pub(crate) fn ask(
    referee: &Referee,
    folder: &Path,
    tasks: &[&str],
    manifest: &Manifest,
    low: &BTreeMap<String, String>,
) -> Value {
    let path = folder.join("request.json");
    let request = json!({"tasks": tasks, "manifest": manifest, "low": low});
    std::fs::write(&path, request.to_string()).unwrap();
    referee.run_script(include_str!("referee.py"), [&path]).unwrap();
    let answer = std::fs::read(folder.join("request.json.answer")).unwrap();
    serde_json::from_slice(&answer).unwrap()
}

/// Returns a part of an answer.
pub(crate) fn manifest(answer: &Value) -> Manifest {
    serde_json::from_value(answer.clone()).unwrap()
}

/// Asserts that two descriptions of a file are equal.
pub(crate) fn assert_same(name: &str, found: &Content, expected: &Content) {
    let paths = |content: &Content| content.keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(found), paths(expected), "{name}");
    for (path, reported) in expected {
        assert_eq!(&found[path], reported, "{name}:{path}");
    }
}

/// Asserts that a file that libhdf5 never changed is sound, and that its totals are correct.
pub(crate) fn assert_exact(path: &Path) {
    let report = hyperslab_check::check_path(path).unwrap();
    assert_eq!(report.faults, 0, "{}: {:#?}", path.display(), report.findings);
    let wrong = report.findings.iter().find(|finding| finding.structure == "fractal heap header");
    assert!(wrong.is_none(), "{wrong:?}");
}

pub(crate) fn assert_sound(path: &Path) {
    let report = hyperslab_check::check_path(path).unwrap();
    assert_eq!((report.faults, report.unchecked), (0, 0), "{}: {:#?}", path.display(), report.findings);
}
