//! Encoding of a whole global heap collection from its objects, and of the elements that refer to
//! the objects.

use super::{
    ALIGNMENT, FREE_SPACE, GlobalHeapCollection, GlobalHeapId, SIGNATURE, VERSION, header_size,
    write_object_header,
};
use crate::codec::{Address, FileParams, FormatError, Result, Structure as _, Writer};

impl GlobalHeapCollection {
    /// Fills `bytes` with a whole global heap collection that consists of the objects `objects`.
    /// The objects get the numbers 1, 2 and so on.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if the objects do not fit, or if a length does not fit its
    /// field.
    pub fn write_all<'a>(
        bytes: &mut [u8],
        objects: impl IntoIterator<Item = &'a [u8]>,
        params: FileParams,
    ) -> Result<()> {
        let too_long = |got: usize| {
            let got = format!("{got} bytes");
            FormatError::Encode { structure: Self::NAME, field: "collection size", got }
        };
        let (all, prefix) = (bytes.len(), header_size(params));
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(SIGNATURE);
        writer.u8(VERSION);
        writer.zeros(3);
        writer.length(params, all as u64, "collection size");
        writer.pad_to(prefix, "collection size");
        let (header, mut rest) = bytes.split_at_mut_checked(prefix).ok_or_else(|| too_long(all))?;
        header.copy_from_slice(&writer.finish()?);
        let mut index = 0_u16;
        for data in objects {
            index = index.checked_add(1).ok_or_else(|| too_long(data.len()))?;
            let parts = rest.split_at_mut_checked(Self::object_size(data.len(), params));
            let (object, remaining) = parts.ok_or_else(|| too_long(data.len()))?;
            // Zeroes the padding after the data; the copy below overwrites the rest of these bytes.
            if let Some(padding) = object.last_chunk_mut::<ALIGNMENT>() {
                *padding = [0; ALIGNMENT];
            }
            write_object_header(object, index, 1, data.len(), params)?;
            if let Some(to) = object.get_mut(prefix..).and_then(|to| to.get_mut(..data.len())) {
                to.copy_from_slice(data);
            }
            rest = remaining;
        }
        let free = rest.len();
        rest.fill(0);
        if free >= prefix {
            write_object_header(rest, FREE_SPACE, 0, free, params)?;
        }
        Ok(())
    }
}

impl GlobalHeapId {
    /// Fills `out` with variable-length elements that refer to consecutive objects of a global heap
    /// collection, from object 1 on. Each element is a length of four bytes, taken from `lengths`,
    /// and a global heap ID.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if a number does not fit its field.
    pub fn write_elements(
        collection: Address,
        lengths: impl IntoIterator<Item = usize>,
        out: &mut [u8],
        params: FileParams,
    ) -> Result<()> {
        let mut writer = Writer::new("variable-length element");
        writer.offset(params, collection, "collection address");
        let address = writer.finish()?;
        let elements = out.chunks_exact_mut(Self::size(params) + 4);
        for ((length, element), index) in lengths.into_iter().zip(elements).zip(1_u32..) {
            let length = u32::try_from(length).map_err(|_| FormatError::Encode {
                structure: "variable-length element",
                field: "length",
                got: length.to_string(),
            })?;
            if let Some((first, rest)) = element.split_first_chunk_mut::<4>()
                && let Some((collection_field, last)) = rest.split_last_chunk_mut::<4>()
            {
                *first = length.to_le_bytes();
                collection_field.copy_from_slice(&address);
                *last = index.to_le_bytes();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_at_once_is_one_by_one() {
        for size_of_lengths in [4, 8] {
            let params = FileParams { size_of_offsets: 8, size_of_lengths };
            let objects = [&b"abc"[..], b"", b"12345678", b"123456789"];
            for size in [160, 168, 176, 184, 400] {
                let mut heap = GlobalHeapCollection::new(size, params).unwrap();
                let all = objects.iter().all(|object| heap.insert(object).unwrap().is_some());
                let mut bytes = vec![0xee; size];
                let written = GlobalHeapCollection::write_all(&mut bytes, objects, params);
                assert_eq!(written.is_ok(), all, "{size}");
                if all {
                    assert_eq!(bytes, heap.bytes(), "{size}");
                }
            }
            let mut elements = [0xee; 32];
            GlobalHeapId::write_elements(Address::new(0x1234), [3, 9], &mut elements, params).unwrap();
            let mut writer = Writer::new("test");
            for (length, index) in [(3, 1), (9, 2)] {
                writer.u32(length);
                GlobalHeapId { collection: Address::new(0x1234), index }.write(&mut writer, params);
            }
            assert_eq!(writer.finish().unwrap(), elements);
        }
        let short = FileParams { size_of_offsets: 8, size_of_lengths: 2 };
        assert!(GlobalHeapCollection::write_all(&mut vec![0; 100_000], [&[0; 70_000][..]], short).is_err());
    }
}
