//! A dataset that is removed while a handle to it remains: chunked or contiguous, with and without
//! a flush in between.

use hyperslab::{Dataset, ErrorKind, File};

use super::{new_file, sound};

fn make(file: &File, name: &str, chunked: bool, value: i32) -> Dataset {
    let dataset = file.new_dataset(name).of::<i32>().shape(&[1000]);
    let dataset = if chunked { dataset.chunks(&[100]).unlimited() } else { dataset };
    let dataset = dataset.create().unwrap();
    dataset.write(.., &vec![value; 1000]).unwrap();
    dataset
}

fn all_are(dataset: &Dataset, value: i32) -> bool {
    dataset.read_raw::<i32>(..).unwrap() == vec![value; 1000]
}

/// Reproduces a bug: other datasets take the free space while the handle is in use.
fn removed(chunked: bool, flushed: bool) {
    let (file, medium) = new_file();
    let kept = make(&file, "x", chunked, 1);
    file.flush().unwrap();
    file.remove("x").unwrap();
    if flushed {
        file.flush().unwrap();
    }
    assert!(all_are(&kept, 1), "the elements live as long as the handle");
    let (y, z) = (make(&file, "y", chunked, 2), make(&file, "z", chunked, 3));
    file.flush().unwrap();
    assert!(all_are(&kept, 1), "nobody else has taken the space");
    kept.write(.., &vec![666; 1000]).unwrap();
    kept.set_attribute("evil", 1_i64).unwrap();
    assert_eq!(kept.resize(&[2000]).is_ok(), chunked);
    file.flush().unwrap();
    assert!(all_are(&y, 2) && all_are(&z, 3), "nothing was written into what others have");
    for name in ["y", "z"] {
        assert!(file.dataset(name).unwrap().attribute_names().unwrap().is_empty());
    }
    let expected: Vec<i32> = [vec![666; 1000], vec![0; if chunked { 1000 } else { 0 }]].concat();
    assert_eq!(kept.read_raw::<i32>(..).unwrap(), expected);
    assert_eq!(kept.attribute("evil").unwrap().read_scalar::<i64>().unwrap(), 1);
    assert_eq!(kept.link_count().unwrap(), 0);
    assert_eq!(file.member_names().unwrap(), ["y", "z"]);
    drop(kept);
    file.close().unwrap();
    assert!(y.write(.., &vec![4; 1000]).is_err_and(|error| error.kind() == ErrorKind::Misuse));
    drop((y, z));
    sound(&medium);
}

#[test]
fn a_contiguous_dataset_outlives_its_link() {
    removed(false, false);
}

#[test]
fn a_contiguous_dataset_outlives_its_link_and_a_flush() {
    removed(false, true);
}

#[test]
fn a_chunked_dataset_outlives_its_link() {
    removed(true, false);
}

#[test]
fn a_chunked_dataset_outlives_its_link_and_a_flush() {
    removed(true, true);
}
