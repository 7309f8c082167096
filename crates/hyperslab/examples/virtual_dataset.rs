//! Creates a virtual dataset that shows the datasets of many files as one array. No elements are
//! copied.
//!
//! ```console
//! $ cargo run -p hyperslab --example virtual_dataset -- folder
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::path::PathBuf;

use hyperslab::{File, Hyperslab, IxDyn, RegularHyperslab, Result, Selection, VirtualMapping, s};
use ndarray::Array2;

const RUNS: u64 = 5;

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let mut mappings = Vec::new();
    for run in 0..RUNS {
        let name = format!("part{run}.h5");
        let part = File::create(folder.join(&name))?;
        part.new_dataset("frame").write(&Array2::from_elem((64, 64), run as f32))?;
        part.close()?;
        let place = RegularHyperslab::region(&[run, 0, 0], &[1, 64, 64]);
        mappings.push(VirtualMapping {
            file: name.into_bytes(), // looked for beside the file that has the virtual dataset
            dataset: b"/frame".to_vec(),
            source_selection: Selection::All,
            selection: Selection::Hyperslab(Hyperslab::Regular(place)),
        });
    }
    let file = File::create(folder.join("all.h5"))?;
    let all =
        file.new_dataset("frames").of::<f32>().shape(&[RUNS, 64, 64]).virtual_sources(&mappings).create()?;
    println!("one pixel of all runs: {}", all.read::<f32, IxDyn>(s![.., 10, 10])?);

    all.write(s![2, 10, 10], &ndarray::arr0(42.0_f32))?; // goes into part2.h5
    file.close()?;
    let part = File::open(folder.join("part2.h5"))?.dataset("frame")?;
    println!("in part2.h5: {}", part.read::<f32, IxDyn>(s![10, 10])?);
    Ok(())
}
