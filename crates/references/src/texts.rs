//! Texts of fixed length that end with a null byte, and bytes after it.

use hyperslab::{Dataset, Result};
use hyperslab_exact::to_usize;

use crate::element::Element;

/// The largest number of bytes of a dataset that are read to find bytes after the end of texts.
const MAX_BYTES: u64 = 64 << 20;

/// The bytes of one read.
const BLOCK_BYTES: u64 = 4 << 20;

/// Returns whether texts of a dataset have other bytes than null after their null byte. Reads the
/// elements of datasets of up to 64 MiB; larger ones are taken to have none.
pub(crate) fn have_more_bytes(dataset: &Dataset, element: &Element) -> Result<bool> {
    let size = u64::from(dataset.datatype().size);
    let bytes = dataset.dataspace().element_count().and_then(|count| count.checked_mul(size));
    if element.terminated.is_empty() || bytes.is_none_or(|bytes| bytes > MAX_BYTES) {
        return Ok(false);
    }
    let mut ranges = Vec::with_capacity(element.terminated.len());
    for (offset, length) in &element.terminated {
        let start = to_usize(u64::from(*offset))?;
        ranges.push(start..start + to_usize(u64::from(*length))?);
    }
    for block in dataset.blocks(BLOCK_BYTES) {
        let Ok(stored) = dataset.read_stored(&block) else {
            // The export of the elements reports it.
            return Ok(false);
        };
        let has_more = |text: &[u8]| {
            let rest = text.iter().skip_while(|byte| **byte != 0);
            rest.into_iter().any(|byte| *byte != 0)
        };
        let texts =
            stored.elements().flat_map(|one| ranges.iter().filter_map(|range| one.get(range.clone())));
        if texts.into_iter().any(has_more) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use hyperslab::datatype::StringPadding;
    use hyperslab::{CharacterSet, Datatype, FileOptions};

    use super::*;
    use crate::element::Texts;

    #[test]
    fn bytes_after_the_end_of_a_text_are_found() {
        let file = FileOptions::new().create_in_memory().unwrap();
        let datatype = Datatype::fixed_string(4, StringPadding::NullTerminated, CharacterSet::Ascii);
        for (name, bytes, expected) in [("clean", b"ab\0\0abcd", false), ("more", b"ab\0xabcd", true)] {
            let dataset = file.new_dataset(name).datatype(datatype.clone()).shape(&[2]).create().unwrap();
            dataset.write_stored(.., bytes).unwrap();
            let element = Element::of(dataset.datatype(), Texts::Stored).unwrap();
            assert_eq!(have_more_bytes(&dataset, &element).unwrap(), expected, "{name}");
        }
    }
}
