//! Fractal heap ID (File Format Specification, section III.G).
//!
//! ```text
//! byte  0   bits 6-7 version 0, bits 4-5 type: 0 managed, 1 huge, 2 tiny
//!
//! managed            offset (bits of the heap, in whole bytes), length (see below)
//! huge, indirect     key in the version 2 B-tree (the rest of the ID, at most 8 bytes)
//! huge, direct       address (O), length (L); with filters also filter mask (4), decoded size (L)
//! tiny               bits 0-3 of byte 0: length - 1; data from byte 1 on   IDs up to 18 bytes
//! tiny, extended     bits 0-3 of byte 0 and byte 1: length - 1; data from byte 2 on   longer IDs
//! ```
//! The width of a managed object's length is the number of bytes that can hold the smaller of two
//! values: an offset in the largest direct block, and the maximum size of managed objects. Huge IDs
//! are direct if the fields fit the ID. The rest of an ID is zero. The specification gives the key
//! L bytes; actual files store the key as described above.

use super::FractalHeapHeader;
use crate::btree_v2::records::{BTreeV2Record, HugeObjectFiltered, HugeObjectRecord, HugeRecordContext};
use crate::codec::{Address, FileParams, FormatError, Reader, Result, Writer};

const NAME: &str = "fractal heap ID";
const MANAGED: u8 = 0;
const HUGE: u8 = 1;
const TINY: u8 = 2;
/// Length in bytes of the longest fractal heap ID in which the data of a tiny object have the short
/// form, with a length of four bits.
const MAX_SHORT_TINY_ID_BYTES: usize = 18;

/// The ID of an object of a fractal heap, which states the location of the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeapId {
    /// An object in a direct block.
    Managed {
        /// Offset of the object in the heap's address space.
        offset: u64,
        /// Size of the object in bytes.
        length: u64,
    },
    /// An object outside the heap's blocks. The heap's B-tree stores the address.
    HugeIndirect {
        /// Key of the object in the B-tree.
        key: u64,
    },
    /// An object outside the heap's blocks, with its address in the ID.
    HugeDirect {
        /// Address of the object.
        address: Address,
        /// Stored size of the object in bytes.
        length: u64,
        /// Filter information, in a heap with filters.
        filtered: Option<HugeObjectFiltered>,
    },
    /// An object inside the ID.
    Tiny {
        /// Bytes of the object.
        data: Vec<u8>,
    },
}

/// The layout of the object IDs of one fractal heap: the widths of their fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapIdLayout {
    params: FileParams,
    id_length: usize,
    offset_width: usize,
    length_width: usize,
    filtered: bool,
    huge_direct: bool,
}

impl HeapIdLayout {
    /// Computes the layout of the object IDs of the fractal heap with the header `header`.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if an ID is too short for managed objects, or if offsets
    /// exceed 64 bits.
    pub fn new(header: &FractalHeapHeader, params: FileParams) -> Result<Self> {
        let id_length = usize::from(header.id_length);
        let offset_width = usize::from(header.max_heap_bits).div_ceil(8);
        let bytes_for = |bits: u32| bits.div_ceil(8).max(1) as usize;
        let in_block = bytes_for(header.max_direct_size.checked_ilog2().unwrap_or(0));
        let in_managed = bytes_for(header.max_managed_size.checked_ilog2().unwrap_or(0) + 1);
        let length_width = in_block.min(in_managed);
        if offset_width > 8 || 1 + offset_width + length_width > id_length {
            let expected = format!("at least {}", 1 + offset_width + length_width);
            return Err(FormatError::corrupt("fractal heap header", "heap ID length", expected, id_length));
        }
        let filtered = header.filters.is_some();
        let direct = HugeRecordContext { params, indirect: false, filtered };
        let huge_direct = HugeObjectRecord::size(direct) < id_length;
        Ok(Self { params, id_length, offset_width, length_width, filtered, huge_direct })
    }

    /// Returns the length of an object ID of the fractal heap in bytes.
    pub fn id_length(&self) -> usize {
        self.id_length
    }

    /// Returns the layout of the records in the fractal heap's B-tree of huge objects.
    pub fn huge_records(&self) -> HugeRecordContext {
        HugeRecordContext { params: self.params, indirect: !self.huge_direct, filtered: self.filtered }
    }

