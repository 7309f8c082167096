//! Prints all objects of a file. The program needs no knowledge of the file's structure.
//!
//! ```console
//! $ cargo run -p hyperslab --example inspect -- fixtures/weather_station.h5
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use hyperslab::{ErrorKind, File, ObjectKind, Result};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "fixtures/weather_station.h5".to_owned());
    for visited in File::open(&path)?.walk() {
        let path = String::from_utf8_lossy(&visited.path).into_owned();
        // For a damaged object, the program prints the error and continues with the next object.
        let object = match visited.object {
            Ok(object) => object,
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                println!("{path}: {error}");
                continue;
            }
            Err(error) => return Err(error),
        };
        for attribute in object.attributes()? {
            println!(
                "{path}@{}: {} {:?}",
                attribute.name(),
                attribute.datatype()?,
                attribute.dataspace()?.dims()
            );
        }
        if object.kind() == Some(ObjectKind::Dataset) {
            let dataset = object.into_dataset()?;
            let stored = dataset.storage_size()?;
            println!("{path}: {} {:?}, {stored} bytes", dataset.datatype(), dataset.dataspace().dims());
        }
    }
    Ok(())
}
