//! Superblock, versions 0 to 3 (section II.A).
//!
//! ```text
//! versions 0 and 1                                     versions 2 and 3
//! off size field                                       off size field
//! 0   8    signature 89 48 44 46 0d 0a 1a 0a           0   8    signature
//! 8   1    version                                     8   1    version
//! 9   1    version of the free-space storage = 0       9   1    size of offsets O
//! 10  1    version of the root symbol table entry = 0  10  1    size of lengths L
//! 11  1    reserved                                    11  1    file consistency flags
//! 12  1    version of the shared message format = 0    12  O    base address
//! 13  1    size of offsets O                           ..  O    superblock extension address
//! 14  1    size of lengths L                           ..  O    end of file address
//! 15  1    reserved                                    ..  O    root group object header address
//! 16  2    group leaf node K                           ..  4    checksum
//! 18  2    group internal node K
//! 20  4    file consistency flags
//! 24  2    indexed storage internal node K (version 1)
//! 26  2    reserved (version 1)
//! ..  O    base address
//! ..  O    address of file free-space info
//! ..  O    end of file address
//! ..  O    driver information block address
//! ..  ..   root group symbol table entry
//! ```

use bitflags::bitflags;

use crate::codec::{Address, CHECKSUM_SIZE, FileParams, FormatError, Reader, Result, Writer, checksum};
use crate::symbol_table_entry::SymbolTableEntry;

const NAME: &str = "superblock";

bitflags! {
    /// The status flags of superblock versions 2 and 3, "file consistency flags" in the
    /// specification. Bit 2 is valid only in version 3.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct ConsistencyFlags: u32 {
        /// A status flag of a superblock: a writer has the file open, or the last writer did not
        /// close the file.
        const WRITE_ACCESS = 1 << 0;
        /// A status flag of a superblock: a program has verified that the file is consistent.
        /// libhdf5 never sets this flag.
        const CONSISTENT = 1 << 1;
        /// A status flag of a superblock: a SWMR writer has the file open. Readers may read the
        /// file at the same time.
        const SWMR_ACCESS = 1 << 2;
    }
}

/// The superblock of a file: sizes of addresses and lengths, the addresses of the first structures,
/// and the status flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Superblock {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Status flags.
    pub consistency: ConsistencyFlags,
    /// Base address: the offset in the file from which addresses count, in bytes.
    pub base_address: u64,
    /// First address after all stored data; undefined in files of some writers.
    pub end_of_file: Address,
    /// Version with version-specific fields.
    pub version: SuperblockVersion,
}

/// The fields of a superblock that differ between superblock versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuperblockVersion {
    /// Versions 0 and 1.
    Old(OldSuperblock),
    /// Versions 2 and 3.
    New {
        /// Version: 2 or 3.
        version: u8,
        /// Address of the superblock extension's object header, or undefined.
        extension: Address,
        /// Address of the root group's object header.
        root: Address,
    },
}

/// The additional fields of superblock versions 0 and 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldSuperblock {
    /// K of chunk B-trees. Only version 1 stores this value; version 0 implies 32.
    pub indexed_storage_k: Option<u16>,
    /// Half the capacity of a symbol table node, in entries.
    pub group_leaf_k: u16,
    /// Half the capacity of a group's B-tree node, in children.
    pub group_internal_k: u16,
    /// Address of the free-space information (never used).
    pub free_space: Address,
    /// Address of the driver information block, or undefined.
    pub driver_info: Address,
    /// Symbol table entry of the root group.
    pub root: SymbolTableEntry,
}

