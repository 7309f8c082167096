//! Object headers: their chunks and messages.

use hyperslab_engine::store::Bytes;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{Continuation, Message as _, MessageFlags, MessageType};
use hyperslab_format::object_header::{
    ContinuationBlock, EnvelopeLayout, Envelopes, HeaderFlags, PrefixV1, PrefixV2,
};

use crate::extents::BlockKind;
use crate::file::Checker;

pub(crate) const NAME: &str = "object header";
const CONTINUATION: &str = "object header continuation block";
/// The length in bytes of the first read of an object header, which contains its version and
/// length.
const FIRST_READ_BYTES: u64 = 64;

/// An object header with all messages that could be read.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) address: Address,
    pub(crate) flags: HeaderFlags,
    /// The number of hard links that a version 1 header states.
    pub(crate) reference_count: Option<u32>,
    /// True if all chunks could be read.
    pub(crate) complete: bool,
    pub(crate) messages: Vec<HeaderMessage>,
}

/// A message of an object header, with its position in the header.
#[derive(Debug, Clone)]
pub(crate) struct HeaderMessage {
    pub(crate) kind: MessageType,
    pub(crate) flags: MessageFlags,
    pub(crate) order: Option<u16>,
    pub(crate) body: Bytes,
    /// True if the body is shared and was checked before.
    pub(crate) seen: bool,
}

impl Header {
    /// Returns the messages of the type `kind` in the object header.
    pub(crate) fn of(&self, kind: MessageType) -> impl Iterator<Item = &HeaderMessage> {
        self.messages.iter().filter(move |message| message.kind == kind)
    }

    /// Returns true if the object header has a message of the type `kind`.
    pub(crate) fn has(&self, kind: MessageType) -> bool {
        self.of(kind).next().is_some()
    }
}

/// Walks the object header at `address` and all of its continuation blocks.
pub(crate) fn walk(checker: &mut Checker, address: Address) -> Option<Header> {
    let start = checker.store.read_up_to(address, FIRST_READ_BYTES, NAME);
    let start = checker.read_or_note(NAME, address, start)?;
    let mut walk = if start.starts_with(PrefixV2::SIGNATURE) {
        version_2(checker, address, &start)?
    } else {
        version_1(checker, address, &start)?
    };
    walk.walk_continuations(checker);
    let Walk { header, stated_messages, .. } = walk;
    if let Some(stated) = stated_messages
        && header.complete
    {
        checker.same(NAME, address, "number of messages", stated.into(), header.messages.len() as u64);
    }
    Some(header)
}

/// The state of a walk through the blocks (chunks) of an object header.
struct Walk {
    header: Header,
    layout: EnvelopeLayout,
    /// The number of messages that a version 1 header states.
    stated_messages: Option<u16>,
    continuations: Vec<Continuation>,
}

fn version_1(checker: &mut Checker, address: Address, start: &[u8]) -> Option<Walk> {
    let prefix = checker.decoded(NAME, address, PrefixV1::decode(start))?;
    let length = u64::from(prefix.chunk0_size).saturating_add(PrefixV1::SIZE as u64);
    let bytes = checker.block_bytes(NAME, address, length, BlockKind::ObjectHeader)?;
    let mut walk = Walk::new(address, HeaderFlags::empty(), EnvelopeLayout::V1);
    walk.header.reference_count = Some(prefix.reference_count);
    walk.stated_messages = Some(prefix.message_count);
    let messages = bytes.slice(PrefixV1::SIZE..bytes.len())?;
    walk.add_chunk(checker, address, &messages);
    Some(walk)
}

