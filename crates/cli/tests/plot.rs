//! `hyperslab plot`, run as people run it. Pictures in the terminal in `expected/` are refreshed
//! with `HYPERSLAB_UPDATE=1`; for PNG, the tests check the pixels.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

#[cfg(feature = "plots")]
use std::path::Path;
use std::path::PathBuf;

use hyperslab::{FileOptions, Points, Region};
use hyperslab_testkit::expected;
use hyperslab_testkit::program::{Program, Run};
use serde_json::{Value, json};
use tempfile::TempDir;

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().env("NO_COLOR", "1").with("plot")
}

fn run(arguments: &[&str]) -> Run {
    hyperslab().run(arguments)
}

fn drawn(arguments: &[&str]) -> String {
    run(arguments).printed()
}

fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_ne!(output.code(), 0, "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    output.error().to_owned()
}

fn document(arguments: &[&str]) -> Value {
    serde_json::from_str(&drawn(&[&["--json"], arguments].concat())).unwrap()
}

fn check(name: &str, arguments: &[&str]) {
    expected::check(env!("CARGO_MANIFEST_DIR"), name, &drawn(arguments));
}

/// Writes a file with many kinds of datasets.
fn made(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("made.h5");
    let file = FileOptions::new().create(&path).unwrap();
    let mut peak = vec![0.0_f32; 100_000];
    (peak[77_777], peak[10]) = (9.0, f32::NAN);
    let peak = file.new_dataset("peak").write(&peak).unwrap();
    peak.set_attribute("units", "m/s").unwrap();
    peak.set_attribute("long_name", "wind <speed>").unwrap();
    let steps: Vec<u16> = (0..24 * 40).map(|number| number / 40).collect();
    file.new_dataset("image").of::<u16>().shape(&[24, 40]).create().unwrap().write(.., &steps).unwrap();
    let cube = file.new_dataset("cube").of::<i32>().shape(&[2, 3, 4]).create().unwrap();
    cube.write(.., &(0..24).collect::<Vec<i32>>()).unwrap();
    let holes = file.new_dataset("holes").of::<u8>().shape(&[100, 100]).chunks(&[10, 20]).create().unwrap();
    let part = Region::new(&[50, 40], &[10, 20]).unwrap();
    holes.write(&part, &[1_u8; 200]).unwrap();
    let sparse =
        file.new_dataset("sparse").of::<f64>().shape(&[1 << 40, 1 << 20]).sparse(&[1 << 20, 1 << 10]);
    let points = Points { rank: 2, coordinates: vec![5, 7, 1 << 39, 1 << 19] };
    sparse.create().unwrap().sparse().write(&points, &[1.0, 2.0]).unwrap();
    file.new_dataset("huge").of::<f64>().shape(&[1 << 50]).chunks(&[1 << 20]).create().unwrap();
    file.new_dataset("nans").write(&[f64::NAN; 3]).unwrap();
    file.new_dataset("constant").write(&[7.5; 10]).unwrap();
    file.new_dataset("text").write_strings(&["a", "b"]).unwrap();
    file.new_dataset("none").of::<f64>().shape(&[0, 4]).create().unwrap();
    file.close().unwrap();
    path
}

/// Returns the width, the height, and the pixels of three bytes each.
#[cfg(feature = "plots")]
fn pixels(path: &Path) -> (usize, usize, Vec<u8>) {
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width as usize, info.height as usize, pixels)
}

#[test]
fn in_the_terminal() {
    check("plot_temperature.txt", &["weather_station.h5", "series/temperature", "--size", "70x12"]);
    check("plot_quality.txt", &["weather_station.h5", "quality", "-s", "2000:3000", "--size", "60x6"]);
    let folder = tempfile::tempdir().unwrap();
    let path = made(&folder);
    let path = path.to_str().unwrap();
    check("plot_image.txt", &[path, "image", "--size", "60x12"]);
    check("plot_holes.txt", &[path, "holes", "--occupied", "--size", "60x10"]);
    check("plot_constant.txt", &[path, "constant", "--size", "40x5", "--title", "seven\u{1b}[31m"]);
}

#[test]
fn every_peak_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(&folder);
    let found = document(&[path.to_str().unwrap(), "peak"]);
    assert_eq!((&found["kind"], &found["elements"]), (&json!("line"), &json!(100_000)));
    let high: Vec<f64> = found["high"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert!(high.len() < 1000);
    assert_eq!(high.iter().filter(|value| **value == 9.0).count(), 1);
    assert_eq!(found["label"], "wind <speed> [m/s]");
}

