//! Random reads of random datasets with every layout and filter, compared with the results of
//! libhdf5.
//!
//! `HYPERSLAB_DIFFERENTIAL=2000` is the number of cases for each combination of layout and filter;
//! the default is small. `HYPERSLAB_DIFFERENTIAL_SEED` selects other cases.
//! `HYPERSLAB_DIFFERENTIAL_ONLY` selects the combinations whose name contains its value.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "in a test a panic is the report")]

use std::path::Path;
use std::process::Command;

use hyperslab::datatype::convert::Conversions;
use hyperslab::{
    Block, Dataset, DatatypeClass, File, H5Type, Hyperslab, ObjectKind, Points, Region, RegularHyperslab,
    Selection, SetOperation, UNLIMITED,
};
use hyperslab_testkit::{fixtures, referee, workspace};
use serde_json::Value;

const FEW: u64 = 60;
/// The number of combinations whose cases are written in one run of Python.
const BATCH: usize = 10;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().unwrap())
}

fn script(python: &referee::Referee, args: &[&str]) -> String {
    let output = Command::new(python.python())
        .arg(fixtures::path("differential.py"))
        .args(args)
        .env("HDF5_USE_FILE_LOCKING", "FALSE")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap_or(UNLIMITED)).collect()
}

fn slab(step: &[Value]) -> Selection {
    let [start, stride, count, block] = <&[Value; 4]>::try_from(step).unwrap();
    Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab {
        start: numbers(start).into(),
        stride: numbers(stride).into(),
        count: numbers(count).into(),
        block: numbers(block).into(),
    }))
}

fn operation(word: &str) -> SetOperation {
    match word {
        "or" => SetOperation::Or,
        "and" => SetOperation::And,
        "xor" => SetOperation::Xor,
        "notb" => SetOperation::NotB,
        "nota" => SetOperation::NotA,
        _ => SetOperation::Set,
    }
}

/// Returns the selection that `select` in differential.py describes.
fn selection(reported: &Value, shape: &[u64]) -> Selection {
    let rank = shape.len();
    if let Some(points) = reported.get("points") {
        let coordinates = points.as_array().unwrap().iter().flat_map(numbers).collect();
        return Selection::Points(Points { rank, coordinates });
    }
    if let Some(blocks) = reported.get("blocks") {
        let corners = blocks.as_array().unwrap().iter();
        let block =
            |block: &Value| Block { start: numbers(&block[0]).into(), end: numbers(&block[1]).into() };
        return Selection::Hyperslab(Hyperslab::Irregular { rank, blocks: corners.map(block).collect() });
    }
    let Some(steps) = reported.get("slabs") else {
        return if reported == "all" { Selection::All } else { Selection::None };
    };
    let mut steps = steps.as_array().unwrap().iter().map(|step| step.as_array().unwrap());
    let first = slab(&steps.next().unwrap()[1..]);
    steps.fold(first, |so_far, step| {
        so_far.combine(operation(step[0].as_str().unwrap()), &slab(&step[1..]), shape).unwrap()
    })
}

/// Runs the cases of one combination. Returns the number of cases and the differences.
fn compare(folder: &Path, combination: &str) -> (usize, Vec<String>) {
    let file = File::open(folder.join(format!("{combination}.h5"))).unwrap();
    let cases = std::fs::read_to_string(folder.join(format!("{combination}.json"))).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    let answers = std::fs::read(folder.join(format!("{combination}.bin"))).unwrap();
    let (mut at, mut faults) = (0, Vec::new());
    let mut open: Option<(String, Dataset)> = None;
    for (number, case) in cases.iter().enumerate() {
        let name = case[0].as_str().unwrap();
        if open.as_ref().is_none_or(|(opened, _)| opened != name) {
            // libhdf5 returns no error for values without a name in the enumeration.
            let dataset = file.dataset(name).unwrap().with_conversions(Conversions::default());
            open = Some((name.to_owned(), dataset));
        }
        let (_, dataset) = open.as_ref().unwrap();
        let length = usize::try_from(case[3].as_u64().unwrap()).unwrap();
        let expected = &answers[at..at + length];
        at += length;
        if let Some(fault) = read(&file, dataset, case, expected) {
            faults.push(format!(
                "{combination}, case {number}: {name}, {} of {}, as {}: {fault}",
                dataset.dataspace(),
                dataset.datatype(),
                case[2]
            ));
        }
    }
    assert_eq!(at, answers.len());
    (cases.len(), faults)
}

