//! Layout of version 2 B-tree nodes, derived from the header: the number of records per node at
//! each level, and the widths of the counts in child pointers (File Format Specification, section
//! III.A.2).
//!
//! ```text
//! overhead of a node    signature (4), version (1), type (1), checksum (4)
//! pointer at level u    address (O), records in the child (w), records in the child and its
//!                       subtree (t, none at level 1)
//! max[0]                (node size - overhead) / record size
//! max[u]                (node size - overhead - pointer) / (record size + pointer)
//! below[0]              max[0]
//! below[u]              (max[u] + 1) * below[u-1] + max[u]
//! w                     bytes to hold max[0], at every level
//! t at level u          bytes to hold below[u-1]
//! ```
//!
//! The specification derives w from the child's level and gives a product for `below`. Actual files
//! follow the formulas above.

use hyperslab_exact::{to_u64, to_usize};

use super::{BTreeV2Header, BTreeV2InternalContext, BTreeV2LeafContext};
use crate::codec::{FileParams, FormatError, Result, Structure};

/// Number of bytes of a version 2 B-tree node for signature, version, type and checksum. Records
/// and pointers take further bytes.
pub(super) const OVERHEAD_BYTES: usize = 10;
/// Largest depth of a version 2 B-tree that decoders accept. With at least two records per node, a
/// tree of 64 levels holds more than 2^64 records.
const MAX_DEPTH: u16 = 64;

/// Sizes and capacities of the nodes of one version 2 B-tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTreeV2Layout {
    params: FileParams,
    record_type: u8,
    record_size: usize,
    node_size: usize,
    depth: u16,
    count_width: usize,
    levels: Vec<Level>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Level {
    max_records: u64,
    max_below: u64,
    total_width: usize,
}

/// Returns the width in bytes of a field in a version 2 B-tree node. The field must hold every
/// number up to `limit`.
fn width_for(limit: u64) -> usize {
    limit.max(1).ilog2() as usize / 8 + 1
}

impl BTreeV2Layout {
    /// Computes the node layout of the version 2 B-tree with the header `header`.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if a node is too small for one record, or if the depth
    /// exceeds 64.
    pub fn new(header: &BTreeV2Header, params: FileParams) -> Result<Self> {
        let corrupt = |field, expected: String, got: u64| {
            Err(FormatError::corrupt(BTreeV2Header::NAME, field, expected, got))
        };
        if header.record_size == 0 {
            return corrupt("record size", "at least 1".into(), 0);
        }
        if header.depth > MAX_DEPTH {
            return corrupt("depth", format!("at most {MAX_DEPTH}"), header.depth.into());
        }
        let mut layout = Self {
            params,
            record_type: header.record_type,
            record_size: usize::from(header.record_size),
            node_size: to_usize(header.node_size.into())?,
            depth: header.depth,
            count_width: 0,
            levels: Vec::with_capacity(usize::from(header.depth) + 1),
        };
        for level in 0..=header.depth {
            let below = layout.levels.last().copied();
            let total_width = if level > 1 { below.map_or(0, |child| width_for(child.max_below)) } else { 0 };
            let pointer =
                if level > 0 { params.offset_width() + layout.count_width + total_width } else { 0 };
            let payload = layout.node_size.checked_sub(OVERHEAD_BYTES + pointer);
            let max_records = payload.map_or(0, |bytes| to_u64(bytes / (layout.record_size + pointer)));
            if max_records == 0 {
                return corrupt(
                    "node size",
                    format!("enough bytes for a record at level {level}"),
                    header.node_size.into(),
                );
            }
            let max_below = match below {
                None => max_records,
                Some(child) => {
                    // Saturates: a bound above 64 bits excludes no 64-bit count.
                    max_records.saturating_add(1).saturating_mul(child.max_below).saturating_add(max_records)
                }
            };
            if level == 0 {
                layout.count_width = width_for(max_records);
            }
            layout.levels.push(Level { max_records, max_below, total_width });
        }
        Ok(layout)
    }

    /// Returns the depth of the version 2 B-tree: the number of levels of internal nodes. The root
    /// is at this level; leaves are at level 0.
    pub fn depth(&self) -> u16 {
        self.depth
    }

    /// Returns the size of a node of the version 2 B-tree in bytes.
    pub fn node_size(&self) -> usize {
        self.node_size
    }

    /// Returns the size of a record of the version 2 B-tree in bytes.
    pub fn record_size(&self) -> usize {
        self.record_size
    }

    /// Returns the largest number of records in one node of a version 2 B-tree at `level`. Returns
    /// 0 if the tree has no such level.
    pub fn max_records(&self, level: u16) -> u64 {
        self.level(level).map_or(0, |level| level.max_records)
    }

