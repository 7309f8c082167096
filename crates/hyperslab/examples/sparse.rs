//! Writes and reads a sparse dataset: the file stores only the measured elements, and a reader can
//! tell which elements were measured.
//!
//! ```console
//! $ cargo run -p hyperslab --example sparse -- hits.h5
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use hyperslab::{File, IxDyn, Points, Result, s};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "hits.h5".to_owned());
    let file = File::create(&path)?;
    let hits = file
        .new_dataset("hits")
        .of::<u16>()
        .shape(&[0, 4096, 4096])
        .max_shape(&[None, Some(4096), Some(4096)])
        .sparse_auto()
        .density(0.0001)
        .shuffle()
        .deflate(4)
        .create()?;
    for frame in 0..20_u64 {
        // The photons of a frame, by row and column. Each append adds one frame along the first
        // dimension.
        let places: Vec<[u64; 3]> =
            (0..1500).map(|hit| [0, hit * 2 % 4096, (hit * hit + frame * 37) % 4096]).collect();
        hits.sparse().append(
            0,
            1,
            &Points { rank: 3, coordinates: places.concat() },
            &vec![1_u16; places.len()],
        )?;
    }
    file.flush()?;

    let (points, counts) = hits.sparse().read::<u16>(..)?;
    println!("{} hits in {} bytes", counts.len(), hits.storage_size()?);
    println!("the first at {:?}", points.coordinates.get(..3).unwrap_or_default());
    let corner = hits.read::<u16, IxDyn>(s![3, ..8, ..8])?; // dense: what is undefined reads as the fill value
    println!("{} in the corner of frame 3", corner.sum());
    println!("{:.5} % of the elements are defined", 100.0 * hits.sparse().density()?);
    file.close()
}
