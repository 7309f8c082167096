//! Object headers. A header is read as a whole; its messages are decoded on request.

use std::collections::HashSet;

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::{Address, CHECKSUM_SIZE};
use hyperslab_format::message::{Continuation, Message as _, MessageFlags, MessageType, ReferenceCount};
use hyperslab_format::object_header::{
    AttributePhaseChange, ContinuationBlock, EnvelopeLayout, Envelopes, HeaderFlags, PrefixV1, PrefixV2,
};
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::store::{Bytes, MessageLocation, Store, at};

const NAME: &str = "object header";

/// Number of bytes in the first read of an object header. Most object headers are not longer.
const FIRST_READ_BYTES: u64 = 512;

/// An object header: the header's prefix, and the bytes of its messages.
#[derive(Debug)]
pub struct ObjectHeader {
    address: Address,
    prefix: Prefix,
    chunks: SmallVec<[Bytes; 2]>,
    /// Addresses and lengths of the continuation blocks, which are the chunks after the first
    /// chunk.
    continuations: SmallVec<[Continuation; 1]>,
    messages: SmallVec<[HeaderMessage; 12]>,
}

/// The prefix of an object header, in version 1 or 2 of object headers.
#[derive(Debug, Clone, Copy)]
pub enum Prefix {
    /// Version 1.
    V1(PrefixV1),
    /// Version 2.
    V2(PrefixV2),
}

impl Prefix {
    /// Returns the numbers of attributes at which an object changes between compact and dense
    /// storage, from the prefix of its object header. A version 1 object header has no dense
    /// storage; for it, returns the default numbers.
    pub(crate) fn attribute_phase_change(&self) -> AttributePhaseChange {
        let stored = match self {
            Self::V1(_) => None,
            Self::V2(prefix) => prefix.phase_change,
        };
        // The format defines this default for headers that do not store the numbers.
        stored.unwrap_or_default()
    }
}

/// One message of an object header, whose body is not yet decoded.
#[derive(Debug, Clone)]
pub struct HeaderMessage {
    /// Type of the message.
    pub kind: MessageType,
    /// Flags of the message.
    pub flags: MessageFlags,
    /// Creation order among the attributes, if tracked.
    pub creation_order: Option<u16>,
    pub(crate) chunk: usize,
    /// Offset of the body in the messages of its chunk.
    offset: usize,
    body: Bytes,
}

impl ObjectHeader {
    /// Reads the object header at `address` and all its continuation blocks.
    pub fn load(store: &Store, address: Address) -> Result<Self> {
        store.attempt(|| Self::load_once(store, address))
    }

    fn load_once(store: &Store, address: Address) -> Result<Self> {
        let start = store.read_up_to(address, FIRST_READ_BYTES, NAME)?;
        let mut loader = if start.starts_with(PrefixV2::SIGNATURE) {
            Loader::version_2(store, address, &start)?
        } else {
            Loader::version_1(store, address, &start)?
        };
        loader.follow_continuations()?;
        Ok(loader.header)
    }

    /// Returns the address of the object header, which is the identity of the object in the file.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Returns the version of the object header: 1 or 2.
    pub fn version(&self) -> u8 {
        match self.prefix {
            Prefix::V1(_) => 1,
            Prefix::V2(_) => 2,
        }
    }

    /// Returns the prefix of the object header.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Returns the numbers of attributes at which an object changes between compact and dense
    /// storage, from the object header. A version 1 object header has no dense storage; for it,
    /// returns the default numbers.
    pub fn attribute_phase_change(&self) -> AttributePhaseChange {
        self.prefix.attribute_phase_change()
    }

    /// Returns whether the object header stores the time of the object's last change.
    pub fn tracks_times(&self) -> bool {
        match self.prefix() {
            Prefix::V1(_) => self.contains(MessageType::MODIFICATION_TIME),
            Prefix::V2(prefix) => prefix.flags.contains(HeaderFlags::TIMES_STORED),
        }
    }

    /// Returns the flags of a version 2 object header. A version 1 object header has no flags.
    pub fn flags(&self) -> HeaderFlags {
        match &self.prefix {
            Prefix::V1(_) => HeaderFlags::empty(),
            Prefix::V2(prefix) => prefix.flags,
        }
    }

    /// Returns the number of header chunks of the object header: the first header chunk and the
    /// continuation blocks.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the size in bytes of each header chunk of the object header. The size counts the
    /// messages and the gap, which is the unused end of a chunk.
    pub(crate) fn chunk_sizes(&self) -> impl Iterator<Item = usize> {
        self.chunks.iter().map(|chunk| chunk.len())
    }

    /// Returns the continuation blocks of the object header in the order of their header chunks.
    pub(crate) fn continuations(&self) -> &[Continuation] {
        &self.continuations
    }

    /// Returns all messages of the object header in order, including NIL messages and
    /// continuations.
    pub fn messages(&self) -> &[HeaderMessage] {
        &self.messages
    }