    /// Returns the largest number of records in a subtree of a version 2 B-tree: in a node at
    /// `level` and all nodes below it. Returns `u64::MAX` if the number exceeds 64 bits.
    pub fn max_records_below(&self, level: u16) -> u64 {
        self.level(level).map_or(0, |level| level.max_below)
    }

    fn level(&self, level: u16) -> Option<&Level> {
        self.levels.get(usize::from(level))
    }

    /// Returns the layout parameters of a version 2 B-tree leaf with `records` records. Decoding
    /// and encoding of the leaf require these parameters.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if a leaf cannot hold that many records.
    pub fn leaf(&self, records: u64) -> Result<BTreeV2LeafContext> {
        Ok(BTreeV2LeafContext {
            record_type: self.record_type,
            record_size: self.record_size,
            node_size: self.node_size,
            records: self.checked_records(0, records)?,
        })
    }

    /// Returns the layout parameters of an internal node of a version 2 B-tree, at `level` (1 and
    /// up) and with `records` records. Decoding and encoding of the node require these parameters.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if the node cannot hold that many records, or if the tree
    /// has no such level.
    pub fn internal(&self, level: u16, records: u64) -> Result<BTreeV2InternalContext> {
        let records = self.checked_records(level, records)?;
        let (Some(this), Some(child)) = (self.level(level), level.checked_sub(1).and_then(|l| self.level(l)))
        else {
            return Err(FormatError::corrupt(
                BTreeV2Header::NAME,
                "depth",
                "a level of internal nodes",
                level,
            ));
        };
        Ok(BTreeV2InternalContext {
            params: self.params,
            record_type: self.record_type,
            record_size: self.record_size,
            node_size: self.node_size,
            records,
            count_width: self.count_width,
            total_width: this.total_width,
            max_child_records: child.max_records,
            max_child_total: child.max_below,
        })
    }

    fn checked_records(&self, level: u16, records: u64) -> Result<usize> {
        let maximum = self.max_records(level);
        match usize::try_from(records) {
            Ok(count) if records <= maximum => Ok(count),
            _ => Err(FormatError::corrupt(
                "version 2 B-tree node",
                "number of records",
                format!("at most {maximum} at level {level}"),
                records,
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Address;

    fn header(node_size: u32, record_size: u16, depth: u16) -> BTreeV2Header {
        BTreeV2Header {
            version: 0,
            record_type: 5,
            node_size,
            record_size,
            depth,
            split_percent: 100,
            merge_percent: 40,
            root: Address::new(0),
            root_records: 1,
            total_records: 1,
        }
    }

    #[test]
    fn link_name_tree() {
        // 512-byte nodes of 11-byte records: 45 records in a leaf, (512-10-9)/(11+9) = 24 at level
        // 1. At level 2, t must hold 25*45+24 = 1149 and takes two bytes: (512-10-11)/(11+11) = 22.
        let layout = BTreeV2Layout::new(&header(512, 11, 2), FileParams::DEFAULT).unwrap();
        assert_eq!([0, 1, 2, 3].map(|level| layout.max_records(level)), [45, 24, 22, 0]);
        assert_eq!([0, 1, 2].map(|level| layout.max_records_below(level)), [45, 1149, 23 * 1149 + 22]);
        let twig = layout.internal(1, 24).unwrap();
        assert_eq!((twig.count_width, twig.total_width, twig.max_child_records), (1, 0, 45));
        let root = layout.internal(2, 22).unwrap();
        assert_eq!((root.count_width, root.total_width, root.max_child_total), (1, 2, 1149));
        assert_eq!(layout.leaf(45).unwrap().records, 45);
    }

    #[test]
    fn refusals() {
        let layout = BTreeV2Layout::new(&header(512, 11, 1), FileParams::DEFAULT).unwrap();
        assert!(layout.leaf(46).is_err());
        assert!(layout.internal(1, 25).is_err());
        assert!(layout.internal(0, 1).is_err());
        assert!(layout.internal(2, 1).is_err());
        for bad in [header(512, 0, 0), header(512, 11, 65), header(20, 11, 0), header(30, 11, 1)] {
            assert!(BTreeV2Layout::new(&bad, FileParams::DEFAULT).is_err(), "{bad:?}");
        }
        // A total above 64 bits is not an error by itself.
        let deep = BTreeV2Layout::new(&header(1 << 20, 8, 64), FileParams::DEFAULT).unwrap();
        assert_eq!(deep.max_records_below(64), u64::MAX);
    }
}
