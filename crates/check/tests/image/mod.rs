//! Files in memory with targeted damage: a test changes one block and updates the block's checksum.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;

use hyperslab_check::{CheckOptions, Report, check};
use hyperslab_format::btree_v2::BTreeV2Header;
use hyperslab_format::codec::{FileParams, Reader, Structure, checksum};
use hyperslab_format::message::MessageType;
use hyperslab_format::object_header::{EnvelopeLayout, Envelopes, HeaderFlags, PrefixV1, PrefixV2};
use hyperslab_testkit::fixtures;
use hyperslab_vfd::Core;

pub(crate) const PARAMS: FileParams = FileParams::DEFAULT;

/// A copy of a fixture.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
}

impl Image {
    pub(crate) fn of(fixture: &str) -> Self {
        Self { bytes: std::fs::read(fixtures::path(fixture)).unwrap() }
    }

    pub(crate) fn check(&self) -> Report {
        let driver = Core::from_vec("image", self.bytes.clone());
        let options = CheckOptions { decode_chunks: true, ..CheckOptions::default() };
        check(Arc::new(driver), &options).unwrap()
    }

    /// Returns the 8-byte number at `at`, as an offset in the file.
    pub(crate) fn address(&self, at: usize) -> usize {
        usize::try_from(Reader::new("image", &self.bytes[at..]).u64("address").unwrap()).unwrap()
    }

    /// Returns the offsets of a signature, ascending. Some may lie in unused space.
    pub(crate) fn places(&self, signature: &str) -> Vec<usize> {
        let window = signature.len();
        (0..=self.bytes.len() - window)
            .filter(|at| &self.bytes[*at..*at + window] == signature.as_bytes())
            .collect()
    }

    /// Changes the block at `at`, and updates the block's checksum if there is one.
    pub(crate) fn change<T: Structure>(
        &mut self,
        at: usize,
        context: &T::Context,
        change: impl FnOnce(&mut T),
    ) {
        let size = T::size(context);
        let mut block = T::decode(&self.bytes[at..at + size], context).unwrap();
        change(&mut block);
        let image = block.encode(context).unwrap();
        self.bytes[at..at + image.len()].copy_from_slice(&image);
    }

    /// Returns the blocks with this signature that can be decoded and are in use, with their
    /// offsets.
    pub(crate) fn blocks<T: Structure>(&self, signature: &str, context: &T::Context) -> Vec<(usize, T)> {
        let size = T::size(context);
        let decode = |at: usize| Some((at, T::decode(self.bytes.get(at..at + size)?, context).ok()?));
        self.places(signature).into_iter().filter_map(decode).filter(|(at, _)| self.in_use(*at)).collect()
    }

    /// Returns true if the check notices damage at `at`.
    fn in_use(&self, at: usize) -> bool {
        let mut image = self.clone();
        image.bytes[at] ^= 0xff;
        !image.check().is_sound()
    }

    /// Returns the leaves of version 2 B-trees with records of the given type: offset, bytes of a
    /// record, number of records.
    pub(crate) fn leaves(&self, record_type: u8) -> Vec<(usize, usize, usize)> {
        let headers = self.blocks::<BTreeV2Header>("BTHD", &PARAMS);
        let mut sizes: Vec<usize> = headers
            .iter()
            .filter(|(_, header)| header.record_type == record_type)
            .map(|(_, header)| header.record_size.into())
            .collect();
        sizes.dedup();
        let count = |at: usize, size: usize| {
            (1..200).find(|count| {
                let end = at + 6 + count * size;
                self.bytes
                    .get(end..end + 4)
                    .is_some_and(|sum| sum == checksum(&self.bytes[at..end]).to_le_bytes())
            })
        };
        let leaves = self.places("BTLF").into_iter().filter(|at| self.bytes[at + 5] == record_type);
        leaves
            .filter(|at| self.in_use(*at))
            .filter_map(|at| sizes.iter().find_map(|size| Some((at, *size, count(at, *size)?))))
            .collect()
    }

    /// Writes bytes into a block of `size` bytes that ends with its checksum, and updates the
    /// checksum.
    pub(crate) fn patch(&mut self, block: usize, size: usize, offset: usize, bytes: &[u8]) {
        self.bytes[block + offset..block + offset + bytes.len()].copy_from_slice(bytes);
        let sum = checksum(&self.bytes[block..block + size - 4]).to_le_bytes();
        self.bytes[block + size - 4..block + size].copy_from_slice(&sum);
    }

    /// Returns the bodies of messages of one kind: offset of the header, bytes of the header with
    /// its checksum, offset of the body in the header.
    pub(crate) fn messages(&self, kind: MessageType) -> Vec<(usize, usize, usize)> {
        let mut found = Vec::new();
        for at in self.places("OHDR") {
            let Ok(prefix) = PrefixV2::decode(&self.bytes[at..]) else { continue };
            let size = usize::try_from(prefix.chunk0_total().unwrap()).unwrap();
            let Some(Ok(messages)) = self.bytes.get(at..at + size).map(|chunk| prefix.messages(chunk)) else {
                continue;
            };
            let creation_order = prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED);
            for envelope in Envelopes::new(messages, EnvelopeLayout::V2 { creation_order }).flatten() {
                if envelope.kind == kind {
                    found.push((at, size, prefix.size() + envelope.body.start));
                }
            }
        }
        found
    }

    /// Returns the bodies of messages of one kind in the version 1 header at `at`, as offsets in
    /// the file.
    pub(crate) fn old_messages(&self, at: usize, kind: MessageType) -> Vec<usize> {
        let prefix = PrefixV1::decode(&self.bytes[at..]).unwrap();
        let start = at + PrefixV1::SIZE;
        let messages = &self.bytes[start..start + usize::try_from(prefix.chunk0_size).unwrap()];
        let envelopes = Envelopes::new(messages, EnvelopeLayout::V1).flatten();
        envelopes
            .filter(|envelope| envelope.kind == kind)
            .map(|envelope| start + envelope.body.start)
            .collect()
    }

    /// Asserts that the check finds the given fault. Other faults that follow from the same damage
    /// may be found too.
    #[track_caller]
    pub(crate) fn has(&self, structure: &str, text: &str) {
        let report = self.check();
        let found =
            report.fault_findings().any(|fault| fault.structure == structure && fault.text.contains(text));
        assert!(found, "no `{structure}: …{text}…` in\n{report}");
    }
}
