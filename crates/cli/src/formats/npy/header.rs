//! The header of an npy file, versions 1 to 3: magic, version, length, and a Python dictionary.

use std::io::Read;

use anyhow::{Context as _, Result, bail};
use hyperslab_exact::{product, to_u64};

use super::descr::ReadDescr;
use super::literal::Literal;

/// The largest size of an npy header, in bytes.
const MAX_HEADER_BYTES: u32 = 16 << 20;

/// The decoded header of an npy file.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) descr: ReadDescr,
    pub(crate) shape: Vec<u64>,
    /// True for Fortran order: the first dimension varies fastest.
    pub(crate) fortran: bool,
    /// The size of the header in bytes, which is the offset of the elements.
    pub(crate) length: u64,
}

impl Header {
    /// Reads the npy header from the start of a file.
    pub(crate) fn read(input: &mut impl Read) -> Result<Self> {
        let mut magic = [0; 8];
        input.read_exact(&mut magic).context("the file is too short for an npy file")?;
        let [b'\x93', b'N', b'U', b'M', b'P', b'Y', version, _] = magic else {
            bail!("the file is not an npy file: its first bytes are not `\\x93NUMPY`");
        };
        let (length, prefix) = match version {
            1 => {
                let mut bytes = [0; 2];
                input.read_exact(&mut bytes)?;
                (little(&bytes), 10_u64)
            }
            2 | 3 => {
                let mut bytes = [0; 4];
                input.read_exact(&mut bytes)?;
                (little(&bytes), 12)
            }
            other => bail!("version {other} of the npy format is not known"),
        };
        if length > MAX_HEADER_BYTES {
            bail!("the npy header has {length} bytes; at most {MAX_HEADER_BYTES} are allowed");
        }
        let mut header = Vec::new();
        input.take(u64::from(length)).read_to_end(&mut header)?;
        if to_u64(header.len()) != u64::from(length) {
            bail!("the file ends in the middle of the npy header");
        }
        let text = if version == 3 {
            String::from_utf8(header)?
        } else {
            header.into_iter().map(char::from).collect()
        };
        Self::parse(&text, prefix + u64::from(length))
    }

    fn parse(header: &str, length: u64) -> Result<Self> {
        let header = Literal::parse(header)?;
        let get = |key: &str| header.get(key).with_context(|| format!("the header has no `{key}`"));
        let descr = ReadDescr::of(get("descr")?)?;
        let shape = get("shape")?.numbers().context("the shape in the npy header is not a list of sizes")?;
        let fortran = *get("fortran_order")? == Literal::Truth(true) && shape.len() > 1;
        Ok(Self { descr, shape, fortran, length })
    }

    /// Returns the size in bytes of all elements of the npy file. Returns an error on overflow.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let sizes = self.shape.iter().copied().chain([self.descr.size().into()]);
        Ok(product("size of the elements", sizes)?)
    }
}

/// Encodes an npy header for elements of the type `descr` in C order. Padding ends the header at a
/// multiple of 64 bytes.
pub(crate) fn encode(descr: &str, shape: impl Iterator<Item = u64>) -> Result<Vec<u8>> {
    let shape: Vec<String> = shape.map(|size| format!("{size},")).collect();
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({}), }}", shape.join(" "));
    // Version 1 has 16 bits for the length, version 2 has 32 bits, and version 3 is UTF-8 instead
    // of Latin-1.
    let version = match text.len() {
        _ if !text.is_ascii() => 3_u8,
        0..65_000 => 1,
        _ => 2,
    };
    let prefix = if version == 1 { 10 } else { 12_usize };
    let whole = (prefix + text.len() + 1).next_multiple_of(64);
    let length = whole - prefix;
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    if version == 1 {
        bytes.extend(u16::try_from(length)?.to_le_bytes());
    } else {
        bytes.extend(u32::try_from(length)?.to_le_bytes());
    }
    bytes.extend(text.as_bytes());
    bytes.resize(whole - 1, b' ');
    bytes.push(b'\n');
    Ok(bytes)
}

/// Decodes an unsigned little-endian number of an npy header.
pub(super) fn little(bytes: &[u8]) -> u32 {
    number(bytes.iter().rev())
}

/// Decodes an unsigned big-endian number of an npy file.
pub(super) fn number<'b>(bytes: impl Iterator<Item = &'b u8>) -> u32 {
    bytes.fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_end_at_a_multiple_of_64() {
        for (descr, version) in
            [("'<f8'".to_owned(), 1), (format!("'{}'", "x".repeat(70_000)), 2), ("'µ'".into(), 3)]
        {
            let bytes = encode(&descr, [3, 4].into_iter()).unwrap();
            assert_eq!((bytes.len() % 64, bytes[6], bytes.last()), (0, version, Some(&b'\n')));
            assert!(bytes.starts_with(b"\x93NUMPY"));
        }
        let bytes = encode("'<f8'", [3].into_iter()).unwrap();
        let text = std::str::from_utf8(&bytes[10..]).unwrap();
        assert_eq!(text.trim_end(), "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }");
        assert!(
            std::str::from_utf8(&encode("'<f8'", std::iter::empty()).unwrap()[10..]).unwrap().contains("()")
        );
    }
}
