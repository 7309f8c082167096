//! Reads and writes with several threads at the same time. There is no global lock in the library.
//!
//! ```console
//! $ cargo run --release -p hyperslab --example threads -- stack.h5
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use hyperslab::{File, IxDyn, Result, s};
use ndarray::Array2;
use rayon::prelude::*;

const FRAMES: usize = 64;
const SIDE: u64 = 512;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "stack.h5".to_owned());
    let file = File::create(&path)?;
    let shape = [FRAMES as u64, SIDE, SIDE];
    let stack = file
        .new_dataset("stack")
        .of::<u16>()
        .shape(&shape)
        .chunks(&[1, SIDE, SIDE])
        .shuffle()
        .deflate(1)
        .create()?;
    // Threads compress chunks concurrently, and write the chunks in any order.
    (0..FRAMES).into_par_iter().try_for_each(|frame| {
        let mut pixels = Array2::<u16>::zeros((512, 512));
        for (number, pixel) in (frame..).zip(&mut pixels) {
            *pixel = u16::try_from(number % 1000).unwrap_or_default();
        }
        stack.write(s![frame, .., ..], &pixels)
    })?;
    file.flush()?;

    let brightest = (0..FRAMES)
        .into_par_iter()
        .map(|frame| Ok(stack.read::<u16, IxDyn>(s![frame, .., ..])?.iter().copied().max().unwrap_or(0)))
        .collect::<Result<Vec<u16>>>()?;
    println!("the brightest pixels of the first frames: {:?}", brightest.get(..4).unwrap_or_default());
    file.close()
}
