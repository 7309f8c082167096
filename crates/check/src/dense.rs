//! Dense storage of links and attributes: two B-trees whose records must agree.

use hyperslab_format::codec::{Address, FormatError};

use crate::btree_v2;
use crate::extents::BlockKind;
use crate::file::Checker;

/// A record of an index of dense storage: the heap ID of a link, attribute or message, and the key
/// that orders the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) key: u64,
    pub(crate) id_bytes: [u8; 8],
    pub(crate) id_length: u8,
    /// Message flags, in the indexes of attributes.
    pub(crate) flags: u8,
    /// Creation order, in the index of attributes by name.
    pub(crate) order: u32,
}

impl Entry {
    /// Returns a record of a dense storage index for a heap object whose ID has at most 8 bytes.
    pub(crate) fn new(id: &[u8], key: u64) -> Self {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(id) {
            *to = *from;
        }
        Self { key, id_bytes: bytes, id_length: (id.len() as u64).min(8) as u8, flags: 0, order: 0 }
    }

    /// Returns the heap ID from this record of the dense storage index.
    pub(crate) fn id(&self) -> &[u8] {
        self.id_bytes.get(..usize::from(self.id_length)).unwrap_or(&self.id_bytes)
    }
}

/// Reads the records of the B-tree at `address` that indexes dense storage, and checks that their
/// keys ascend.
pub(crate) fn entries(
    checker: &mut Checker,
    address: Address,
    record_type: u8,
    read: impl Fn(&[u8]) -> Result<Entry, FormatError>,
) -> Option<Vec<Entry>> {
    let name = "version 2 B-tree";
    if !address.is_defined() {
        checker.fault(
            name,
            address,
            format!("the B-tree of record type {record_type} is missing from the dense storage"),
        );
        return None;
    }
    let tree = btree_v2::open(checker, address, &[record_type], BlockKind::BTreeV2)?;
    let mut entries: Vec<Entry> = Vec::new();
    tree.walk(checker, &mut |checker, bytes| {
        let Some(entry) = checker.decoded(name, address, read(bytes)) else { return };
        if let Some(last) = entries.last().filter(|last| last.key > entry.key) {
            checker.fault(
                name,
                address,
                format!(
                    "the B-tree key {:#x} follows the key {:#x}, expected ascending keys",
                    entry.key, last.key
                ),
            );
        }
        entries.push(entry);
    })?;
    Some(entries)
}

/// Checks that the two indexes of dense storage contain the same objects. One is the creation order
/// index at `address`, and the other one is the name index.
pub(crate) fn same(checker: &mut Checker, address: Address, mut found: Vec<Entry>, mut orders: Vec<Entry>) {
    let name = "version 2 B-tree";
    if let Some([one, _]) = orders.windows(2).find(|pair| matches!(pair, [one, next] if one.key == next.key))
    {
        checker.fault(name, address, format!("two records have the creation order {}", one.key));
    }
    checker.same(name, address, "records, as in the index by name", orders.len() as u64, found.len() as u64);
    found.sort_unstable_by_key(|entry| (entry.key, entry.id_bytes));
    orders.sort_unstable_by_key(|entry| (entry.key, entry.id_bytes));
    let differs =
        found.iter().zip(&orders).find(|(one, other)| (one.key, one.id_bytes) != (other.key, other.id_bytes));
    if let Some((one, other)) = differs {
        let text =
            format!("the indexes by name and by creation order disagree at {} and {}", one.key, other.key);
        checker.fault(name, address, text);
    }
}
