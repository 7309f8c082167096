//! Results of a check.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::extents::BlockKind;
use crate::metadata::{MetadataBytes, Owner};
use crate::show::Summary;
use crate::totals::add;

/// The severity of a finding of the check: a fault (the file contradicts the format) or a remark (a
/// fact that is not a fault).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file contradicts the format.
    Fault,
    /// A noteworthy fact that is not a fault.
    Remark,
}

/// A finding of the check of a file: a fault (the file contradicts the format), or a remark (a fact
/// that is not a fault).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The on-disk structure, in the specification's words.
    pub structure: &'static str,
    /// The address of the structure, in bytes from the base address.
    pub address: Option<u64>,
    /// The path of the object to which the structure belongs. Names are decoded as UTF-8.
    pub object: Option<String>,
    /// The description of the fault or of the fact.
    pub text: String,
}

/// The number and the total size of the file's blocks of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Number of blocks.
    pub blocks: u64,
    /// Sum of the blocks' sizes, in bytes.
    pub bytes: u64,
}

impl Usage {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.blocks += 1;
        add(&mut self.bytes, bytes);
    }
}

/// The bytes of the file that belong to one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectBytes {
    /// The object header, and the indexes of links, attributes and chunks.
    pub metadata: u64,
    /// The chunks or the contiguous raw data.
    pub raw: u64,
    /// Variable-length data in the global heap, without the headers of collections and heap
    /// objects.
    pub heap: u64,
}

/// The report of a check of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Name of the file.
    pub name: String,
    /// The findings in the order of the check, at most
    /// [`max_findings`](crate::CheckOptions::max_findings).
    pub findings: Vec<Finding>,
    /// Number of all faults, including faults that `findings` omits.
    pub faults: u64,
    /// Number of all remarks, including remarks that `findings` omits.
    pub remarks: u64,
    /// Number of structures that this version cannot check. Each has a remark.
    pub unchecked: u64,
    /// Offset of address 0 in the file, in bytes: the size of the user block.
    pub base: u64,
    /// The end of file that the superblock states, in bytes from the base address.
    pub end: u64,
    /// Length of the file from the base address, in bytes.
    pub length: u64,
    /// Number of objects that links lead to.
    pub objects: u64,
    /// Number of chunks in all chunk indexes.
    pub chunks: u64,
    /// Number and size of the blocks of each kind.
    pub usage: BTreeMap<BlockKind, Usage>,
    /// Metadata bytes by owner and purpose.
    pub metadata: BTreeMap<Owner, MetadataBytes>,
    /// Free-space sections of the file's free-space managers: the number of sections of each size.
    pub free_sections: BTreeMap<u64, u64>,
    /// Ranges of addresses before `end` that no block claims, ascending.
    pub leaked: Vec<Range<u64>>,
    /// The number of objects in the global heap to which no element refers.
    pub leaked_heap_objects: Usage,
    /// Bytes of each object, by the address of the object header. Empty unless
    /// [`per_object`](crate::CheckOptions::per_object) is set.
    pub of_objects: HashMap<u64, ObjectBytes>,
}

impl Report {
    /// Returns true if the check of the file found no fault.
    pub fn is_sound(&self) -> bool {
        self.faults == 0
    }

    /// Returns a displayable summary of the check report: the counts without the findings.
    pub fn summary_only(&self) -> Summary<'_> {
        Summary(self)
    }

    /// Returns the total size in bytes of all leaked ranges of the file: ranges that no block uses.
    pub fn leaked_bytes(&self) -> u64 {
        self.leaked.iter().map(|range| range.end - range.start).sum()
    }

    /// Returns the number and the total size of the file's blocks of one kind.
    pub fn usage_of(&self, kind: BlockKind) -> Usage {
        self.usage.get(&kind).copied().unwrap_or_default()
    }

    /// Returns the sizes of the metadata that one kind of owner (a kind of object, or the file)
    /// has.
    pub fn metadata_of(&self, owner: Owner) -> MetadataBytes {
        self.metadata.get(&owner).copied().unwrap_or_default()
    }

    /// Returns an iterator over the findings of the report that are faults.
    pub fn fault_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Fault)
    }

    /// Counts a finding of the given severity in the totals of the report.
    pub(crate) fn count(&mut self, severity: Severity) {
        let count = match severity {
            Severity::Fault => &mut self.faults,
            Severity::Remark => &mut self.remarks,
        };
        *count += 1;
    }
}
