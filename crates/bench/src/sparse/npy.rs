//! Arrays as files of `NumPy`, for other programs.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context, Result};

/// A number that is stored in little-endian bytes.
pub(crate) trait Number: Copy {
    fn bytes(self) -> impl AsRef<[u8]>;
}

macro_rules! number {
    ($($of:ty)*) => {$(
        impl Number for $of {
            fn bytes(self) -> impl AsRef<[u8]> {
                self.to_le_bytes()
            }
        }
    )*};
}

number!(u32 u64 i64 f32);

/// Writes `NAME.npy`. `datatype` is the name of the type in `NumPy`.
pub(crate) fn save<T: Number>(
    folder: &Path,
    name: &str,
    datatype: &str,
    shape: &[u64],
    values: &[T],
) -> Result<()> {
    let path = folder.join(name).with_extension("npy");
    let mut file = BufWriter::new(File::create(&path).with_context(|| path.display().to_string())?);
    file.write_all(&head(datatype, shape)?)?;
    for value in values {
        file.write_all(value.bytes().as_ref())?;
    }
    Ok(file.flush()?)
}

fn head(datatype: &str, shape: &[u64]) -> Result<Vec<u8>> {
    let shape: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let mut text = format!("{{'descr': '{datatype}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length take 10 bytes. The header ends with a new line, and its length is a
    // multiple of 64.
    while !text.len().saturating_add(11).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len())?.to_le_bytes();
    Ok([b"\x93NUMPY\x01\0".as_slice(), &length, text.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_padded() -> Result<()> {
        let head = head("<u4", &[3, 2])?;
        assert_eq!(head.len() % 64, 0);
        assert!(head.starts_with(
            b"\x93NUMPY\x01\0\x76\0{'descr': '<u4', 'fortran_order': False, 'shape': (3, 2, ), }"
        ));
        assert!(head.ends_with(b" \n"));
        Ok(())
    }
}
