//! Writes a file with a dataset of each kind that the viewer shows in its own way. The tests of the
//! page (`viewer/drive/`) know the values.
//!
//! ```console
//! $ cargo run -p hyperslab-serve --example shown -- shown.h5
//! ```
//!
//! A number after the name adds a dataset of this number of gigabytes, of which the disk stores
//! only the first and the last element, and a group whose header and data are after that dataset.

use hyperslab::filter::{BitshuffleCodec, FilterSpec};
use hyperslab::{File, H5Type, Points, Result};

#[derive(Clone, Copy, H5Type)]
struct Particle {
    id: i32,
    mass: f64,
}

/// Returns `count` values of a function of their position.
fn values<T>(count: u32, value: impl Fn(u32) -> T) -> Vec<T> {
    (0..count).map(value).collect()
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "shown.h5".to_owned());
    let file = File::create(&path)?;
    file.new_dataset("number").write_scalar(42.5_f64)?;
    file.new_dataset("text").shape(&[]).write_strings(&["hello there"])?;
    file.new_dataset("names").write_strings(&["one", "two", "three"])?;
    let table = [Particle { id: 1, mass: 2.5 }, Particle { id: 2, mass: 3.5 }];
    file.new_dataset("table").write(&table)?;
    file.new_dataset("line").write(&values(500, |at| f64::from(at).sqrt()))?;
    numbers(&file)?;
    let colors = values(40 * 50 * 3, |at| {
        let (row, column) = (at / 150, at / 3 % 50);
        [column * 5, row * 6, 90]
            .get(at as usize % 3)
            .and_then(|color| u8::try_from(*color).ok())
            .unwrap_or(0)
    });
    let color = file.new_dataset("color").shape(&[40, 50, 3]).write(&colors)?;
    let image =
        [("CLASS", "IMAGE"), ("IMAGE_SUBCLASS", "IMAGE_TRUECOLOR"), ("INTERLACE_MODE", "INTERLACE_PIXEL")];
    for (name, value) in image {
        color.set_attribute(name, value)?;
    }
    sparse(&file)?;
    nexus(&file)?;
    if let Some(gigabytes) = std::env::args().nth(2).and_then(|text| text.parse::<u64>().ok()) {
        let count = gigabytes * 125_000_000;
        let large = file.new_dataset("large").of::<f64>().shape(&[count]).create()?;
        large.write_scalar(0..1, 1.5)?;
        large.write_scalar(count - 1..count, 2.5)?;
        let late = values(200, |at| i32::try_from(at).unwrap_or(0) * 7 + 1);
        file.new_dataset("after/late").shape(&[20, 10]).write(&late)?;
    }
    file.close()
}

/// Writes numbers in two dimensions, without a filter and with each of several filters.
fn numbers(file: &File) -> Result<()> {
    let matrix = values(200, |at| i32::try_from(at).unwrap_or(0) * 3 - 50);
    file.new_dataset("matrix").shape(&[20, 10]).write(&matrix)?;
    let wide = values(200 * 1000, |at| i32::try_from(at).unwrap_or(0));
    file.new_dataset("wide").shape(&[200, 1000]).write(&wide)?;
    let waves = values(60 * 80, |at| {
        let (row, column) = (f64::from(at / 80), f64::from(at % 80));
        100.0 * (column / 9.0).sin() * (row / 7.0).cos()
    });
    file.new_dataset("image").shape(&[60, 80]).write(&waves)?;
    let filters = [
        ("deflate", FilterSpec::deflate(4)),
        ("zstd", FilterSpec::zstd(3)),
        ("lzf", FilterSpec::lzf()),
        ("bitshuffle", FilterSpec::bitshuffle(0, BitshuffleCodec::Lz4)),
    ];
    let numbers = values(10_000, |at| u16::try_from(at).unwrap_or(0));
    for (name, filter) in filters {
        let dataset = file.new_dataset(&format!("filters/{name}")).shape(&[100, 100]).chunks(&[10, 100]);
        dataset.filter(filter).write(&numbers)?;
    }
    Ok(())
}

/// Writes a sparse dataset with a diagonal.
fn sparse(file: &File) -> Result<()> {
    let dataset =
        file.new_dataset("sparse").of::<f32>().shape(&[50, 50]).sparse_auto().density(0.02).create()?;
    let coordinates = (0..50).flat_map(|at| [at, at]).collect();
    let points = Points { rank: 2, coordinates };
    dataset.sparse().write(&points, &values(50, |at| f32::from(u16::try_from(at).unwrap_or(0)) + 1.0))
}

/// Writes a group whose attributes name a plot, as NeXus does.
fn nexus(file: &File) -> Result<()> {
    let entry = file.create_group("entry")?;
    entry.set_attribute("NX_class", "NXentry")?;
    entry.set_attribute("default", "data")?;
    let data = entry.create_group("data")?;
    data.set_attribute("NX_class", "NXdata")?;
    data.set_attribute("signal", "counts")?;
    data.set_attribute("axes", "angle")?;
    let angles = values(50, |at| f64::from(at) * 0.1);
    data.new_dataset("angle").write(&angles)?;
    data.new_dataset("counts").write(&angles.iter().map(|angle| angle.cos()).collect::<Vec<_>>())?;
    Ok(())
}
