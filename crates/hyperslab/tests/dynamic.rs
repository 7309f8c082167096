//! Elements of any datatype as dynamic values.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab::{Column, Dataset, File, IxDyn, ObjectKind, Reference, Value};
use hyperslab_testkit::fixtures;
use num_complex::Complex;

fn dataset(file: &str, name: &str) -> Dataset {
    File::open(fixtures::path(file)).unwrap().dataset(name).unwrap()
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn records_with_members_of_every_class() {
    let rows = dataset("datatypes_compound_latest.h5", "nested").read_dyn(..).unwrap();
    assert_eq!((rows.shape(), rows.column().len()), (&[3][..], 3));
    let point = |x: f64, y: f64| {
        Value::Compound(vec![("x".to_owned(), Value::Float(x)), ("y".to_owned(), Value::Float(y))])
    };
    let grid = (1..7).map(Value::Integer).collect();
    let wanted = vec![
        ("id".to_owned(), Value::Integer(2)),
        ("point".to_owned(), point(1.5, -1.0)),
        ("tag".to_owned(), text("row1")),
        ("grid".to_owned(), Value::Array(vec![2, 3], grid)),
        ("inners".to_owned(), Value::Array(vec![2], vec![point(1.0, 1.0), point(2.0, 2.0)])),
        ("flag".to_owned(), Value::Bool(true)),
        ("note".to_owned(), text("n")),
    ];
    assert_eq!(rows.get(&[1]), Some(Value::Compound(wanted.clone())));
    assert_eq!(rows.get(&[3]), None);
    assert_eq!(rows.get(&[0, 0]), None);
    let nested = dataset("datatypes_compound_latest.h5", "nested");
    assert_eq!(nested.read_value(&[1]).unwrap(), Value::Compound(wanted));
    assert!(nested.read_value(&[3]).is_err());
    assert!(nested.read_value(&[]).is_err());
    let Some(Column::F32(y)) = rows.column().member("point").unwrap().member("y") else { panic!() };
    assert_eq!(y, &[0.0, -1.0, -2.0]);
}

#[test]
fn named_values_sequences_and_arrays() {
    let file = "datatypes_other_latest.h5";
    let value =
        |name: &str, index: usize| dataset(file, name).read_dyn(..).unwrap().column().get(index).unwrap();
    let named = |name: &str, value| Value::Enumeration { name: Some(name.to_owned()), value };
    assert_eq!(value("enum", 0), named("BLUE", 2));
    assert_eq!(value("enum", 2), named("NONE", -1));
    assert_eq!(value("enum_be", 1), named("NINE", 9));
    assert_eq!(value("bool", 3), Value::Bool(true));
    assert_eq!(value("opaque", 0), Value::Bytes(vec![0, 1, 2, 3, 4]));
    assert_eq!(value("vlen", 0), Value::Sequence([0.0, 1.0, 2.0].map(Value::Float).to_vec()));
    assert_eq!(value("vlen", 1), Value::Sequence(Vec::new()));
    let Value::Sequence(long) = value("vlen", 3) else { panic!() };
    assert_eq!((long.len(), &long[39]), (40, &Value::Float(39.0)));
    let inner = |items: &[i128]| Value::Sequence(items.iter().copied().map(Value::Integer).collect());
    assert_eq!(value("vlen_of_vlen", 0), Value::Sequence(vec![inner(&[1]), inner(&[2, 3])]));
    assert_eq!(value("vlen_of_vlen", 2), Value::Sequence(vec![inner(&[])]));
    let Value::Array(shape, items) = value("array_of_array", 0) else { panic!() };
    assert_eq!((shape, items.len()), (vec![3], 3));
    assert_eq!(items[1], Value::Array(vec![2], vec![Value::Float(2.0), Value::Float(3.0)]));
}

#[test]
fn complex_numbers() {
    let file = "datatypes_complex_latest.h5";
    let column = dataset(file, "c64").read_dyn(..).unwrap().into_column();
    assert_eq!(column, Column::Complex32(vec![Complex::new(1.0, 2.0), Complex::new(0.0, -1.0)]));
    let wide = dataset(file, "c128_be").read_dyn(..).unwrap();
    assert_eq!(wide.get(&[1, 0]), Some(Value::Complex(Complex::new(3.0, 0.0))));
}

/// Returns the numbers of a column as `f64`, for comparison.
fn floats(column: &Column) -> Option<Vec<f64>> {
    (0..column.len())
        .map(|index| match column.get(index)? {
            Value::Float(value) => Some(value),
            Value::Integer(value) => value.to_string().parse().ok(),
            _ => None,
        })
        .collect()
}

#[test]
fn every_dataset_and_attribute_of_the_fixtures() {
    let mut numbers = 0;
    for name in fixtures::names().unwrap() {
        let file = File::open(fixtures::path(&name)).unwrap();
        for visited in file.walk() {
            let object = visited.object.unwrap();
            for attribute in object.attributes().unwrap() {
                let values = attribute.read_dyn().unwrap();
                assert_eq!(values.column().len(), values.shape().iter().product::<usize>());
            }
            if object.kind() != Some(ObjectKind::Dataset) {
                continue;
            }
            let dataset = object.into_dataset().unwrap();
            let Ok(stored) = dataset.read_stored(..) else { continue };
            let values = dataset.read_dyn(..).unwrap();
            assert_eq!(values.column().len(), stored.len(), "{name} {}", dataset.name());
            if dataset.datatype().is_number()
                && let Some(got) = floats(values.column())
            {
                let wanted = dataset.read_raw::<f64>(..).unwrap();
                let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
                assert!(got.iter().zip(&wanted).all(same), "{name} {}", dataset.name());
                numbers += 1;
            }
        }
    }
    assert!(numbers > 100, "{numbers}");
}

fn references(file: &str, name: &str) -> Vec<Reference> {
    dataset(file, name).read_references::<IxDyn>(..).unwrap().into_iter().collect()
}

#[test]
fn old_references() {
    for file in ["references_earliest.h5", "references_latest.h5"] {
        let objects = references(file, "objects");
        assert_eq!(objects[0].object().unwrap().kind(), Some(ObjectKind::Dataset));
        assert_eq!(objects[0].read::<i64, IxDyn>().unwrap().shape(), [10, 10]);
        assert_eq!(objects[1].object().unwrap().kind(), Some(ObjectKind::Group));
        assert!(objects[3].is_null() && objects[3].object().is_err());
        assert!(objects[1].region().is_err() && objects[1].attribute().is_err());
        let regions = references(file, "regions");
        let first = regions[0].read::<i32, IxDyn>().unwrap();
        assert_eq!((first.shape(), first[[0, 0]], first[[2, 3]]), (&[3, 4][..], 23, 46));
        let strided = regions[1].read::<i32, IxDyn>().unwrap();
        assert_eq!((strided.shape(), strided[[1, 1]]), (&[4, 3][..], 34));
        assert_eq!(regions[2].read::<i32, IxDyn>().unwrap().shape(), [10, 10]);
        let points = regions[3].read::<i32, IxDyn>().unwrap();
        assert_eq!(points.as_slice(), Some(&[11, 90, 38][..]));
        assert!(regions[4].is_null());
    }
    let rows = dataset("references_latest.h5", "in compound").read_dyn(..).unwrap();
    let Some(Column::Reference(subject)) = rows.column().member("what") else { panic!() };
    assert_eq!(subject[0].object().unwrap().into_dataset().unwrap().shape(), [10, 10]);
}

#[test]
fn revised_references() {
    let all = references("references_std_latest.h5", "references");
    assert_eq!(all[0].object().unwrap().kind(), Some(ObjectKind::Dataset));
    let region = all[1].read::<i32, IxDyn>().unwrap();
    assert_eq!(
        (region.shape(), region.iter().copied().collect::<Vec<_>>().as_slice()),
        (&[4, 2][..], &[7, 9, 13, 15, 25, 27, 31, 33][..])
    );
    assert_eq!(all[2].attribute().unwrap().read_string().unwrap(), "m");
    assert_eq!(all[2].object().unwrap().kind(), Some(ObjectKind::Dataset));
    assert_eq!(all[3].object().unwrap().kind(), Some(ObjectKind::Group));
    assert!(all[0].region().is_err());
}

#[test]
fn references_to_objects_of_another_file() {
    let all = references("references_external_latest.h5", "references");
    assert_eq!(all[0].read::<i32, IxDyn>().unwrap().shape(), [6, 6]);
    let region = all[1].read::<i32, IxDyn>().unwrap();
    assert_eq!((region.shape(), region[[0, 0]], region[[2, 3]]), (&[3, 4][..], 13, 28));
    assert_eq!(all[2].attribute().unwrap().read_string().unwrap(), "m");
    assert_eq!(all[3].object().unwrap().kind(), Some(ObjectKind::Group));
    let options = hyperslab::OpenOptions::new().external_files(hyperslab::ExternalFiles::Refuse);
    let file = options.open(fixtures::path("references_external_latest.h5")).unwrap();
    let refused = file.dataset("references").unwrap().read_references::<IxDyn>(..).unwrap();
    assert!(refused[0].object().is_err());
    assert!(refused[3].object().is_ok());
}

#[test]
fn views_of_any_memory_layout() {
    use hyperslab::s;
    use ndarray::{Array2, ShapeBuilder};
    let target = dataset("references_latest.h5", "target");
    let all = target.read::<i32, IxDyn>(..).unwrap();
    let mut fortran = Array2::<i32>::zeros((10, 10).f());
    target.read_into(.., &mut fortran.view_mut()).unwrap();
    assert_eq!(fortran.into_dyn(), all);
    let mut wide = Array2::<f64>::zeros((4, 10));
    target.read_into(s![2..4, 0..5], &mut wide.slice_mut(ndarray::s![1..3, ..;2])).unwrap();
    assert_eq!((wide[[1, 0]], wide[[1, 8]], wide[[2, 2]], wide[[2, 3]]), (20.0, 24.0, 31.0, 0.0));
    assert!(target.read_into(s![2..4, 0..5], &mut wide.view_mut()).is_err());
    assert!(target.read_into(.., &mut wide.slice_mut(ndarray::s![.., ..;2])).is_err());
}

/// Follows all references and heap data. Errors are allowed.
fn read_anything(file: &File) {
    for object in file.members().into_iter().flatten() {
        for attribute in object.attributes().into_iter().flatten() {
            drop((attribute.read_dyn(), attribute.read_references::<IxDyn>()));
        }
        let Ok(dataset) = object.into_dataset() else { continue };
        if dataset.size().is_ok_and(|size| size > 10_000) {
            continue;
        }
        if let Ok(values) = dataset.read_dyn(..) {
            assert!((0..values.column().len()).all(|index| values.column().get(index).is_some()));
        }
        for reference in dataset.read_references::<IxDyn>(..).into_iter().flatten() {
            drop((
                reference.object(),
                reference.attribute(),
                reference.region(),
                reference.read::<f64, IxDyn>(),
            ));
        }
        for name in dataset.datatype().member_names() {
            drop((
                dataset.field(&name).and_then(|field| field.read::<f64, IxDyn>(..)),
                dataset.field(&name).and_then(|field| field.read::<hyperslab::FixedText<4>, IxDyn>(..)),
            ));
        }
    }
}

#[test]
fn damaged_files_give_errors_or_values() {
    let names = [
        "datatypes_compound_earliest.h5",
        "datatypes_other_earliest.h5",
        "datatypes_strings_earliest.h5",
        "references_earliest.h5",
        "references_std_latest.h5",
    ];
    let mut state = 1_u64;
    for name in names {
        let whole = std::fs::read(fixtures::path(name)).unwrap();
        for round in 0..400 {
            let mut damaged = whole.clone();
            for _ in 0..=round % 4 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = usize::try_from(state >> 33).unwrap() % damaged.len();
                damaged[at] = state.to_le_bytes()[3];
            }
            if let Ok(file) = File::from_bytes(damaged) {
                read_anything(&file);
            }
        }
    }
}