#[test]
fn images_are_reduced_by_the_chosen_method() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(&folder);
    let path = path.to_str().unwrap();
    let cells = |arguments: &[&str]| document(&[&[path], arguments].concat())["cells"].clone();
    assert_eq!(cells(&["cube"]), json!([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]));
    assert_eq!(cells(&["cube", "-s", ":,1,::3"]), json!([[4.0, 7.0], [16.0, 19.0]]));
    let reduced = |how: &str| cells(&["image", "--size", "60x6", "--reduce", how]).as_array().unwrap().len();
    assert_eq!([reduced("mean"), reduced("max"), reduced("min")], [6, 6, 6]);
    let first = |how: &str| cells(&["image", "--size", "60x6", "--reduce", how])[0][0].as_f64();
    assert_eq!([first("mean"), first("max"), first("min")], [Some(1.5), Some(3.0), Some(0.0)]);
}

#[test]
fn members_of_compounds() {
    let found = document(&["weather_station.h5", "station/sensors", "--field", "height_m"]);
    assert_eq!((&found["elements"], found["low"].as_array().unwrap().len()), (&json!(3), 3));
    assert_eq!(found["title"], "weather_station.h5: /station/sensors.height_m");
    let why = refused(&["weather_station.h5", "station/sensors"]);
    assert!(why.contains("--field: name, height_m, installed, calibration"), "{why}");
    refused(&["weather_station.h5", "station/sensors", "--field", "nothing"]);
    refused(&["weather_station.h5", "station/sensors", "--field", "name"]);
}

#[test]
fn defined_elements_are_drawn_at_their_positions() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(&folder);
    let path = path.to_str().unwrap();
    let cells = document(&[path, "holes", "--occupied"])["cells"].clone();
    let rows = cells.as_array().unwrap();
    assert_eq!((rows.len(), rows[0].as_array().unwrap().len()), (10, 5));
    let shares: Vec<f64> =
        rows.iter().flat_map(|row| row.as_array().unwrap()).filter_map(Value::as_f64).collect();
    assert_eq!((shares, &cells[5][2]), (vec![1.0], &json!(1.0)));
    // The result does not depend on the size of the extent.
    let found = document(&[path, "sparse", "--occupied"]);
    let cells = found["cells"].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap());
    assert_eq!(cells.filter(|cell| !cell.is_null()).count(), 2);
    assert!(refused(&[path, "image", "--occupied"]).contains("is not chunked"));
}

#[cfg(feature = "plots")]
#[test]
fn png_contains_the_drawn_elements() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(&folder);
    let out = folder.path().join("image.png");
    drawn(&[path.to_str().unwrap(), "image", "-o", out.to_str().unwrap(), "--size", "600x400"]);
    let (width, height, image) = pixels(&out);
    assert_eq!((width, height), (600, 400));
    let has = |wanted: [u8; 3]| image.chunks(3).filter(|pixel| *pixel == wanted).count();
    // The two end colours: each has one row of cells, and one end of the colour bar.
    assert!(has([0x44, 0x01, 0x54]) > 2000 && has([0xfd, 0xe7, 0x25]) > 2000);
    assert!(has([0xff, 0xff, 0xff]) > 30_000, "paper");
    // Text: pixels in the corner of the title that have neither the colour of the background nor
    // the colour of the frame.
    let title = image.chunks(3).take(600 * 40).filter(|pixel| pixel[0] < 0x90).count();
    assert!(title > 50, "{title}");
    let out = folder.path().join("line.png");
    drawn(&[path.to_str().unwrap(), "peak", "-o", out.to_str().unwrap()]);
    let (width, height, line) = pixels(&out);
    assert_eq!((width, height), (1000, 640));
    let inked = line.chunks(3).filter(|pixel| *pixel == [0x31, 0x68, 0x8e]).count();
    assert!(inked > 500, "{inked}");
}

