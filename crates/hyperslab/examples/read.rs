//! Reads attributes, a slice, a table, and a dataset that is larger than memory.
//!
//! ```console
//! $ cargo run -p hyperslab --example beamline_run -- run42.h5
//! $ cargo run -p hyperslab --example read -- run42.h5
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use hyperslab::{File, H5Type, IxDyn, Result, s};

/// The requested members of each row. The datatype in the file has more members, and members of
/// other sizes.
#[derive(Debug, Clone, Copy, H5Type)]
struct Spot {
    x: f64,
    y: f64,
    frame: u32,
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "run42.h5".to_owned());
    let file = File::open(&path)?;
    println!("{}", file.attribute("title")?.read_string()?);

    let frames = file.dataset("entry/detector/frames")?;
    let middle = frames.read::<f32, IxDyn>(s![20, 48..80, 48..80])?;
    println!("mean of the middle of frame 20: {:.2}", middle.mean().unwrap_or_default());

    let spots = file.dataset("entry/peaks")?.read_raw::<Spot>(..)?;
    if let Some(spot) = spots.last() {
        println!("{} spots, the last in frame {} at {}, {}", spots.len(), spot.frame, spot.x, spot.y);
    }

    let mut sum = 0_u64;
    for block in frames.read_blocks::<u16>(1 << 20) {
        let (_region, pixels) = block?; // one block in memory at a time
        sum += pixels.iter().map(|pixel| u64::from(*pixel)).sum::<u64>();
    }
    println!("{sum} counts in all");
    Ok(())
}
