//! Writes the file of the book's examples: one run at an invented beamline, with frames of a
//! detector, a sparse dataset of single photons, the motor positions of the scan, and a table of
//! peaks.
//!
//! ```console
//! $ cargo run -p hyperslab --example beamline_run -- run42.h5
//! ```

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the numbers of an invented picture are small and positive"
)]

use hyperslab::{File, Group, H5Type, Points, Result, Section, filter::FilterSpec};
use ndarray::{Array1, Array3};

const FRAMES: usize = 40;
const SIDE: usize = 128;

/// A row of the table of peaks.
#[derive(Debug, Clone, Copy, H5Type)]
struct Peak {
    frame: u32,
    x: f32,
    y: f32,
    counts: u64,
    quality: Quality,
}

#[derive(Debug, Clone, Copy, H5Type)]
#[repr(u8)]
enum Quality {
    Good = 0,
    Weak = 1,
}

fn main() -> Result<()> {
    write(&std::env::args().nth(1).unwrap_or_else(|| "run42.h5".to_owned()))
}

/// Writes the file.
pub(crate) fn write(path: &str) -> Result<()> {
    let file = File::create(path)?;
    file.set_attribute("title", "Run 42: powder, room temperature")?;
    file.set_attribute("beamline", "B7 (invented)")?;

    let entry = file.create_group("entry")?;
    let mut random = Random(42);
    let peaks = detector(&entry, &mut random)?;
    photons(&entry, &mut random)?;
    scan(&entry, &mut random)?;
    entry.new_dataset("peaks").chunks(&[64]).deflate(4).write(&Array1::from(peaks))?;

    let sample = entry.create_group("sample")?;
    sample.set_attribute("name", "lanthanum hexaboride")?;
    sample.new_dataset("notes").write_strings(&["mounted at noon", "beam lost in frame 17, came back"])?;
    file.link_soft("newest", "/entry/detector/frames")?;
    file.close()
}

/// Writes frames of a powder pattern: rings on a background, with one frame per chunk. Returns the
/// peaks that a search would find.
fn detector(entry: &Group, random: &mut Random) -> Result<Vec<Peak>> {
    let mut peaks = Vec::new();
    let mut frames = Array3::<u16>::zeros((FRAMES, SIDE, SIDE));
    for ((frame, row, column), pixel) in frames.indexed_iter_mut() {
        let (dx, dy) = (column as f64 - 60.0, row as f64 - 66.0);
        let radius = dx.hypot(dy);
        let ring = |at: f64, height: f64| height * (-(radius - at).powi(2) / 4.5).exp();
        let beam = if frame == 17 { 0.1 } else { 1.0 };
        let expected = 1.5 + ring(20.0, 40.0) + ring(35.0, 90.0) + ring(52.0, 25.0);
        *pixel = (beam * expected * (0.6 + 0.8 * random.next())) as u16;
        if *pixel > 120 {
            let quality = if *pixel > 122 { Quality::Good } else { Quality::Weak };
            peaks.push(Peak {
                frame: frame as u32,
                x: column as f32,
                y: row as f32,
                counts: u64::from(*pixel),
                quality,
            });
        }
    }
    let detector = entry.create_group("detector")?;
    detector.set_attribute("distance_mm", 182.5)?;
    let stored = detector
        .new_dataset("frames")
        .max_shape(&[None, Some(SIDE as u64), Some(SIDE as u64)])
        .chunks(&[1, SIDE as u64, SIDE as u64])
        .shuffle()
        .deflate(6)
        .write(&frames)?;
    stored.set_attribute("units", "counts")?;
    Ok(peaks)
}

/// Writes the photons that a larger detector counted one by one. The sparse dataset stores only the
/// pixels that were hit.
fn photons(entry: &Group, random: &mut Random) -> Result<()> {
    let planes = [FilterSpec::shuffle(), FilterSpec::deflate(4)];
    let hits = entry
        .new_dataset("detector/photons")
        .of::<u16>()
        .shape(&[FRAMES as u64, 512, 512])
        .sparse(&[4, 512, 512])
        .section_filters(Section::Selection, &planes)
        .section_filters(Section::Values, &planes)
        .create()?;
    let mut places: Vec<[u64; 3]> = Vec::new();
    for frame in 0..FRAMES as u64 {
        for _ in 0..400 {
            let (angle, radius) =
                (random.next() * std::f64::consts::TAU, 60.0 + 180.0 * random.next().powi(2));
            let (row, column) = (256.0 + radius * angle.sin(), 256.0 + radius * angle.cos());
            places.push([frame, row as u64, column as u64]);
        }
    }
    places.sort_unstable();
    places.dedup();
    let counts: Vec<u16> = places.iter().map(|_| 1 + (random.next().powi(4) * 5.0) as u16).collect();
    hits.sparse().write(&Points { rank: 3, coordinates: places.concat() }, &counts)?;
    hits.set_attribute("units", "photons")
}

/// Writes the values of the motors and of the thermometer: one value for each frame. Programs can
/// append values.
fn scan(entry: &Group, random: &mut Random) -> Result<()> {
    let scan = entry.create_group("scan")?;
    let angle = Array1::from_shape_fn(FRAMES, |frame| frame as f64 * 0.25);
    let current = Array1::from_shape_fn(FRAMES, |frame| if frame == 17 { 9.8 } else { 99.0 + random.next() });
    for (name, values, units) in [("angle", angle, "deg"), ("ring_current", current, "mA")] {
        let dataset = scan.new_dataset(name).unlimited().chunks(&[1024]).write(&values)?;
        dataset.set_attribute("units", units)?;
    }
    let temperature = Array1::from_shape_fn(FRAMES, |frame| {
        295.0 + (frame as f32 / 6.0).sin() + random.next() as f32 / 4.0
    });
    let dataset = scan.new_dataset("temperature").unlimited().chunks(&[1024]).write(&temperature)?;
    dataset.set_attribute("units", "K")?;
    dataset.set_attribute("long_name", "temperature of the sample")
}

/// A generator of pseudo-random numbers, which are the same in every run.
struct Random(u64);

impl Random {
    /// Returns a number from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64) / f64::from(1_u32 << 31)
    }
}