    /// Returns all messages of the type `kind` in the object header.
    pub fn messages_of(&self, kind: MessageType) -> impl Iterator<Item = &HeaderMessage> {
        self.messages.iter().filter(move |message| message.kind == kind)
    }

    /// Returns the first message of the type `kind` in the object header.
    pub fn find(&self, kind: MessageType) -> Option<&HeaderMessage> {
        self.messages_of(kind).next()
    }

    /// Returns whether the object header has a message of the type `kind`.
    pub fn contains(&self, kind: MessageType) -> bool {
        self.find(kind).is_some()
    }

    /// Returns the stored bytes of an object header message's body. For a shared message, these
    /// bytes are a reference.
    pub fn body<'m>(&self, message: &'m HeaderMessage) -> &'m [u8] {
        &message.body
    }

    /// Returns the stored bytes of an object header message's body without a copy. The bytes stay
    /// valid after the object header is dropped.
    pub fn body_bytes(&self, message: &HeaderMessage) -> Bytes {
        message.body.clone()
    }

    /// Returns the location in the file of an object header message's body: offset and length.
    pub(crate) fn place(&self, message: &HeaderMessage) -> Option<MessageLocation> {
        let messages = to_u64(self.chunks.get(message.chunk)?.len());
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
        let length = messages.checked_add(to_u64(before))?.checked_add(to_u64(seal))?;
        let skip = to_u64(before.checked_add(message.offset)?);
        Some(MessageLocation { chunk, length, skip, sealed: seal > 0 })
    }

    /// Returns the number of hard links to the object, from its object header.
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

/// The state of a read of an object header, which proceeds header chunk by header chunk.
struct Loader<'a> {
    store: &'a Store,
    layout: EnvelopeLayout,
    header: ObjectHeader,
}

impl<'a> Loader<'a> {
    fn version_1(store: &'a Store, address: Address, start: &Bytes) -> Result<Self> {
        let prefix = at(PrefixV1::decode(start), address)?;
        let outside = || {
            Error::corrupt(NAME, "size of chunk 0", "a size inside the file", prefix.chunk0_size).at(address)
        };
        let size = to_usize(prefix.chunk0_size.into())?;
        let end = PrefixV1::SIZE.checked_add(size).ok_or_else(outside)?;
        let messages = if let Some(bytes) = start.slice(PrefixV1::SIZE..end) {
            bytes
        } else {
            let first = address.checked_add(to_u64(PrefixV1::SIZE)).ok_or_else(outside)?;
            store.read(first, prefix.chunk0_size.into(), NAME)?
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
        let chunk = match start.slice(0..to_usize(total)?) {
            Some(bytes) => bytes,
            None => store.read(address, total, NAME)?,
        };
        let length = at(prefix.messages(&chunk), address)?.len();
        let messages = part(&chunk, prefix.size(), length)?;
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

    /// Adds the messages of one header chunk to the list of an object header's messages, and
    /// collects the continuation messages among them.
    fn add_chunk(&mut self, messages: Bytes) -> Result<()> {
        let chunk = self.header.chunks.len();
        for envelope in Envelopes::new(&messages, self.layout) {
            let envelope = at(envelope, self.header.address);
            let Some(envelope) = self.store.forgive(envelope)? else { break };
            let (offset, length) = (envelope.body.start, envelope.body.len());
            let body = part(&messages, offset, length)?;
            if envelope.kind == MessageType::CONTINUATION {
                let next = at(Continuation::decode(&body, self.store.params()), self.header.address);
                self.header.continuations.extend(self.store.forgive(next)?);
            }
            refuse_unknown(envelope.kind, envelope.flags, self.header.address)?;
            self.header.messages.push(HeaderMessage {
                kind: envelope.kind,
                flags: envelope.flags,
                creation_order: envelope.creation_order,
                chunk,
                offset,
                body,
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
                // The n-th continuation must lead to chunk n + 1, so remove a continuation whose
                // chunk is unreadable.
                None => drop(self.header.continuations.remove(next)),
            }
        }
        Ok(())
    }

    /// Reads the messages of a continuation block of the object header.
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
                part(&block, ContinuationBlock::SIGNATURE.len(), length)
            }
        }
    }
}

/// Checks a message of an object header whose flag says that a reader must know its type. If this
/// library does not know the type, returns an error.
fn refuse_unknown(kind: MessageType, flags: MessageFlags, address: Address) -> Result<()> {
    if kind.is_known() || !flags.contains(MessageFlags::FAIL_IF_UNKNOWN_ALWAYS) {
        return Ok(());
    }
    Err(Error::unsupported(format!("object header at {address}: message of unknown type {:#06x}", kind.0)))
}

/// Returns a part of a shared buffer: `length` bytes at `offset`. The decoder has already checked
/// that these bytes exist.
fn part(bytes: &Bytes, offset: usize, length: usize) -> Result<Bytes> {
    let part = offset.checked_add(length).and_then(|end| bytes.slice(offset..end));
    part.ok_or_else(|| Error::internal(NAME, "decoded parts lie inside their chunk"))
}