fn version_2(checker: &mut Checker, address: Address, start: &[u8]) -> Option<Walk> {
    let prefix = checker.decoded(NAME, address, PrefixV2::decode(start))?;
    let Some(length) = prefix.chunk0_total() else {
        checker.fault(
            NAME,
            address,
            format!("the size of the object header's chunk 0 is too large: {} bytes", prefix.chunk0_size),
        );
        return None;
    };
    let chunk = checker.block_bytes(NAME, address, length, BlockKind::ObjectHeader)?;
    let messages = checker.decoded(NAME, address, prefix.messages(&chunk).map(<[u8]>::len))?;
    let messages = chunk.slice(prefix.size()..prefix.size().saturating_add(messages))?;
    let creation_order = prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED);
    if let Some(times) = prefix.times
        && times.birth > times.change
    {
        checker.remark(NAME, address, "the change time is before the birth time");
    }
    if prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_INDEXED) && !creation_order {
        checker.fault(NAME, address, "the creation order of attributes is indexed but not tracked");
    }
    let mut walk = Walk::new(address, prefix.flags, EnvelopeLayout::V2 { creation_order });
    walk.add_chunk(checker, address, &messages);
    Some(walk)
}

impl Walk {
    fn new(address: Address, flags: HeaderFlags, layout: EnvelopeLayout) -> Self {
        let header = Header { address, flags, reference_count: None, complete: true, messages: Vec::new() };
        Self { header, layout, stated_messages: None, continuations: Vec::new() }
    }

    /// Adds the messages of one block (chunk) of the object header to the walked object header.
    fn add_chunk(&mut self, checker: &mut Checker, address: Address, chunk: &Bytes) {
        let (mut end, mut has_nil) = (0, false);
        for envelope in Envelopes::new(chunk, self.layout) {
            let Some(envelope) = checker.decoded(NAME, address, envelope) else {
                self.header.complete = false;
                return;
            };
            if envelope.kind == MessageType::NIL {
                checker.unused_in_header(envelope.body.end.saturating_sub(end));
            }
            end = envelope.body.end;
            has_nil |= envelope.kind == MessageType::NIL;
            let aligned = self.layout != EnvelopeLayout::V1 || envelope.body.len().is_multiple_of(8);
            if !aligned {
                let text = format!(
                    "a {} of {} bytes, expected a multiple of 8",
                    envelope.kind.name(),
                    envelope.body.len()
                );
                checker.remark(NAME, address, text);
            }
            let Some(body) = chunk.slice(envelope.body) else { continue };
            if envelope.kind == MessageType::CONTINUATION {
                let next = Continuation::decode(&body, checker.params);
                match checker.decoded(NAME, address, next) {
                    Some(next) => self.continuations.push(next),
                    None => self.header.complete = false,
                }
            }
            let (kind, flags, order) = (envelope.kind, envelope.flags, envelope.creation_order);
            self.header.messages.push(HeaderMessage { kind, flags, order, body, seen: false });
        }
        let gap = chunk.get(end..).unwrap_or_default();
        if gap.is_empty() {
            return;
        }
        checker.unused_in_header(gap.len());
        if self.layout == EnvelopeLayout::V1 {
            checker.remark(
                NAME,
                address,
                format!("{} unused bytes follow the last message of an object header chunk", gap.len()),
            );
        } else if has_nil {
            checker.remark(
                NAME,
                address,
                "an object header chunk has a gap, although its NIL message could hold the gap's bytes",
            );
        } else if gap.iter().any(|byte| *byte != 0) {
            checker.remark(NAME, address, "the gap in an object header chunk has bytes other than zero");
        }
    }

    /// Walks all continuation blocks of the object header. A continuation block may itself refer to
    /// further continuation blocks.
    fn walk_continuations(&mut self, checker: &mut Checker) {
        let mut next = 0;
        while let Some(continuation) = self.continuations.get(next).copied() {
            next += 1;
            if self.block(checker, continuation).is_none() {
                self.header.complete = false;
            }
        }
    }

    fn block(&mut self, checker: &mut Checker, continuation: Continuation) -> Option<()> {
        let Continuation { address, length } = continuation;
        let block = checker.block_bytes(CONTINUATION, address, length, BlockKind::ObjectHeader)?;
        let messages = match self.layout {
            EnvelopeLayout::V1 => block,
            EnvelopeLayout::V2 { .. } => {
                let messages = ContinuationBlock::messages(&block).map(<[u8]>::len);
                let length = checker.decoded(CONTINUATION, address, messages)?;
                let start = ContinuationBlock::SIGNATURE.len();
                block.slice(start..start.saturating_add(length))?
            }
        };
        self.add_chunk(checker, address, &messages);
        Some(())
    }
}
