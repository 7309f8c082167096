//! An object header, read whole: its messages stay closed until somebody asks for one.

use std::collections::HashSet;
use std::ops::Range;

use hyperslab_format::codec::{Address, CHECKSUM_SIZE};
use hyperslab_format::message::{Continuation, Message as _, MessageFlags, MessageType, ReferenceCount};
use hyperslab_format::object_header::{
    AttributePhaseChange, ContinuationBlock, EnvelopeLayout, Envelopes, HeaderFlags, PrefixV1, PrefixV2,
};
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::store::{Bytes, MessageLocation, Store, at};

const NAME: &str = "object header";

/// Bytes fetched at first; most headers fit.
const FIRST_READ: u64 = 512;

/// An object header: where its messages lie in the bytes of its chunks.
#[derive(Debug)]
pub struct ObjectHeader {
    address: Address,
    prefix: Prefix,
    chunks: SmallVec<[Bytes; 2]>,
    /// Where the continuation blocks lie: of the chunks after the first.
    continuations: SmallVec<[Continuation; 1]>,
    messages: SmallVec<[ClosedMessage; 12]>,
}

/// What stands before the messages.
#[derive(Debug, Clone, Copy)]
pub enum Prefix {
    /// Version 1.
    V1(PrefixV1),
    /// Version 2.
    V2(PrefixV2),
}

/// One message: what it is and where its body lies.
#[derive(Debug, Clone)]
pub struct ClosedMessage {
    /// What the message says.
    pub kind: MessageType,
    /// How it is to be treated.
    pub flags: MessageFlags,
    /// Creation order among the attributes, where tracked.
    pub creation_order: Option<u16>,
    pub(crate) chunk: usize,
    body: Range<usize>,
}

impl ObjectHeader {
    /// Reads the header at `address` with all its continuation blocks.
    pub fn load(store: &Store, address: Address) -> Result<Self> {
        store.attempt(|| Self::load_once(store, address))
    }

    fn load_once(store: &Store, address: Address) -> Result<Self> {
        let start = store.read_up_to(address, FIRST_READ, NAME)?;
        let mut loader = if start.starts_with(PrefixV2::SIGNATURE) {
            Loader::version_2(store, address, &start)?
        } else {
            Loader::version_1(store, address, &start)?
        };
        loader.follow_continuations()?;
        Ok(loader.header)
    }

    /// Where the header lies; this is the object's identity in the file.
    pub fn address(&self) -> Address {
        self.address
    }

    /// 1 or 2.
    pub fn version(&self) -> u8 {
        match self.prefix {
            Prefix::V1(_) => 1,
            Prefix::V2(_) => 2,
        }
    }

    /// What stands before the messages.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// When attributes move out of the header and back; a version 1 header, which keeps them, does not say it.
    pub fn attribute_phase_change(&self) -> AttributePhaseChange {
        let stated = match self.prefix() {
            Prefix::V1(_) => None,
            Prefix::V2(prefix) => prefix.phase_change,
        };
        stated.unwrap_or_default()
    }

    /// Returns whether it keeps the times of its changes.
    pub fn tracks_times(&self) -> bool {
        match self.prefix() {
            Prefix::V1(_) => self.contains(MessageType::MODIFICATION_TIME),
            Prefix::V2(prefix) => prefix.flags.contains(HeaderFlags::TIMES_STORED),
        }
    }

    /// Flags of a version 2 header; none for version 1.
    pub fn flags(&self) -> HeaderFlags {
        match &self.prefix {
            Prefix::V1(_) => HeaderFlags::empty(),
            Prefix::V2(prefix) => prefix.flags,
        }
    }

    /// Number of chunks: the first and the continuation blocks.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Bytes of messages and gap in each chunk.
    pub(crate) fn chunk_sizes(&self) -> impl Iterator<Item = usize> {
        self.chunks.iter().map(|chunk| chunk.len())
    }