#[cfg(feature = "plots")]
#[test]
fn svg_is_well_formed() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(&folder);
    let path = path.to_str().unwrap();
    let out = folder.path().join("a.svg");
    drawn(&[path, "peak", "-o", out.to_str().unwrap()]);
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
    assert!(
        text.contains("wind &lt;speed&gt; [m/s]") && text.contains("polyline") && !text.contains("<image")
    );
    drawn(&[path, "image", "-o", out.to_str().unwrap()]);
    let text = std::fs::read_to_string(&out).unwrap();
    assert_eq!(text.matches("<image").count(), 2, "the cells and the colour bar");
    assert!(text.contains("made.h5: /image"));
}

#[test]
fn datasets_that_cannot_be_drawn_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(&folder);
    let path = path.to_str().unwrap();
    for (arguments, why) in [
        (&["text"][..], "not numbers"),
        (&["nans"], "there are no numbers"),
        (&["none"], "no elements are selected"),
        (&["image", "-s", "3,4"], "a single element"),
        (&["huge"], "--occupied"),
        (&["sparse"], "--occupied"),
        (&["imag"], "did you mean `image`?"),
        #[cfg(feature = "plots")]
        (&["image", "-o", "x.jpg"], "must end with .png or .svg"),
        (&["image", "--size", "0x10"], "not a size"),
        (&["image", "--range", "5:5"], "not a range"),
        (&["peak", "--log", "-s", "0:10"], "no number is greater than 0"),
        (&["image", "-s", "99"], "out of range"),
    ] {
        let reported = refused(&[&[path], arguments].concat());
        assert!(reported.contains(why), "{arguments:?}: {reported}");
    }
}

/// A script that creates a file with the conventions of netCDF and of the image specification.
const CONVENTIONS: &str = "
import h5py, numpy as np, sys
f = h5py.File(sys.argv[1], 'w')
def scale(name, values, **attributes):
    made = f.create_dataset(name, data=values)
    for key, value in attributes.items(): made.attrs[key] = value
    made.make_scale(name)
    return made
lat = scale('lat', np.array([-60., 0., 60.]), units='degrees_north', long_name='latitude')
lev = scale('lev', np.array([1000., 500., 10.]), units='hPa')
lon = scale('lon', np.arange(0., 40., 10.), units='degrees_east')
time = scale('time', np.arange(4), units='days since 2020-02-28')
packed = f.create_dataset('packed', data=np.arange(12, dtype='i2').reshape(3, 4))
packed.attrs.update(scale_factor=.5, add_offset=10., _FillValue=np.int16(3), valid_max=np.int16(10), units='K')
packed.dims[0].attach_scale(lat); packed.dims[1].attach_scale(lon)
levels = f.create_dataset('levels', data=np.arange(12.).reshape(3, 4)); levels.dims[0].attach_scale(lev)
for number in range(2):
    line = f.create_dataset(f'line{number}', data=np.arange(4.) + number); line.dims[0].attach_scale(time)
f['signed'] = np.array([[-1., 2.], [0., 1.]])
f['values'] = np.array([0., 1., 1., 2., 2., 2., 10.])
f['x'] = np.array([3., 1., 2., 0., 5., 4., 6.])
image = np.zeros((20, 30, 3), 'u1'); image[:10, :, 0] = 255; image[10:, :, 2] = 255
def picture(name, data, **attributes):
    made = f.create_dataset(name, data=data)
    for key, value in attributes.items(): made.attrs[key] = value if isinstance(value, h5py.Reference) else np.bytes_(value)
picture('rgb', image, CLASS='IMAGE', IMAGE_SUBCLASS='IMAGE_TRUECOLOR', INTERLACE_MODE='INTERLACE_PIXEL')
picture('planes', np.moveaxis(image, -1, 0), CLASS='IMAGE', IMAGE_SUBCLASS='IMAGE_TRUECOLOR', INTERLACE_MODE='INTERLACE_PLANE')
f['plain'] = image
f['palette'] = np.array([[255, 0, 0], [0, 0, 255]], 'u1')
picture('indexed', np.repeat([[0], [1]], 10, 0).repeat(30, 1).astype('u1'), CLASS='IMAGE', IMAGE_SUBCLASS='IMAGE_INDEXED', PALETTE=f['palette'].ref)
";

fn with_conventions(folder: &TempDir) -> Option<String> {
    let path = folder.path().join("cf.h5");
    hyperslab_testkit::referee::python()?.run_script(CONVENTIONS, [&path]).unwrap();
    Some(path.to_str().unwrap().to_owned())
}

