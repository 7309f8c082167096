//! NumPy's npy format, versions 1 to 3, written as blocks come in.

use std::io::Write;

use anyhow::{Result, bail};
use hyperslab::datatype::convert::Conversion;
use hyperslab::{Datatype, Stored};

use super::blocks::Blocks;
use super::descr::Descr;

/// Characters of the longest string, beyond which all would be padded out of proportion.
const LONGEST_TEXT: usize = 1 << 16;

/// Writes the header and all elements.
pub(super) fn write(
    output: &mut impl Write,
    datatype: &Datatype,
    shape: &[u64],
    blocks: &Blocks<'_>,
) -> Result<()> {
    if datatype.is_variable_string() {
        return write_texts(output, shape, blocks);
    }
    let descr = Descr::of(datatype)?;
    let inner = descr.dims.iter().copied().map(u64::from);
    output.write_all(&header(&descr.literal, shape.iter().copied().chain(inner))?)?;
    let same = descr.datatype == *datatype;
    let conversion = if same { None } else { Some(Conversion::new(datatype, &descr.datatype)?) };
    blocks.for_each(|stored| {
        match &conversion {
            None => output.write_all(stored.bytes())?,
            Some(conversion) => {
                let mut converted = vec![0; stored.len().saturating_mul(conversion.destination_size())];
                conversion.convert(stored.bytes(), &mut converted, stored.len())?;
                output.write_all(&converted)?;
            }
        }
        Ok(())
    })
}

/// Strings of variable length as such of the longest one's length, four bytes for a character. They are gone through
/// twice.
fn write_texts(output: &mut impl Write, shape: &[u64], blocks: &Blocks<'_>) -> Result<()> {
    let mut longest = 0;
    each_text(blocks, |text| {
        longest = longest.max(text.chars().count());
        Ok(())
    })?;
    if longest > LONGEST_TEXT {
        bail!("a string of {longest} characters: npy would pad all others as long; try --format json or csv");
    }
    // NumPy has no strings without characters.
    let longest = longest.max(1);
    output.write_all(&header(&format!("'<U{longest}'"), shape.iter().copied())?)?;
    each_text(blocks, |text| {
        let mut bytes: Vec<u8> =
            text.chars().flat_map(|character| u32::from(character).to_le_bytes()).collect();
        bytes.resize(longest.saturating_mul(4), 0);
        Ok(output.write_all(&bytes)?)
    })
}

fn each_text(blocks: &Blocks<'_>, mut visit: impl FnMut(&str) -> Result<()>) -> Result<()> {
    blocks.for_each(|stored: &Stored| stored.strings()?.iter().try_for_each(|text| visit(text)))
}

/// Magic, version, length and the description, padded so that the elements begin at a multiple of 64 bytes.
pub(crate) fn header(descr: &str, shape: impl Iterator<Item = u64>) -> Result<Vec<u8>> {
    let shape: Vec<String> = shape.map(|size| format!("{size},")).collect();
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({}), }}", shape.join(" "));
    // Version 2 has room for more, version 3 is UTF-8 where the others are Latin-1.
    let version = match text.len() {
        _ if !text.is_ascii() => 3_u8,
        0..65_000 => 1,
        _ => 2,
    };
    let prefix = if version == 1 { 10 } else { 12_usize };
    let whole = prefix.saturating_add(text.len()).saturating_add(1).next_multiple_of(64);
    let length = whole.saturating_sub(prefix);
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    if version == 1 {
        bytes.extend(u16::try_from(length)?.to_le_bytes());
    } else {
        bytes.extend(u32::try_from(length)?.to_le_bytes());
    }
    bytes.extend(text.as_bytes());
    bytes.resize(whole.saturating_sub(1), b' ');
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_end_at_a_multiple_of_64() {
        for (descr, version) in
            [("'<f8'".to_owned(), 1), (format!("'{}'", "x".repeat(70_000)), 2), ("'µ'".into(), 3)]
        {
            let bytes = header(&descr, [3, 4].into_iter()).unwrap();
            assert_eq!((bytes.len() % 64, bytes[6], bytes.last()), (0, version, Some(&b'\n')));
            assert!(bytes.starts_with(b"\x93NUMPY"));
        }
        let bytes = header("'<f8'", [3].into_iter()).unwrap();
        let text = std::str::from_utf8(&bytes[10..]).unwrap();
        assert_eq!(text.trim_end(), "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }");
        assert!(
            std::str::from_utf8(&header("'<f8'", std::iter::empty()).unwrap()[10..]).unwrap().contains("()")
        );
    }
}