    /// The continuation blocks, in the order of their chunks.
    pub(crate) fn continuations(&self) -> &[Continuation] {
        &self.continuations
    }

    /// All messages in their order, NIL messages and continuations included.
    pub fn messages(&self) -> &[ClosedMessage] {
        &self.messages
    }

    /// The messages of one kind.
    pub fn messages_of(&self, kind: MessageType) -> impl Iterator<Item = &ClosedMessage> {
        self.messages.iter().filter(move |message| message.kind == kind)
    }

    /// The first message of one kind.
    pub fn find(&self, kind: MessageType) -> Option<&ClosedMessage> {
        self.messages_of(kind).next()
    }

    /// Returns whether there is a message of that kind.
    pub fn contains(&self, kind: MessageType) -> bool {
        self.find(kind).is_some()
    }

    /// The stored bytes of a message's body: the message itself, or a reference to it where it is shared.
    pub fn body(&self, message: &ClosedMessage) -> &[u8] {
        self.chunks.get(message.chunk).and_then(|chunk| chunk.get(message.body.clone())).unwrap_or_default()
    }

    /// As [`body`](Self::body), kept beyond the header without copying.
    pub fn body_bytes(&self, message: &ClosedMessage) -> Bytes {
        self.chunks
            .get(message.chunk)
            .and_then(|chunk| chunk.slice(message.body.clone()))
            .unwrap_or_else(|| Bytes::from(Vec::new()))
    }

    /// Where a message's body lies in the file.
    pub(crate) fn place(&self, message: &ClosedMessage) -> Option<MessageLocation> {
        let messages = self.chunks.get(message.chunk)?.len() as u64;
        let chunk = match message.chunk.checked_sub(1) {
            None => self.address,
            Some(block) => self.continuations.get(block)?.address,
        };
        let (before, seal) = match (&self.prefix, message.chunk) {
            (Prefix::V1(_), 0) => (PrefixV1::SIZE, 0),
            (Prefix::V1(_), _) => (0, 0),
            (Prefix::V2(prefix), 0) => (prefix.size(), CHECKSUM_SIZE),
            (Prefix::V2(_), _) => (PrefixV2::SIGNATURE.len(), CHECKSUM_SIZE),
        };
        let length = messages.checked_add(before as u64)?.checked_add(seal as u64)?;
        let skip = before.checked_add(message.body.start)? as u64;
        Some(MessageLocation { chunk, length, skip, sealed: seal > 0 })
    }

    /// Number of hard links to the object.
    pub fn reference_count(&self, store: &Store) -> Result<u32> {
        match &self.prefix {
            Prefix::V1(prefix) => Ok(prefix.reference_count),
            Prefix::V2(_) => match self.find(MessageType::REFERENCE_COUNT) {
                Some(message) => {
                    Ok(at(ReferenceCount::decode(self.body(message), store.params()), self.address)?.count)
                }
                None => Ok(1),
            },
        }
    }
}

/// A header while its chunks are being read.
struct Loader<'a> {
    store: &'a Store,
    layout: EnvelopeLayout,
    header: ObjectHeader,
}

impl<'a> Loader<'a> {
    fn version_1(store: &'a Store, address: Address, start: &Bytes) -> Result<Self> {
        let prefix = at(PrefixV1::decode(start), address)?;
        let range = PrefixV1::SIZE..PrefixV1::SIZE.saturating_add(to_usize(u64::from(prefix.chunk0_size)));
        let messages = if let Some(bytes) = start.slice(range) {
            bytes
        } else {
            let first = address.checked_add(PrefixV1::SIZE as u64).unwrap_or(Address::UNDEFINED);
            store.read(first, u64::from(prefix.chunk0_size), NAME)?
        };
        let mut loader = Self::new(store, address, Prefix::V1(prefix), EnvelopeLayout::V1);
        loader.add_chunk(messages)?;
        Ok(loader)
    }

