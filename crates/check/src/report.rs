//! What a check found.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::extents::Kind;
use crate::metadata::{MetadataBytes, Owner};
use crate::show::Summary;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file contradicts the format.
    Fault,
    /// Worth knowing, and no fault.
    Remark,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The on-disk structure, in the specification's words.
    pub structure: &'static str,
    /// Where it lies, in bytes from the base address.
    pub address: Option<u64>,
    /// Path of the object that it belongs to; the bytes of names are taken as UTF-8.
    pub object: Option<String>,
    /// What is wrong with it, or worth knowing.
    pub text: String,
}

/// What blocks of one kind take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Number of blocks.
    pub blocks: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Usage {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.blocks += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// What an object has of the bytes of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectBytes {
    /// Its header, and what indexes its links, attributes and chunks.
    pub metadata: u64,
    /// Its chunks, or its block of contiguous raw data.
    pub raw: u64,
    /// Contents of variable length in the global heap, without the collections around them.
    pub heap: u64,
}

/// What a check found in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Name of the file.
    pub name: String,
    /// The findings in the order in which they were made; no more than
    /// [`max_findings`](crate::CheckOptions::max_findings).
    pub findings: Vec<Finding>,
    /// Number of faults, those that are not among the findings included.
    pub faults: u64,
    /// Number of remarks, those that are not among the findings included.
    pub remarks: u64,
    /// Things that could not be checked, as this version does not know them; each has a remark.
    pub unchecked: u64,
    /// Where address 0 lies in the file, in bytes: the size of the user block.
    pub base: u64,
    /// Where the file ends by its own account, in bytes from the base address.
    pub end: u64,
    /// Bytes that the file has from the base address on.
    pub length: u64,
    /// Objects that were reached.
    pub objects: u64,
    /// Chunks that were reached.
    pub chunks: u64,
    /// What the blocks of each kind take.
    pub usage: BTreeMap<Kind, Usage>,
    /// What metadata are for, and whose they are.
    pub metadata: BTreeMap<Owner, MetadataBytes>,
    /// Sections of free space that the file's managers hold ready: how many there are of each size.
    pub free_sections: BTreeMap<u64, u64>,
    /// Ranges of addresses before the end that nothing accounts for, ascending.
    pub leaked: Vec<Range<u64>>,
    /// Objects in the global heap that nothing refers to.
    pub leaked_heap_objects: Usage,
    /// What each object has, by the address of its header, if [`per_object`](crate::CheckOptions::per_object) was set.
    pub of_objects: HashMap<u64, ObjectBytes>,
}

impl Report {
    /// Whether there is no fault.
    pub fn is_sound(&self) -> bool {
        self.faults == 0
    }

    /// The counts, to be shown without the findings.
    pub fn summary_only(&self) -> Summary<'_> {
        Summary(self)
    }

    /// Bytes in all [`leaked`](Self::leaked) ranges.
    pub fn leaked_bytes(&self) -> u64 {
        self.leaked.iter().fold(0, |sum, range| sum.saturating_add(range.end.saturating_sub(range.start)))
    }

    /// What the blocks of one kind take.
    pub fn usage_of(&self, kind: Kind) -> Usage {
        self.usage.get(&kind).copied().unwrap_or_default()
    }

    /// The metadata of one kind of owner.
    pub fn metadata_of(&self, owner: Owner) -> MetadataBytes {
        self.metadata.get(&owner).copied().unwrap_or_default()
    }

    /// The faults among the findings.
    pub fn fault_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Fault)
    }

    /// Counts a finding.
    pub(crate) fn count(&mut self, severity: Severity) {
        let count = match severity {
            Severity::Fault => &mut self.faults,
            Severity::Remark => &mut self.remarks,
        };
        *count += 1;
    }
}