impl Superblock {
    /// Signature at the start of the superblock, which is the start of the file or follows the user
    /// block.
    pub const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";
    /// Largest size of a superblock in bytes, with addresses and lengths of 32 bytes. With 8-byte
    /// addresses and lengths, the largest size is 100 bytes.
    pub const MAX_SIZE: usize = 28 + 32 * 4 + 32 * 2 + 24;
    /// The default K value of a group's symbol table nodes, for superblocks that do not store it. K
    /// is half the number of entries of a full node.
    pub const DEFAULT_GROUP_LEAF_K: u16 = 4;
    /// The default K value of a group's B-tree, for superblocks that do not store it. K is half the
    /// number of entries of a full node.
    pub const DEFAULT_GROUP_INTERNAL_K: u16 = 16;
    /// The default K value of the B-trees of chunks, for superblocks that do not store it. K is
    /// half the number of entries of a full node.
    pub const DEFAULT_INDEXED_STORAGE_K: u16 = 32;

    /// Returns the version number of the superblock.
    pub fn version_number(&self) -> u8 {
        match &self.version {
            SuperblockVersion::Old(old) => u8::from(old.indexed_storage_k.is_some()),
            SuperblockVersion::New { version, .. } => *version,
        }
    }

    /// Returns the address of the root group's object header, which the superblock states.
    pub fn root(&self) -> Address {
        match &self.version {
            SuperblockVersion::Old(old) => old.root.header,
            SuperblockVersion::New { root, .. } => *root,
        }
    }

    /// Returns the address of the superblock extension's object header. The address is undefined in
    /// superblock versions 0 and 1.
    pub fn extension(&self) -> Address {
        match &self.version {
            SuperblockVersion::Old(_) => Address::UNDEFINED,
            SuperblockVersion::New { extension, .. } => *extension,
        }
    }

    /// Decodes the superblock at the start of `bytes` and ignores later bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut r = Reader::new(NAME, bytes);
        let signature: [u8; 8] = r.array("signature")?;
        if signature != Self::SIGNATURE {
            return Err(r.corrupt("signature", "\\x89HDF\\r\\n\\x1a\\n", signature.escape_ascii()));
        }
        match r.version(&[0, 1, 2, 3])? {
            version @ (0 | 1) => decode_old(r, version),
            version => decode_new(r, version),
        }
    }

    /// Decodes the superblock like [`decode`](Self::decode), but ignores the checksum.
    pub fn decode_ignoring_checksum(bytes: &[u8]) -> Option<Self> {
        let mut bytes = bytes.to_vec();
        if matches!(bytes.get(8), Some(2 | 3)) {
            let end = usize::from(*bytes.get(9)?).checked_mul(4)?.checked_add(12)?;
            let (content, stored_sum) = bytes.split_at_mut_checked(end)?;
            stored_sum.first_chunk_mut::<CHECKSUM_SIZE>()?.copy_from_slice(&checksum(content).to_le_bytes());
        }
        Self::decode(&bytes).ok()
    }

    /// Creates a substitute superblock for a file of `length` bytes whose superblock is lost. The
    /// substitute has no root group.
    pub fn unknown(params: FileParams, length: u64) -> Self {
        let none = Address::UNDEFINED;
        Self {
            params,
            consistency: ConsistencyFlags::empty(),
            base_address: 0,
            end_of_file: Address::new(length),
            version: SuperblockVersion::New { version: 2, extension: none, root: none },
        }
    }

    /// Encodes the superblock, including the checksum in versions 2 and 3.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut w = Writer::new(NAME);
        w.bytes(&Self::SIGNATURE);
        w.u8(self.version_number());
        match &self.version {
            SuperblockVersion::Old(old) => self.encode_old(&mut w, old),
            SuperblockVersion::New { extension, root, .. } => {
                w.u8(self.params.size_of_offsets);
                w.u8(self.params.size_of_lengths);
                w.uint(1, u64::from(self.consistency.bits()), "file consistency flags");
                w.uint(self.params.offset_width(), self.base_address, "base address");
                w.offset(self.params, *extension, "superblock extension address");
                w.offset(self.params, self.end_of_file, "end of file address");
                w.offset(self.params, *root, "root group object header address");
                w.checksum();
            }
        }
        w.finish()
    }

    fn encode_old(&self, w: &mut Writer, old: &OldSuperblock) {
        w.zeros(4);
        w.u8(self.params.size_of_offsets);
        w.u8(self.params.size_of_lengths);
        w.u8(0);
        w.u16(old.group_leaf_k);
        w.u16(old.group_internal_k);
        w.u32(self.consistency.bits());
        if let Some(k) = old.indexed_storage_k {
            w.u16(k);
            w.zeros(2);
        }
        w.uint(self.params.offset_width(), self.base_address, "base address");
        w.offset(self.params, old.free_space, "address of file free-space info");
        w.offset(self.params, self.end_of_file, "end of file address");
        w.offset(self.params, old.driver_info, "driver information block address");
        old.root.write(w, self.params);
    }
}

