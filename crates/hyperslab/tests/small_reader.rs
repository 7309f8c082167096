//! Reading and writing without the crate `ndarray`: this test compiles without any feature.

use hyperslab::filter::FilterSpec;
use hyperslab::{ErrorKind, File, FileDriver, FileOptions, OpenOptions, Points, Value};
use hyperslab_testkit::fixtures;

#[test]
fn elements_are_read_into_vectors_and_slices() {
    let file = File::open(fixtures::path("weather_station.h5")).unwrap();
    let temperature = file.dataset("series/temperature").unwrap();
    let all = temperature.read_raw::<f64>(..).unwrap();
    let mut day = [0.0; 24];
    temperature.read_into(24..48, &mut day).unwrap();
    assert_eq!(day, all[24..48]);
    let points = temperature.read_raw::<f64>(&Points::from_rows([[700], [3]])).unwrap();
    assert_eq!(points, [all[700], all[3]]);
    assert_eq!(temperature.read_dyn(..).unwrap().get(&[3]), Some(Value::Float(all[3])));
}

#[test]
fn elements_and_attributes_are_written_from_slices() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let values: Vec<i32> = (0..100_000).collect();
    let filters = [FilterSpec::shuffle(), FilterSpec::deflate(6)];
    let builder = file.new_dataset("a").chunks(&[1000]);
    let dataset = filters.into_iter().fold(builder, hyperslab::DatasetBuilder::filter);
    let dataset = dataset.write(&values).unwrap();
    dataset.set_attribute("names", ["x", "yz"]).unwrap();
    let file = File::from_bytes(file.to_bytes().unwrap()).unwrap();
    let dataset = file.dataset("a").unwrap();
    assert_eq!(dataset.read_raw::<i32>(..).unwrap(), values);
    assert_eq!(dataset.read_raw::<i32>((99_990..,)).unwrap(), values[99_990..]);
    assert_eq!(dataset.attribute("names").unwrap().read_stored().unwrap().strings().unwrap(), ["x", "yz"]);
}

#[test]
fn the_error_names_a_driver_that_is_not_built_in() {
    let file = OpenOptions::new().driver(FileDriver::Mmap).open(fixtures::path("weather_station.h5"));
    if cfg!(all(unix, feature = "mmap")) {
        file.unwrap();
    } else {
        let error = file.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("`mmap`"), "{error}");
    }
}
