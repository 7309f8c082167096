//! The reading of the files by other programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use hyperslab_testkit::{corpus, referee, workspace};
use serde_json::{Value, json};

use crate::array::Array;
use crate::kind::{VALUES, sequence, words};
use crate::world::name;

const SCRIPT: &str = include_str!("outside.py");

/// A file and its expected contents.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) file: PathBuf,
    pub(crate) arrays: Vec<Array>,
}

/// Returns the independent reader, if it is beside the samples.
pub(crate) fn oracle() -> Option<PathBuf> {
    let dir = std::env::var_os(corpus::SPARSE_VARIABLE)
        .map_or_else(|| workspace::root().join("../shared/sparse/samples"), PathBuf::from);
    let script = dir.join("../sparse_oracle.py");
    if script.is_file() {
        return Some(script);
    }
    let why = format!("there is no {} (set {} to the samples)", script.display(), corpus::SPARSE_VARIABLE);
    workspace::skip("tests against another reader of sparse datasets", &why);
    None
}

/// Returns the answers of the reader, one for each file.
fn ask(folder: &Path, task: &[&Path], written: &[Written]) -> Option<Vec<Value>> {
    let python = referee::python()?;
    let request = |written: &Written| {
        let names = (0..written.arrays.len()).map(name);
        let line: Vec<String> =
            std::iter::once(written.file.to_str().unwrap().to_owned()).chain(names).collect();
        json!(line).to_string()
    };
    let requests: Vec<String> = written.iter().map(request).collect();
    let list = folder.join("list.json");
    std::fs::write(&list, requests.join("\n")).unwrap();
    let reported = python.run_script(SCRIPT, task.iter().copied().chain([&*list])).unwrap();
    let answers: Vec<Value> = reported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), written.len());
    Some(answers)
}

/// Checks that the independent reader finds the expected contents.
pub(crate) fn ask_oracle(folder: &Path, script: &Path, written: &[Written]) {
    let Some(answers) = ask(folder, &[Path::new("oracle"), script], written) else { return };
    for (written, answer) in written.iter().zip(&answers) {
        for (number, array) in written.arrays.iter().enumerate() {
            let reported = &answer[name(number)];
            let subject = format!("{}:{} {:?}", written.file.display(), name(number), array.make);
            assert_eq!(reported["verdict"], "ok", "{subject}: {}", reported["error"]);
            assert_eq!(reported["shape"], json!(array.dims), "{subject}");
            assert_eq!(reported["maxshape"], json!(array.make.max_dims), "{subject}");
            assert_eq!(reported["chunk"], json!(array.make.chunk), "{subject}");
            if let Some(fill) = array.make.fill {
                assert_eq!(reported["fill"], array.make.kind.json(fill), "{subject}");
            }
            compare(array, reported["defined"].as_array().unwrap(), &subject);
        }
    }
}

fn compare(array: &Array, reported: &[Value], subject: &str) {
    let kind = array.make.kind;
    if array.make.sparse {
        let one = |(place, value): (&Vec<u64>, &u8)| json!([place, kind.json(*value)]);
        let expected: Vec<Value> = array.values.iter().map(one).collect();
        assert_eq!(reported, expected, "{subject}");
        return;
    }
    // All elements of stored chunks are present.
    let mut written = 0;
    for element in reported {
        let place: Vec<u64> = element[0].as_array().unwrap().iter().map(|at| at.as_u64().unwrap()).collect();
        let value = array.values.get(&place).copied();
        written += usize::from(value.is_some());
        assert_eq!(element[1], kind.json(value.unwrap_or(0)), "{subject}: {place:?}");
    }
    assert_eq!(written, array.values.len(), "{subject}");
}

/// Checks that libhdf5 reads the ordinary datasets and refuses the sparse ones.
pub(crate) fn ask_libhdf5(folder: &Path, written: &[Written]) {
    let Some(answers) = ask(folder, &[Path::new("libhdf5")], written) else { return };
    for (written, answer) in written.iter().zip(&answers) {
        let file = written.file.display();
        assert_eq!(answer["plain"], json!([3, 1, 4, 1, 5]), "{file}");
        let all = 0..VALUES as u8 + 4;
        assert_eq!(
            answer["words"],
            json!(all.clone().map(|value| words(value.max(1))).collect::<Vec<_>>()),
            "{file}"
        );
        assert_eq!(answer["sequences"], json!(all.map(sequence).collect::<Vec<_>>()), "{file}");
        assert_eq!(answer["links"].as_array().unwrap().len(), 4 + written.arrays.len(), "{file}");
        for number in 0..written.arrays.len() {
            assert_ne!(answer[name(number)], "opened", "{file}");
        }
    }
}

/// Checks that the command `h5ls`, if installed, lists the ordinary dataset of a few files and
/// skips the sparse ones.
pub(crate) fn ask_h5ls(written: &[Written]) {
    let run = |option: &str, path: String| {
        let output = Command::new("h5ls").arg(option).arg(path).output().ok()?;
        assert!(output.status.code().is_some(), "{:?}", output.status);
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for written in written.iter().step_by(50).take(5) {
        let file = written.file.display();
        let Some(text) = run("-d", format!("{file}/plain")) else { return };
        assert!(text.contains("3, 1, 4, 1, 5"), "{file}: {text}");
        let text = run("-r", file.to_string()).unwrap();
        assert!(text.contains("/sparse ") && text.contains("/palette"), "{file}: {text}");
    }
}
