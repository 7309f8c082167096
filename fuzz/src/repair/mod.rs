//! Right checksums for whole files after changes: each structure is found by its signature or by
//! the structure that leads to it, and its length follows from the changed bytes, so that changed
//! lengths and counts get past the verification, too.
//!
//! Without a checksum of its own, or out of reach: direct blocks that passed filters, and chunks
//! whose checksum is not the last thing that was added to them.

mod arrays;
mod heaps;
mod journal;
mod raw;
mod trees;

use std::collections::HashSet;
use std::ops::Range;

use hyperslab_format::codec::{Address, FileParams, Structure};
use hyperslab_format::free_space::FreeSpaceHeader;
use hyperslab_format::message::{Continuation, Message, MessageType, SharedMessageTableMessage};
use hyperslab_format::object_header::{EnvelopeLayout, Envelopes, HeaderFlags, PrefixV1, PrefixV2};
use hyperslab_format::superblock::Superblock;

pub use journal::journal;
pub use raw::raw_seals;

use crate::seal;

/// Most checksums that one file gets.
const MOST_SEALS: usize = 1 << 14;

/// The structures that have a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Superblock,
    ObjectHeader,
    Continuation,
    TreeHeader,
    TreeInternal,
    TreeLeaf,
    HeapHeader,
    HeapDirect,
    HeapIndirect,
    FixedHeader,
    FixedData,
    FixedPage,
    ExtensibleHeader,
    ExtensibleIndex,
    ExtensibleSecondary,
    ExtensibleData,
    ExtensiblePage,
    FreeSpaceHeader,
    FreeSpaceSections,
    SharedTable,
    SharedList,
    CacheImage,
}

/// A checksum of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// The structure.
    pub kind: Kind,
    /// The bytes that the checksum covers, and its own.
    pub range: Range<usize>,
    /// Where the checksum lies in the file.
    pub place: usize,
}

/// Makes the checksums of `after` right, which was made from `before` by changes.
pub fn file(before: &[u8], after: &mut [u8]) {
    let seals = metadata(after);
    let is_sealed = |at: usize| seals.iter().any(|seal| seal.range.contains(&at));
    let changed = |(at, (was, is)): (usize, (&u8, &u8))| (was != is).then_some(at);
    let mut changes = before.iter().zip(after.iter()).enumerate().filter_map(changed);
    if changes.any(|at| !is_sealed(at)) {
        // The chunks that `before` has: `after` may have none that can be read.
        raw_seals(before).iter().for_each(|seal| seal.repair(after));
    }
}

/// Makes all checksums of metadata right and returns their places.
pub fn metadata(file: &mut [u8]) -> Vec<Seal> {
    let Some(mut repair) = Repair::new(file) else { return Vec::new() };
    repair.superblock();
    let mut images = Vec::new();
    for (start, signature) in repair.signatures() {
        let _ = match &signature {
            b"OHDR" => repair.object_header(start),
            b"BTHD" => repair.tree(start),
            b"FRHP" => repair.heap(start),
            b"FAHD" => repair.fixed_array(start),
            b"EAHD" => repair.extensible_array(start),
            b"FSHD" => repair.free_space(start),
            _ => {
                images.push(start);
                None
            }
        };
    }
    let _ = repair.extension();
    // The image holds copies of other structures.
    for start in images {
        let _ = repair.cache_image(start);
    }
    repair.seals
}

/// A file whose checksums are made right.
struct Repair<'a> {
    file: &'a mut [u8],
    /// Where addresses count from.
    base: usize,
    params: FileParams,
    superblock: Superblock,
    seals: Vec<Seal>,
    seen: HashSet<(usize, usize)>,
}

impl<'a> Repair<'a> {
    fn new(file: &'a mut [u8]) -> Option<Self> {
        let places = std::iter::successors(Some(0_usize), |at| Some((at * 2).max(512)));
        let mut places = places.take_while(|at| *at < file.len());
        let base = places.find(|at| file[*at..].starts_with(&Superblock::SIGNATURE))?;
        let superblock = Superblock::decode_ignoring_checksum(&file[base..])?;
        let params = superblock.params;
        Some(Self { file, base, params, superblock, seals: Vec::new(), seen: HashSet::new() })
    }

    /// Returns where blocks seem to begin.
    fn signatures(&self) -> Vec<(usize, [u8; 4])> {
        let known = |four: &[u8; 4]| {
            matches!(four, b"OHDR" | b"BTHD" | b"FRHP" | b"FAHD" | b"EAHD" | b"FSHD" | b"MDCI")
        };
        let windows = self.file.windows(4).enumerate();
        let fours = windows.filter_map(|(at, window)| Some((at, *window.first_chunk::<4>()?)));
        fours.filter(|(_, four)| known(four)).collect()
    }

    /// Returns the place in the file of an address.
    fn place(&self, address: Address) -> Option<usize> {
        usize::try_from(address.get()?).ok()?.checked_add(self.base)
    }

