//! The bytes of metadata in a file, counted by owner and purpose.

use hyperslab_format::codec::Structure as _;
use hyperslab_format::shared_message::SharedMessageTable;

use crate::extents::BlockKind;
use crate::file::Checker;
use crate::totals::{add, end_of};

/// The owner of metadata bytes in the report: a kind of object, or the file itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Owner {
    /// The file itself: its superblock extension, shared messages and free-space managers.
    File,
    /// A group.
    Group,
    /// A dataset.
    Dataset,
    /// A committed datatype.
    Datatype,
    /// An object of another kind.
    Other,
}

/// The sizes of the metadata of an owner (a kind of object, or the file), by purpose. The
/// superblock and the variable-length data in the global heap are not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MetadataBytes {
    /// Object headers and their continuation blocks.
    pub headers: u64,
    /// Bytes of object headers that hold no message: NIL messages and gaps. Part of `headers`.
    pub unused_in_headers: u64,
    /// B-trees of links, and symbol table nodes.
    pub link_index: u64,
    /// Heaps of links or of link names, with all structures that belong to the heap.
    pub link_heap: u64,
    /// B-trees of attributes.
    pub attribute_index: u64,
    /// Heaps of attributes, with all structures that belong to the heap.
    pub attribute_heap: u64,
    /// Chunk indexes.
    pub chunk_index: u64,
    /// Heaps of the names of external files.
    pub external_heap: u64,
    /// Objects of the global heap with the mappings of virtual datasets.
    pub mappings: u64,
    /// The table of shared messages.
    pub shared_table: u64,
    /// Lists and B-trees of shared messages.
    pub shared_index: u64,
    /// Heaps of shared messages.
    pub shared_heap: u64,
    /// Free-space managers of the file, with their section lists.
    pub free_space_managers: u64,
}

impl MetadataBytes {
    /// Returns the sum of the owner's metadata sizes over all purposes, in bytes.
    pub fn total(&self) -> u64 {
        let parts = [
            self.headers,
            self.link_index,
            self.link_heap,
            self.attribute_index,
            self.attribute_heap,
            self.chunk_index,
            self.external_heap,
            self.mappings,
            self.shared_table,
            self.shared_index,
            self.shared_heap,
            self.free_space_managers,
        ];
        parts.into_iter().fold(0, end_of)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let Self { headers, unused_in_headers, link_index, link_heap, attribute_index, .. } = other;
        let Self { attribute_heap, chunk_index, external_heap, shared_table, shared_index, .. } = other;
        let parts = [
            (&mut self.headers, headers),
            (&mut self.unused_in_headers, unused_in_headers),
            (&mut self.link_index, link_index),
            (&mut self.link_heap, link_heap),
            (&mut self.attribute_index, attribute_index),
            (&mut self.attribute_heap, attribute_heap),
            (&mut self.chunk_index, chunk_index),
            (&mut self.external_heap, external_heap),
            (&mut self.shared_table, shared_table),
            (&mut self.shared_index, shared_index),
            (&mut self.mappings, &other.mappings),
            (&mut self.shared_heap, &other.shared_heap),
            (&mut self.free_space_managers, &other.free_space_managers),
        ];
        for (sum, more) in parts {
            add(sum, *more);
        }
    }
}

/// The purpose of the metadata blocks that the check is visiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Metadata of the file itself.
    File,
    Links,
    Attributes,
    ExternalFilesMessage,
    SharedMessages,
}

impl Checker {
    /// Runs `walk`, which visits metadata blocks, and counts their bytes for the purpose `purpose`.
    pub(crate) fn walking<T>(&mut self, purpose: Purpose, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.purpose, (purpose, false));
        let result = walk(self);
        self.purpose = before;
        result
    }

    /// Runs `walk`, which visits metadata blocks, and counts their bytes as bytes of a heap in the
    /// metadata totals.
    pub(crate) fn in_heap<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.purpose.1, true);
        let result = walk(self);
        self.purpose.1 = before;
        result
    }

    /// Adds the size of a metadata block to the metadata of the object under check.
    pub(crate) fn count_metadata(&mut self, structure: &str, length: u64, kind: BlockKind) {
        let (purpose, in_heap) = self.purpose;
        let bytes = &mut self.metadata;
        let counted = match kind {
            BlockKind::ObjectHeader => Some(&mut bytes.headers),
            BlockKind::GroupBTree | BlockKind::SymbolTableNode => Some(&mut bytes.link_index),
            BlockKind::ChunkIndex => Some(&mut bytes.chunk_index),
            BlockKind::SharedMessages if structure == SharedMessageTable::NAME => {
                Some(&mut bytes.shared_table)
            }
            BlockKind::SharedMessages => Some(&mut bytes.shared_index),
            BlockKind::BTreeV2 if !in_heap => match purpose {
                Purpose::Links => Some(&mut bytes.link_index),
                Purpose::Attributes => Some(&mut bytes.attribute_index),
                Purpose::SharedMessages => Some(&mut bytes.shared_index),
                Purpose::ExternalFilesMessage | Purpose::File => None,
            },
            BlockKind::FreeSpaceManager if !in_heap => Some(&mut bytes.free_space_managers),
            BlockKind::BTreeV2
            | BlockKind::FractalHeap
            | BlockKind::HugeObject
            | BlockKind::LocalHeap
            | BlockKind::FreeSpaceManager => match purpose {
                Purpose::Links => Some(&mut bytes.link_heap),
                Purpose::Attributes => Some(&mut bytes.attribute_heap),
                Purpose::ExternalFilesMessage => Some(&mut bytes.external_heap),
                Purpose::SharedMessages => Some(&mut bytes.shared_heap),
                Purpose::File => None,
            },
            _ => None,
        };
        if let Some(sum) = counted {
            add(sum, length);
        }
    }

    /// Counts `length` unused bytes of an object header: bytes without a message.
    pub(crate) fn unused_in_header(&mut self, length: usize) {
        let unused = &mut self.metadata.unused_in_headers;
        add(unused, length as u64);
    }

    /// Adds the metadata bytes that were counted since the last call to the totals of the owner
    /// `owner`.
    pub(crate) fn assign_metadata(&mut self, owner: Owner) {
        let counted = std::mem::take(&mut self.metadata);
        self.report.metadata.entry(owner).or_default().add(&counted);
    }
}