    fn version_2(store: &'a Store, address: Address, start: &Bytes) -> Result<Self> {
        let prefix = at(PrefixV2::decode(start), address)?;
        let total = prefix.chunk0_total().ok_or_else(|| {
            Error::corrupt(NAME, "size of chunk 0", "a size inside the file", prefix.chunk0_size).at(address)
        })?;
        let chunk = match start.slice(0..to_usize(total)) {
            Some(bytes) => bytes,
            None => store.read(address, total, NAME)?,
        };
        let length = at(prefix.messages(&chunk), address)?.len();
        let from = prefix.size();
        let messages = chunk.slice(from..from.saturating_add(length)).unwrap_or_else(|| Vec::new().into());
        let layout = EnvelopeLayout::V2 {
            creation_order: prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED),
        };
        let mut loader = Self::new(store, address, Prefix::V2(prefix), layout);
        loader.add_chunk(messages)?;
        Ok(loader)
    }

    fn new(store: &'a Store, address: Address, prefix: Prefix, layout: EnvelopeLayout) -> Self {
        let header = ObjectHeader {
            address,
            prefix,
            chunks: SmallVec::new(),
            continuations: SmallVec::new(),
            messages: SmallVec::new(),
        };
        Self { store, layout, header }
    }

    /// Adds the messages of one chunk and remembers the continuations among them.
    fn add_chunk(&mut self, messages: Bytes) -> Result<()> {
        let chunk = self.header.chunks.len();
        for envelope in Envelopes::new(&messages, self.layout) {
            let envelope = at(envelope, self.header.address);
            let Some(envelope) = self.store.forgive(envelope)? else { break };
            if envelope.kind == MessageType::CONTINUATION {
                let body = messages.get(envelope.body.clone()).unwrap_or_default();
                let next = at(Continuation::decode(body, self.store.params()), self.header.address);
                self.header.continuations.extend(self.store.forgive(next)?);
            }
            refuse_unknown(envelope.kind, envelope.flags, self.header.address)?;
            self.header.messages.push(ClosedMessage {
                kind: envelope.kind,
                flags: envelope.flags,
                creation_order: envelope.creation_order,
                chunk,
                body: envelope.body,
            });
        }
        self.header.chunks.push(messages);
        Ok(())
    }

    fn follow_continuations(&mut self) -> Result<()> {
        let mut visited = HashSet::new();
        let mut next = 0;
        while let Some(continuation) = self.header.continuations.get(next).copied() {
            let messages = self.continuation(continuation, &mut visited);
            match self.store.forgive(messages)? {
                Some(messages) => {
                    next += 1;
                    self.add_chunk(messages)?;
                }
                // Continuations and chunks go side by side.
                None => drop(self.header.continuations.remove(next)),
            }
        }
        Ok(())
    }

    /// The messages of a continuation block.
    fn continuation(&self, continuation: Continuation, visited: &mut HashSet<Address>) -> Result<Bytes> {
        const NAME: &str = "object header continuation block";
        let limit = self.store.limits().header_chunks;
        let address = continuation.address;
        if !visited.insert(address) || visited.len() > limit {
            let expected = format!("at most {limit} blocks, each once");
            return Err(Error::corrupt(NAME, "address", expected, address).at(self.header.address));
        }
        let block = self.store.read(address, continuation.length, NAME)?;
        match self.layout {
            EnvelopeLayout::V1 => Ok(block),
            EnvelopeLayout::V2 { .. } => {
                let length = at(ContinuationBlock::messages(&block), address)?.len();
                Ok(block.slice(4..length.saturating_add(4)).unwrap_or_else(|| Vec::new().into()))
            }
        }
    }
}

/// A message that says it must be understood, and is not.
fn refuse_unknown(kind: MessageType, flags: MessageFlags, address: Address) -> Result<()> {
    if kind.is_known() || !flags.contains(MessageFlags::FAIL_IF_UNKNOWN_ALWAYS) {
        return Ok(());
    }
    Err(Error::unsupported(format!("object header at {address}: message of unknown type {:#06x}", kind.0)))
}

fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