fn read(file: &File, dataset: &Dataset, case: &Value, expected: &[u8]) -> Option<String> {
    let selection = selection(&case[1], dataset.dataspace().dims());
    if case[2] == "words" || case[2] == "rows" {
        let got = variable(dataset, &selection);
        return (got != expected).then(|| format!("{}: not the same contents", case[1]));
    }
    let memory = file.object(case[2].as_str().unwrap()).unwrap();
    assert_eq!(memory.kind(), Some(ObjectKind::Datatype));
    let memory = memory.into_datatype().unwrap();
    if *memory.datatype() == f64::datatype() && !is_equal_as_rust(dataset, &selection, expected) {
        return Some(format!("{}: not the same as numbers of Rust", case[1]));
    }
    let mut got = vec![0; expected.len()];
    if let Err(error) = dataset.read_bytes(&selection, memory.datatype(), &mut got) {
        return Some(format!("{}: {error:?}", case[1]));
    }
    if got == expected {
        return None;
    }
    let size = memory.datatype().size as usize;
    let element = got.chunks(size).zip(expected.chunks(size)).position(|(a, b)| a != b).unwrap();
    let bytes =
        |of: &[u8]| of[element * size..][..size].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Some(format!(
        "{}, memory {}: element {element} of {} is {}, for libhdf5 {}",
        case[1],
        memory.datatype(),
        got.len() / size,
        bytes(&got),
        bytes(expected)
    ))
}

/// Returns the variable-length data of elements. The length in bytes precedes each element.
fn variable(dataset: &Dataset, selection: &Selection) -> Vec<u8> {
    let stored = dataset.read_stored(selection).unwrap();
    let item = match &dataset.datatype().class {
        DatatypeClass::VariableLength(variable) => variable.base.size as usize,
        class => unreachable!("{class:?}"),
    };
    let mut bytes = Vec::new();
    let texts = dataset.datatype().is_string().then(|| stored.strings().unwrap());
    for (at, element) in stored.elements().enumerate() {
        let contents = stored.variable_length(element).unwrap();
        let items = match &texts {
            Some(texts) => texts[at].as_bytes(),
            None => contents.items(item).unwrap(),
        };
        bytes.extend((items.len() as u64).to_le_bytes());
        bytes.extend(items);
    }
    bytes
}

/// Returns true if a read into a vector and a read into the middle column of an existing array give
/// the same numbers.
fn is_equal_as_rust(dataset: &Dataset, selection: &Selection, expected: &[u8]) -> bool {
    let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<_>>();
    let vector: Vec<f64> = dataset.read_raw(selection).unwrap();
    let mut array = vec![1.25; vector.len() * 3];
    let dims = [vector.len() as u64, 3];
    let column = Region::new(&[0, 1], &[dims[0], 1]).unwrap();
    dataset.read_into_part(selection, &mut array, &dims, Selection::region(&column)).unwrap();
    let middle: Vec<f64> = array.iter().skip(1).step_by(3).copied().collect();
    let others = array.iter().enumerate().all(|(at, value)| at % 3 == 1 || *value == 1.25);
    bytes(&vector) == expected && bytes(&middle) == expected && others
}

#[test]
fn every_layout_and_filter_reads_as_libhdf5_reads_it() {
    let Some(python) = referee::python() else {
        workspace::skip("every_layout_and_filter_reads_as_libhdf5_reads_it", "no h5py");
        return;
    };
    let cases = setting("HYPERSLAB_DIFFERENTIAL", FEW).to_string();
    let seed = setting("HYPERSLAB_DIFFERENTIAL_SEED", 1).to_string();
    let only = std::env::var("HYPERSLAB_DIFFERENTIAL_ONLY").unwrap_or_default();
    let listed = script(&python, &["--list"]);
    let combinations: Vec<&str> = listed.lines().filter(|combination| combination.contains(&only)).collect();
    assert!(!only.is_empty() || combinations.len() >= 80, "only {} combinations", combinations.len());

    let (mut compared, mut faults) = (0, Vec::new());
    for batch in combinations.chunks(BATCH) {
        let folder = tempfile::tempdir().unwrap();
        script(&python, &[&[folder.path().to_str().unwrap(), &seed, &cases], batch].concat());
        for combination in batch {
            let (number, found) = compare(folder.path(), combination);
            compared += number;
            faults.extend(found);
        }
    }
    println!("{compared} cases of {} combinations", combinations.len());
    let total = faults.len();
    faults.truncate(60);
    assert!(total == 0, "{total} of {compared} cases differ:\n{}", faults.join("\n"));
}