#[test]
fn conventions_and_dimension_scales_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let Some(file) = with_conventions(&folder) else { return };
    let packed = document(&[&file, "packed"]);
    // Values are packed; the fill value and values above the valid ones are missing.
    let row = |numbers: [Value; 4]| Value::from(numbers.to_vec());
    assert_eq!(packed["cells"][0], row([json!(10.0), json!(10.5), json!(11.0), json!(null)]));
    assert_eq!(packed["cells"][2], row([json!(14.0), json!(14.5), json!(15.0), json!(null)]));
    assert_eq!(packed["x"], json!({ "label": "lon [degrees_east]", "range": [-5.0, 35.0] }));
    assert_eq!(packed["y"], json!({ "label": "latitude [degrees_north]", "range": [-90.0, 90.0] }));
    let raw = document(&[&file, "packed", "--raw"]);
    assert_eq!(raw["cells"][0], json!([0.0, 1.0, 2.0, 3.0]));
    assert_eq!(raw.get("x"), None);

    // North is at the top: the last row of the file. Uneven levels label their rows.
    let text = drawn(&[&file, "packed", "--size", "60x6"]);
    let line_with =
        |shade: char| text.lines().position(|line| line.contains(shade)).unwrap_or_else(|| panic!("{text}"));
    assert!(line_with('█') < line_with('·'), "{text}");
    let text = drawn(&[&file, "levels", "--size", "60x6"]);
    assert!(text.contains("1000 ┤") && text.contains("10 ┤"), "{text}");
}

#[test]
fn several_lines_against_times() {
    let folder = tempfile::tempdir().unwrap();
    let Some(file) = with_conventions(&folder) else { return };
    let text = drawn(&[&file, "line0", "line1", "--size", "100x8"]);
    assert!(text.contains("── line0") && text.contains("── line1"), "{text}");
    assert!(text.contains("2020-02-28") && text.contains("2020-03-02"), "{text}");
    let lines = document(&[&file, "line0", "line1"]);
    assert_eq!(lines["lines"].as_array().unwrap().len(), 2);
    assert!(refused(&[&file, "line0", "signed"]).contains("`/signed`"));
}

#[test]
fn histograms_and_values_against_values() {
    let folder = tempfile::tempdir().unwrap();
    let Some(file) = with_conventions(&folder) else { return };
    let histogram = document(&[&file, "values", "--histogram=5"]);
    let points: Vec<(f64, f64)> = serde_json::from_value(histogram["parts"][0].clone()).unwrap();
    let steps: Vec<f64> = points.iter().skip(1).step_by(2).map(|(_, count)| *count).collect();
    assert_eq!(steps, [3.0, 3.0, 0.0, 0.0, 1.0, 0.0]);
    let part = document(&[&file, "values", "--histogram=2", "--range", "1:3"]);
    let points: Vec<(f64, f64)> = serde_json::from_value(part["parts"][0].clone()).unwrap();
    assert_eq!(points[1..5], [(1.0, 2.0), (2.0, 2.0), (2.0, 3.0), (3.0, 3.0)]);
    let against = document(&[&file, "values", "--x", "x"]);
    assert_eq!(against["parts"][0][1], json!([1.0, 1.0]));
    assert!(refused(&[&file, "values", "--x", "line0"]).contains("4 elements"));
}

#[cfg(feature = "plots")]
#[test]
fn images_have_their_own_colours() {
    let folder = tempfile::tempdir().unwrap();
    let Some(file) = with_conventions(&folder) else { return };
    let out = folder.path().join("out.png");
    let name = out.to_str().unwrap();
    for arguments in [&["rgb"][..], &["planes"], &["indexed"], &["plain", "--rgb"]] {
        drawn(&[&[file.as_str()], arguments, &["-o", name, "--size", "400x300"]].concat());
        let (width, height, pixels) = pixels(&out);
        let pixel = |x: usize, y: usize| &pixels[(y * width + x) * 3..][..3];
        assert_eq!(pixel(width / 2, height / 3), [255, 0, 0], "{arguments:?}");
        assert_eq!(pixel(width / 2, height * 2 / 3), [0, 0, 255], "{arguments:?}");
    }
    // The least and the largest value are equally far from zero.
    let signed = document(&[&file, "signed"]);
    assert_eq!(signed["range"], json!([-2.0, 2.0]));
    assert_eq!(document(&[&file, "signed", "--cmap", "viridis"])["range"], json!([-1.0, 2.0]));
}
