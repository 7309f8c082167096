//! Appends readings to a compressed dataset. After a crash, the file holds all readings of the last
//! complete flush.
//!
//! ```console
//! $ cargo run -p hyperslab --example append -- log.h5
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use hyperslab::{File, H5Type, Result};

#[derive(Debug, Clone, Copy, H5Type)]
struct Reading {
    second: u64,
    temperature: f32,
    state: State,
}

#[derive(Debug, Clone, Copy, H5Type)]
#[repr(u8)]
enum State {
    Idle = 0,
    Measuring = 1,
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "log.h5".to_owned());
    // The first run creates the file. Later runs append readings after the existing readings.
    let (file, log) = if std::path::Path::new(&path).exists() {
        let file = File::open_rw(&path)?;
        let log = file.dataset("log")?;
        (file, log)
    } else {
        let file = File::create(&path)?;
        let log = file
            .new_dataset("log")
            .of::<Reading>()
            .shape(&[0])
            .unlimited()
            .chunks(&[4096])
            .shuffle()
            .deflate(4)
            .create()?;
        log.set_attribute("temperature_units", "K")?;
        (file, log)
    };
    let first = log.size()?;
    for second in first..first + 60 {
        let state = if second % 20 < 5 { State::Idle } else { State::Measuring };
        log.append(0, &[Reading { second, temperature: 293.0 + (second % 7) as f32 / 10.0, state }])?;
        if second % 10 == 9 {
            file.flush()?; // what was appended so far is kept from here on
        }
    }
    println!("{} readings", log.size()?);
    file.close()
}
