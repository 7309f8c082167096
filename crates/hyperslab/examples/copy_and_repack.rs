//! Copies selected objects of a file into another file, and repacks this file with stronger
//! compression.
//!
//! ```console
//! $ cargo run -p hyperslab --example beamline_run -- run42.h5
//! $ cargo run -p hyperslab --example copy_and_repack -- run42.h5 archive.h5
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use hyperslab::{File, Repack, RepackLayout, Result, filter::FilterSpec};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let from = arguments.next().unwrap_or_else(|| "run42.h5".to_owned());
    let to = arguments.next().unwrap_or_else(|| "archive.h5".to_owned());

    let source = File::open(&from)?;
    let loose = hyperslab::FileOptions::new().create_in_memory()?;
    loose.copy_from(&source, "entry/detector", "runs/42/detector")?; // chunks as they are stored
    loose.copy_from(&source, "entry/scan", "runs/42/scan")?;
    loose.set_attribute("origin", from.as_str())?;

    let done = Repack::new()
        .layout("**/frames", RepackLayout::Chunked(vec![8, 64, 64]))?
        .filters("**/frames", vec![FilterSpec::shuffle(), FilterSpec::deflate(9)])?
        .run(&loose, &to)?;
    println!("{} bytes of raw data went into {to}", done.bytes);
    Ok(())
}