    /// Returns the address of a place in the file.
    fn address(&self, start: usize) -> Address {
        Address::new(start.saturating_sub(self.base) as u64)
    }

    /// Makes the checksum at the end of a block right; `None` if there is no such block, or it was
    /// sealed before.
    fn seal(&mut self, kind: Kind, start: usize, length: usize) -> Option<()> {
        let place = start.checked_add(length)?.checked_sub(4)?;
        self.seal_at(kind, start, length, place)
    }

    /// As [`seal`](Self::seal), with the checksum anywhere in the block.
    fn seal_at(&mut self, kind: Kind, start: usize, length: usize, place: usize) -> Option<()> {
        let range = start..start.checked_add(length)?;
        if length < 8 || self.seals.len() >= MOST_SEALS || !self.seen.insert((start, length)) {
            return None;
        }
        let block = self.file.get_mut(range.clone())?;
        if place + 4 == range.end {
            seal::seal(block);
        } else {
            seal::seal_within(block, place.checked_sub(start)?);
        }
        self.seals.push(Seal { kind, range, place });
        Some(())
    }

    /// Seals the block of a structure that takes all its bytes, and decodes it.
    fn block<T: Structure>(&mut self, kind: Kind, start: usize, context: &T::Context) -> Option<T> {
        let length = T::size(context);
        self.seal(kind, start, length)?;
        T::decode(self.file.get(start..start.checked_add(length)?)?, context).ok()
    }

    fn superblock(&mut self) {
        if matches!(self.file.get(self.base + 8), Some(2 | 3)) {
            let _ = self.seal(Kind::Superblock, self.base, 16 + 4 * self.params.offset_width());
        }
    }

    fn object_header(&mut self, start: usize) -> Option<()> {
        let prefix = PrefixV2::decode(&self.file[start..]).ok()?;
        let total = usize::try_from(prefix.chunk0_total()?).ok()?;
        self.seal(Kind::ObjectHeader, start, total)?;
        let creation_order = prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED);
        let (layout, params) = (EnvelopeLayout::V2 { creation_order }, self.params);
        let first = start + prefix.size()..start + total - 4;
        let mut pending = Vec::from_iter([first]);
        while let Some(range) = pending.pop() {
            let found = self.messages(range, layout, MessageType::CONTINUATION);
            for next in found.iter().filter_map(|body| Continuation::decode(body, params).ok()) {
                let (Some(start), Ok(length)) = (self.place(next.address), usize::try_from(next.length))
                else {
                    continue;
                };
                if self.seal(Kind::Continuation, start, length).is_some() {
                    pending.push(start + 4..start + length - 4);
                }
            }
        }
        Some(())
    }

    /// Returns the bodies of the messages of a type in one chunk of a header.
    fn messages(&self, range: Range<usize>, layout: EnvelopeLayout, kind: MessageType) -> Vec<Vec<u8>> {
        let Some(bytes) = self.file.get(range) else { return Vec::new() };
        let envelopes = Envelopes::new(bytes, layout).map_while(Result::ok);
        let wanted = envelopes.filter(|envelope| envelope.kind == kind);
        wanted.filter_map(|envelope| bytes.get(envelope.body).map(<[u8]>::to_vec)).collect()
    }

    /// Seals what the extension of the superblock leads to: the table of shared messages.
    fn extension(&mut self) -> Option<()> {
        let start = self.place(self.superblock.extension())?;
        let bytes = self.file.get(start..)?;
        let (range, layout) = if let Ok(prefix) = PrefixV2::decode(bytes) {
            let creation_order = prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED);
            let total = usize::try_from(prefix.chunk0_total()?).ok()?;
            let end = start.checked_add(total)?.checked_sub(4)?;
            (start + prefix.size()..end, EnvelopeLayout::V2 { creation_order })
        } else {
            let size = usize::try_from(PrefixV1::decode(bytes).ok()?.chunk0_size).ok()?;
            let first = start + PrefixV1::SIZE;
            (first..first.checked_add(size)?, EnvelopeLayout::V1)
        };
        for body in self.messages(range, layout, MessageType::SHARED_MESSAGE_TABLE) {
            let message = SharedMessageTableMessage::decode(&body, self.params).ok()?;
            self.shared_table(&message);
        }
        Some(())
    }

    fn free_space(&mut self, start: usize) -> Option<()> {
        let header: FreeSpaceHeader = self.block(Kind::FreeSpaceHeader, start, &{ self.params })?;
        let (list, used) = (self.place(header.list)?, usize::try_from(header.list_used).ok()?);
        self.seal(Kind::FreeSpaceSections, list, used)
    }

    fn cache_image(&mut self, start: usize) -> Option<()> {
        let width = self.params.length_width();
        let field = self.file.get(start.checked_add(6)?..)?.get(..width)?;
        let mut word = [0; 8];
        let shown = width.min(8);
        word[..shown].copy_from_slice(&field[..shown]);
        self.seal(Kind::CacheImage, start, usize::try_from(u64::from_le_bytes(word)).ok()?)
    }
}
