//! The writer of npy files, which writes the elements block by block.

use std::io::Write;

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::convert::Conversion;
use hyperslab::{Datatype, Stored};

use super::descr::WrittenDescr;
use super::header::encode;
use super::time::type_of;
use crate::selection::blocks::Blocks;

/// The length of the longest string that can be written to an npy file, in characters. The writer
/// pads each string to the length of the longest one.
const MAX_TEXT_CHARACTERS: usize = 1 << 16;

/// Writes an npy file: the header and all elements. `units` is the unit of the elements. If NumPy
/// has a time type with this unit, integers become NumPy times.
pub(crate) fn write(
    output: &mut impl Write,
    datatype: &Datatype,
    units: Option<&str>,
    shape: &[u64],
    blocks: &Blocks<'_>,
) -> Result<()> {
    if datatype.is_variable_string() {
        return write_texts(output, shape, blocks);
    }
    let mut descr = WrittenDescr::of(datatype)?;
    if let Some(time) = units.and_then(type_of)
        && let Some(order) = descr.literal.strip_suffix("i8'").map(str::to_owned)
    {
        descr.literal = format!("{order}{time}'");
    }
    let inner = descr.dims.iter().copied().map(u64::from);
    output.write_all(&encode(&descr.literal, shape.iter().copied().chain(inner))?)?;
    let same = descr.datatype == *datatype;
    let conversion = if same { None } else { Some(Conversion::new(datatype, &descr.datatype)?) };
    blocks.for_each(|stored| {
        match &conversion {
            None => output.write_all(stored.bytes())?,
            Some(conversion) => {
                let size = stored.len().checked_mul(conversion.destination_size());
                let mut converted = vec![0; size.context("a block of elements does not fit in memory")?];
                conversion.convert(stored.bytes(), &mut converted, stored.len())?;
                output.write_all(&converted)?;
            }
        }
        Ok(())
    })
}

/// Writes variable-length strings to an npy file as UCS-4 strings with the length of the longest
/// string. Reads the strings twice.
fn write_texts(output: &mut impl Write, shape: &[u64], blocks: &Blocks<'_>) -> Result<()> {
    let mut longest = 0;
    each_text(blocks, |text| {
        longest = longest.max(text.chars().count());
        Ok(())
    })?;
    if longest > MAX_TEXT_CHARACTERS {
        bail!(
            "a string has {longest} characters, and npy would pad all strings to this length; try --format json or csv"
        );
    }
    // NumPy has no strings of length 0.
    let longest = longest.max(1);
    output.write_all(&encode(&format!("'<U{longest}'"), shape.iter().copied())?)?;
    each_text(blocks, |text| {
        let mut bytes: Vec<u8> =
            text.chars().flat_map(|character| u32::from(character).to_le_bytes()).collect();
        // `MAX_TEXT_CHARACTERS` limits the product.
        bytes.resize(4 * longest, 0);
        Ok(output.write_all(&bytes)?)
    })
}

fn each_text(blocks: &Blocks<'_>, mut visit: impl FnMut(&str) -> Result<()>) -> Result<()> {
    blocks.for_each(|stored: &Stored| stored.strings()?.iter().try_for_each(|text| visit(text)))
}
