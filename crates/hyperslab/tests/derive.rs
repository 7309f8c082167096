//! Structs and enums of the program as elements.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab::datatype::convert::{Conversion, ConvertError};
use hyperslab::{Dataset, ErrorKind, File, FixedText, H5Type, IxDyn};
use hyperslab_testkit::fixtures;

fn dataset(file: &str, name: &str) -> Dataset {
    File::open(fixtures::path(file)).unwrap().dataset(name).unwrap()
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
struct Point {
    y: f64,
    x: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
#[hyperslab(crate = "hyperslab")]
struct Id(u64);

/// Some members of the file's compound, in another order and with other types.
#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
#[repr(C)]
struct Row {
    flag: bool,
    note: FixedText<4>,
    grid: [[i64; 3]; 2],
    inners: [Point; 2],
    #[hyperslab(rename = "tag")]
    label: FixedText<8>,
    id: Id,
    point: Point,
}

#[test]
fn rows_of_a_compound() {
    for file in ["datatypes_compound_earliest.h5", "datatypes_compound_latest.h5"] {
        let rows = dataset(file, "nested").read::<Row, IxDyn>(..).unwrap();
        assert_eq!(rows.shape(), [3]);
        for (row, i) in rows.iter().zip(0_u8..) {
            let (first, number) = (i64::from(i), f64::from(i));
            let point = |x: f32, y| Point { x, y };
            let wanted = Row {
                flag: i == 1,
                note: FixedText::new(&"n".repeat(i.into())).unwrap(),
                grid: [[first, first + 1, first + 2], [first + 3, first + 4, first + 5]],
                inners: [point(i.into(), number), point(f32::from(i) * 2.0, number * 2.0)],
                label: FixedText::new(&format!("row{i}")).unwrap(),
                id: Id(u64::from(i) + 1),
                point: point(f32::from(i) + 0.5, -number),
            };
            assert_eq!(*row, wanted, "{file}");
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
struct Pair<A, B> {
    c: A,
    a: B,
}

#[test]
fn a_few_members_of_padded_records() {
    let rows = dataset("datatypes_compound_latest.h5", "padded").read_raw::<Pair<f32, u64>>(..).unwrap();
    assert_eq!(rows[3], Pair { c: -4.0, a: 4 });
    let mut values = [Pair { c: 0_i8, a: 0_i8 }; 4];
    let all = hyperslab::Selection::All;
    dataset("datatypes_compound_latest.h5", "padded").read_into(&all, &mut values).unwrap();
    assert_eq!(values[1], Pair { c: -2, a: 2 });
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
struct More {
    b: f64,
    other: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
struct Deep {
    id: u8,
    point: Far,
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
struct Far {
    x: f64,
    z: f64,
}

/// Checks that an error names a member that the file does not have.
fn names(error: &hyperslab::Error, member: &str) {
    let text = error.to_string();
    assert!(error.kind() == ErrorKind::Misuse && text.contains(&format!("no member `{member}`")), "{text}");
}

#[test]
fn a_member_that_the_file_does_not_have_is_an_error() {
    let padded = dataset("datatypes_compound_latest.h5", "padded");
    names(&padded.read_raw::<More>(..).unwrap_err(), "other");
    names(&padded.read::<More, IxDyn>(..).unwrap_err(), "other");
    names(&padded.read_scalar::<More>(0).unwrap_err(), "other");
    names(&padded.read_into(.., &mut [More { b: 0.0, other: 1 }; 4]).unwrap_err(), "other");
    names(&padded.read_stored(..).unwrap().convert::<More>().unwrap_err(), "other");
    let nested = dataset("datatypes_compound_latest.h5", "nested");
    names(&nested.read_raw::<Deep>(..).unwrap_err(), "z");
    names(&nested.field("point").unwrap().read_raw::<Far>(..).unwrap_err(), "z");
    let file = hyperslab::FileOptions::new().create_in_memory().unwrap();
    file.set_attribute("point", hyperslab::Scalar(Point { x: 1.0, y: 2.0 })).unwrap();
    names(&file.attribute("point").unwrap().read_scalar::<Far>().unwrap_err(), "z");
    let lists = file.new_dataset("lists").datatype(hyperslab::Datatype::sequence(Point::datatype(), 8));
    let lists = lists.shape(&[1]).create().unwrap();
    lists.write_sequences(.., &[vec![Point { x: 1.0, y: 2.0 }]]).unwrap();
    names(&lists.read_sequences::<Far, hyperslab::Ix1>(..).unwrap_err(), "z");
}

/// A program that names a datatype in memory has bytes that stay, as in libhdf5.
#[test]
fn bytes_of_members_that_the_file_does_not_have_stay() {
    let padded = dataset("datatypes_compound_latest.h5", "padded");
    let mut bytes = More::to_bytes(&[More { b: 0.0, other: 7 }; 4]).into_owned();
    padded.read_bytes(.., &More::datatype(), &mut bytes).unwrap();
    assert_eq!(More::from_bytes(&bytes).unwrap()[0], More { b: 1.5, other: 7 });
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
#[repr(i32)]
enum Color {
    #[hyperslab(rename = "BLUE")]
    Blue = 7,
    #[hyperslab(rename = "NONE")]
    Nothing = -3,
    #[hyperslab(rename = "RED")]
    Red = 100,
}

#[test]
fn enumerations_by_name() {
    let colors = dataset("datatypes_other_latest.h5", "enum");
    assert_eq!(colors.read_raw::<Color>(..).unwrap(), [Color::Blue, Color::Red, Color::Nothing]);
    assert_eq!(colors.read_raw::<i8>(..).unwrap(), [2, 0, -1]);
}

/// All bits set, which libhdf5 returns for a value without a name, is a valid value here.
#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
#[repr(u8)]
enum Few {
    #[hyperslab(rename = "BLUE")]
    Blue = 255,
    #[hyperslab(rename = "RED")]
    Red = 0,
}

#[test]
fn a_value_without_a_name_is_an_error() {
    let error = dataset("datatypes_other_latest.h5", "enum").read_raw::<Few>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse);
    let text = error.to_string();
    assert!(text.contains(": element 2: ") && text.contains("not the value of a member"), "{text}");
}

#[test]
fn bytes_without_a_value_are_an_error() {
    assert_eq!(Few::from_bytes(&[255, 0]), Ok(vec![Few::Blue, Few::Red]));
    assert!(matches!(Few::from_bytes(&[0, 3]), Err(ConvertError::Value { index: 1, .. })));
    let rows = Pair::<bool, Few>::from_bytes(&[1, 0, 0, 9]);
    assert!(matches!(rows, Err(ConvertError::Value { index: 1, .. })));
}

#[test]
fn written_elements_are_read_back() {
    let rows = [Pair { c: Point { x: 1.0, y: -2.0 }, a: [Color::Red, Color::Nothing] }];
    let bytes = Pair::to_bytes(&rows).into_owned();
    assert_eq!(bytes.len(), Pair::<Point, [Color; 2]>::SIZE);
    let datatype = Pair::<Point, [Color; 2]>::datatype();
    assert_eq!(usize::try_from(datatype.size).unwrap(), bytes.len());
    assert_eq!(Pair::from_bytes(&bytes).unwrap(), rows);
    assert!(Conversion::new(&datatype, &datatype).unwrap().is_no_op());
}