fn decode_params(r: &mut Reader<'_>) -> Result<FileParams> {
    let size_of_offsets = decode_width(r, "size of offsets")?;
    let size_of_lengths = decode_width(r, "size of lengths")?;
    Ok(FileParams { size_of_offsets, size_of_lengths })
}

fn decode_width(r: &mut Reader<'_>, field: &'static str) -> Result<u8> {
    match r.u8(field)? {
        width @ (2 | 4 | 8 | 16 | 32) => Ok(width),
        other => Err(r.corrupt(field, "2, 4, 8, 16 or 32", other)),
    }
}

fn decode_base(r: &mut Reader<'_>, params: FileParams) -> Result<u64> {
    let base = r.offset(params, "base address")?;
    base.get().ok_or_else(|| r.corrupt("base address", "a defined address", "undefined"))
}

fn decode_old(mut r: Reader<'_>, version: u8) -> Result<Superblock> {
    for field in ["version of the free-space storage", "version of the root symbol table entry"] {
        expect_zero(&mut r, field)?;
    }
    r.skip(1, "reserved")?;
    expect_zero(&mut r, "version of the shared message format")?;
    let params = decode_params(&mut r)?;
    r.skip(1, "reserved")?;
    let group_leaf_k = decode_k(&mut r, "group leaf node K")?;
    let group_internal_k = decode_k(&mut r, "group internal node K")?;
    let consistency = ConsistencyFlags::from_bits_retain(r.u32("file consistency flags")?);
    let mut indexed_storage_k = None;
    if version == 1 {
        indexed_storage_k = Some(decode_k(&mut r, "indexed storage internal node K")?);
        r.skip(2, "reserved")?;
    }
    let base_address = decode_base(&mut r, params)?;
    let free_space = r.offset(params, "address of file free-space info")?;
    let end_of_file = r.offset(params, "end of file address")?;
    let driver_info = r.offset(params, "driver information block address")?;
    let root = SymbolTableEntry::read(&mut r, params)?;
    let old =
        OldSuperblock { indexed_storage_k, group_leaf_k, group_internal_k, free_space, driver_info, root };
    Ok(Superblock { params, consistency, base_address, end_of_file, version: SuperblockVersion::Old(old) })
}

fn expect_zero(r: &mut Reader<'_>, field: &'static str) -> Result<(), FormatError> {
    match r.u8(field)? {
        0 => Ok(()),
        other => Err(r.unsupported(format!("{field} {other}"))),
    }
}

fn decode_k(r: &mut Reader<'_>, field: &'static str) -> Result<u16> {
    match r.u16(field)? {
        0 => Err(r.corrupt(field, "a positive number", 0)),
        k => Ok(k),
    }
}

fn decode_new(mut r: Reader<'_>, version: u8) -> Result<Superblock> {
    let params = decode_params(&mut r)?;
    let consistency = ConsistencyFlags::from_bits_retain(u32::from(r.u8("file consistency flags")?));
    let base_address = decode_base(&mut r, params)?;
    let extension = r.offset(params, "superblock extension address")?;
    let end_of_file = r.offset(params, "end of file address")?;
    let root = r.offset(params, "root group object header address")?;
    r.checksum()?;
    let version = SuperblockVersion::New { version, extension, root };
    Ok(Superblock { params, consistency, base_address, end_of_file, version })
}