    /// Returns the largest key of a huge object with an indirect ID. The key in the ID leads to the
    /// object's record in the fractal heap's B-tree.
    pub fn max_huge_key(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.key_width())
    }

    /// Returns the size of the largest tiny object of the fractal heap in bytes.
    pub fn max_tiny_size(&self) -> usize {
        if self.extended_tiny() { (self.id_length - 2).min(1 << 12) } else { (self.id_length - 1).min(16) }
    }

    fn extended_tiny(&self) -> bool {
        self.id_length > MAX_SHORT_TINY_ID_BYTES
    }

    fn key_width(&self) -> usize {
        (self.id_length - 1).min(8)
    }

    /// Decodes an object ID of a fractal heap. Bytes after the ID are ignored: a field may be
    /// longer than the heap's IDs.
    ///
    /// # Errors
    /// Returns an error if the ID is too short, or has an unknown type or version.
    pub fn decode(&self, bytes: &[u8]) -> Result<HeapId> {
        let mut reader = Reader::new(NAME, bytes.get(..self.id_length).unwrap_or(bytes));
        let first = reader.u8("version and type")?;
        if first >> 6 != 0 {
            return Err(reader.unsupported(format!("version {}", first >> 6)));
        }
        match (first >> 4) & 3 {
            MANAGED => Ok(HeapId::Managed {
                offset: reader.uint(self.offset_width, "offset")?,
                length: reader.uint(self.length_width, "length")?,
            }),
            HUGE if self.huge_direct => {
                let address = reader.offset(self.params, "address")?;
                let length = reader.length(self.params, "length")?;
                let filtered = if self.filtered {
                    let filter_mask = reader.u32("filter mask")?;
                    let memory_size = reader.length(self.params, "de-filtered size")?;
                    Some(HugeObjectFiltered { filter_mask, memory_size })
                } else {
                    None
                };
                Ok(HeapId::HugeDirect { address, length, filtered })
            }
            HUGE => Ok(HeapId::HugeIndirect { key: reader.uint(self.key_width(), "v2 B-tree key")? }),
            TINY => {
                let mut length = usize::from(first & 0x0f);
                if self.extended_tiny() {
                    length = length << 8 | usize::from(reader.u8("extended length")?);
                }
                Ok(HeapId::Tiny { data: reader.take(length + 1, "data")?.to_vec() })
            }
            other => Err(reader.corrupt("version and type", "type 0 to 2", other)),
        }
    }

    /// Encodes an object ID of a fractal heap to bytes.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if a value does not fit its field, or if the heap stores
    /// huge objects in the other form (direct or indirect).
    pub fn encode(&self, id: &HeapId) -> Result<Vec<u8>> {
        let mut writer = Writer::with_capacity(NAME, 16);
        match id {
            HeapId::Managed { offset, length } => {
                writer.u8(MANAGED << 4);
                writer.uint(self.offset_width, *offset, "offset");
                writer.uint(self.length_width, *length, "length");
            }
            HeapId::HugeIndirect { key } if !self.huge_direct => {
                writer.u8(HUGE << 4);
                writer.uint(self.key_width(), *key, "v2 B-tree key");
            }
            HeapId::HugeDirect { address, length, filtered }
                if self.huge_direct && filtered.is_some() == self.filtered =>
            {
                writer.u8(HUGE << 4);
                writer.offset(self.params, *address, "address");
                writer.length(self.params, *length, "length");
                if let Some(filtered) = filtered {
                    writer.u32(filtered.filter_mask);
                    writer.length(self.params, filtered.memory_size, "de-filtered size");
                }
            }
            HeapId::HugeIndirect { .. } | HeapId::HugeDirect { .. } => {
                writer.fail(
                    "version and type",
                    "a huge object in the form (direct or indirect) that the heap does not use",
                );
            }
            HeapId::Tiny { data } => self.write_tiny(&mut writer, data),
        }
        writer.pad_to(self.id_length, "data");
        writer.finish()
    }

    fn write_tiny(&self, writer: &mut Writer, data: &[u8]) {
        let Some(length) = data.len().checked_sub(1).filter(|_| data.len() <= self.max_tiny_size()) else {
            writer.fail("data", format_args!("{} bytes", data.len()));
            return;
        };
        let [low, high, ..] = length.to_le_bytes();
        if self.extended_tiny() {
            writer.u8(TINY << 4 | high);
        }
        writer.u8(if self.extended_tiny() { low } else { TINY << 4 | low });
        writer.bytes(data);
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::link_heap;
    use super::*;
    use crate::fractal_heap::FractalHeapFilters;
    use proptest::prelude::*;

    fn layout(id_length: u16, filtered: bool) -> HeapIdLayout {
        let filters = FractalHeapFilters { root_size: 0, root_mask: 0, pipeline: vec![1] };
        let header = FractalHeapHeader { id_length, filters: filtered.then_some(filters), ..link_heap() };
        HeapIdLayout::new(&header, FileParams::DEFAULT).unwrap()
    }

    fn same(layout: HeapIdLayout, id: &HeapId, bytes: &[u8]) {
        assert_eq!(&layout.decode(bytes).unwrap(), id);
        assert_eq!(layout.encode(id).unwrap(), bytes);
    }

    #[test]
    fn ids_of_links() {
        let short = layout(7, false);
        same(short, &HeapId::Managed { offset: 0x1234, length: 300 }, &[0, 0x34, 0x12, 0, 0, 0x2c, 1]);
        same(short, &HeapId::HugeIndirect { key: 5 }, &[0x10, 5, 0, 0, 0, 0, 0]);
        same(short, &HeapId::Tiny { data: b"abc".to_vec() }, b"\x22abc\0\0\0");
        assert_eq!((short.max_tiny_size(), short.max_huge_key()), (6, 0xffff_ffff_ffff));
        assert_eq!(short.huge_records().record_type(), 1);
        assert!(short.decode(&[0x30; 7]).is_err());
        assert!(short.decode(&[0x40; 7]).unwrap_err().to_string().contains("version 1"));
        assert!(short.decode(&[0x26; 7]).is_err());
        assert!(short.encode(&HeapId::Tiny { data: vec![] }).is_err());
        assert!(short.encode(&HeapId::Tiny { data: vec![1; 7] }).is_err());
        let direct = HeapId::HugeDirect { address: Address::new(1), length: 1, filtered: None };
        assert!(short.encode(&direct).is_err());
    }

    #[test]
    fn long_ids() {
        let direct = HeapId::HugeDirect { address: Address::new(0x1000), length: 300, filtered: None };
        let bytes = [&[0x10, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x2c, 1, 0, 0, 0, 0, 0, 0][..], &[0, 0, 0]].concat();
        same(layout(20, false), &direct, &bytes);
        let tiny = HeapId::Tiny { data: b"abc".to_vec() };
        same(layout(20, false), &tiny, &[&[0x20, 2][..], b"abc", &[0; 15]].concat());
        assert_eq!((layout(20, false).max_tiny_size(), layout(18, false).max_tiny_size()), (18, 16));
        let mut long = layout(300, true);
        assert_eq!(long.huge_records().record_type(), 4);
        let data = vec![7; 298];
        same(long, &HeapId::Tiny { data: data.clone() }, &[&[0x21, 0x29][..], &data].concat());
        long.id_length = 29;
        let filtered = Some(HugeObjectFiltered { filter_mask: 1, memory_size: 1000 });
        let id = HeapId::HugeDirect { address: Address::new(0x1000), length: 300, filtered };
        let mut bytes = [0; 29];
        bytes[..3].copy_from_slice(&[0x10, 0, 0x10]);
        bytes[9..11].copy_from_slice(&[0x2c, 1]);
        bytes[17] = 1;
        bytes[21..23].copy_from_slice(&[0xe8, 3]);
        same(long, &id, &bytes);
        assert!(!layout(28, true).huge_direct);
    }

    #[test]
    fn too_short() {
        let header = FractalHeapHeader { id_length: 6, ..link_heap() };
        assert!(HeapIdLayout::new(&header, FileParams::DEFAULT).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(id_length in 7_u16..40, filtered: bool, kind in 0..3, numbers in any::<(u32, u16, u32)>(), data in prop::collection::vec(any::<u8>(), 1..40)) {
            let layout = layout(id_length, filtered);
            let (large, small, mask) = numbers;
            let id = match kind {
                0 => HeapId::Managed { offset: large.into(), length: small.into() },
                1 if layout.huge_direct => HeapId::HugeDirect {
                    address: Address::new(large.into()),
                    length: small.into(),
                    filtered: filtered.then_some(HugeObjectFiltered { filter_mask: mask, memory_size: large.into() }),
                },
                1 => HeapId::HugeIndirect { key: large.into() },
                _ => HeapId::Tiny { data: data[..data.len().min(layout.max_tiny_size())].to_vec() },
            };
            let bytes = layout.encode(&id).unwrap();
            prop_assert_eq!(bytes.len(), usize::from(id_length));
            prop_assert_eq!(layout.decode(&bytes).unwrap(), id);
        }

        #[test]
        fn any_bytes(id_length in 7_u16..40, filtered: bool, bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            drop(layout(id_length, filtered).decode(&bytes));
        }
    }
}
