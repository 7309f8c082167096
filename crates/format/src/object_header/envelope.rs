//! Envelope around each message of an object header.
//!
//! ```text
//! version 1                        version 2
//! off size field                   off size field
//! 0   2    message type            0   1    message type
//! 2   2    size of the body        1   2    size of the body
//! 4   1    flags                   3   1    flags
//! 5   3    reserved                4   2    creation order (if header flags bit 2)
//! 8   ..   body                    ..  ..   body
//! ```
//!
//! In version 2, the end of a chunk of the header may have a gap: fewer bytes than an envelope
//! needs.

use std::ops::Range;

use crate::codec::{FormatError, Reader, Result, Writer};
use crate::message::{MessageFlags, MessageType};

const NAME: &str = "object header message";

/// The layout of the envelopes (type, size and flags) of the messages in one object header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvelopeLayout {
    /// Version 1.
    V1,
    /// Version 2.
    V2 {
        /// True if each envelope stores the creation order.
        creation_order: bool,
    },
}

impl EnvelopeLayout {
    /// Returns the size of an object header message's envelope in bytes: all fields before the body
    /// of the message.
    pub const fn size(self) -> usize {
        match self {
            Self::V1 => 8,
            Self::V2 { creation_order: false } => 4,
            Self::V2 { creation_order: true } => 6,
        }
    }
}

/// The envelope of one object header message: its type, its flags and the position of its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Message type.
    pub kind: MessageType,
    /// Flags of the message.
    pub flags: MessageFlags,
    /// Position of an attribute in the order of creation, if tracked.
    pub creation_order: Option<u16>,
    /// Range of the body in the bytes of the chunk's messages.
    pub body: Range<usize>,
}

/// An iterator over the message envelopes of one block of an object header, in order, including NIL
/// messages.
#[derive(Debug)]
pub struct Envelopes<'a> {
    reader: Reader<'a>,
    layout: EnvelopeLayout,
}

impl<'a> Envelopes<'a> {
    /// Creates an iterator over the envelopes of the object header messages in `messages`: the
    /// bytes of one block of the header without signature, prefix and checksum.
    pub fn new(messages: &'a [u8], layout: EnvelopeLayout) -> Self {
        Self { reader: Reader::new(NAME, messages), layout }
    }

    fn decode_next(&mut self) -> Result<Envelope> {
        let r = &mut self.reader;
        let (kind, size, flags, creation_order) = match self.layout {
            EnvelopeLayout::V1 => {
                let kind = r.u16("message type")?;
                let size = r.u16("size of message data")?;
                let flags = r.u8("flags")?;
                r.skip(3, "reserved")?;
                (kind, size, flags, None)
            }
            EnvelopeLayout::V2 { creation_order } => {
                let kind = r.u8("message type")?;
                let size = r.u16("size of message data")?;
                let flags = r.u8("flags")?;
                let order = creation_order.then(|| r.u16("creation order")).transpose()?;
                (u16::from(kind), size, flags, order)
            }
        };
        let flags = MessageFlags::from_bits_retain(flags);
        let start = r.position();
        r.skip(usize::from(size), "message data")?;
        Ok(Envelope { kind: MessageType(kind), flags, creation_order, body: start..r.position() })
    }
}

impl Iterator for Envelopes<'_> {
    type Item = Result<Envelope, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.remaining() < self.layout.size() {
            return None;
        }
        let next = self.decode_next();
        if next.is_err() {
            self.reader.take_rest();
        }
        Some(next)
    }
}

/// Writes one object header message: its envelope and `body`. In version 1, pads `body` to a
/// multiple of 8.
pub fn write_envelope(
    w: &mut Writer,
    layout: EnvelopeLayout,
    kind: MessageType,
    flags: MessageFlags,
    creation_order: Option<u16>,
    body: &[u8],
) {
    match layout {
        EnvelopeLayout::V1 => {
            let padded = body.len().next_multiple_of(8);
            w.u16(kind.0);
            w.narrow_u16(padded, "size of message data");
            w.u8(flags.bits());
            w.zeros(3);
            w.bytes(body);
            w.zeros(padded - body.len());
        }
        EnvelopeLayout::V2 { creation_order: tracked } => {
            w.uint(1, u64::from(kind.0), "message type");
            w.narrow_u16(body.len(), "size of message data");
            w.u8(flags.bits());
            if tracked {
                w.u16(creation_order.unwrap_or(0));
            }
            w.bytes(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{EnvelopeLayout, Envelopes, write_envelope};
    use crate::codec::Writer;
    use crate::message::{MessageFlags, MessageType};

    fn layouts() -> impl Strategy<Value = EnvelopeLayout> {
        prop_oneof![
            Just(EnvelopeLayout::V1),
            any::<bool>().prop_map(|creation_order| EnvelopeLayout::V2 { creation_order }),
        ]
    }

    proptest! {
        #[test]
        fn walks_what_it_wrote(
            layout in layouts(),
            messages in proptest::collection::vec((0_u16..0x19, any::<u8>(), any::<u16>(), proptest::collection::vec(any::<u8>(), 0..40)), 0..9),
            gap in 0_usize..4,
        ) {
            let mut w = Writer::new("test");
            for (kind, flags, order, body) in &messages {
                write_envelope(&mut w, layout, MessageType(*kind), MessageFlags::from_bits_retain(*flags), Some(*order), body);
            }
            w.zeros(gap);
            let bytes = w.finish().unwrap();
            let read: Vec<_> = Envelopes::new(&bytes, layout).collect::<Result<_, _>>().unwrap();
            prop_assert_eq!(read.len(), messages.len());
            for (envelope, (kind, flags, order, body)) in read.iter().zip(&messages) {
                prop_assert_eq!(envelope.kind, MessageType(*kind));
                prop_assert_eq!(envelope.flags.bits(), *flags);
                prop_assert!(bytes[envelope.body.clone()].starts_with(body));
                if layout == (EnvelopeLayout::V2 { creation_order: true }) {
                    prop_assert_eq!(envelope.creation_order, Some(*order));
                }
            }
        }

        #[test]
        fn never_panics_and_ends(bytes in proptest::collection::vec(any::<u8>(), 0..200), layout in layouts()) {
            prop_assert!(Envelopes::new(&bytes, layout).count() <= bytes.len());
        }
    }

    #[test]
    fn a_body_that_passes_the_chunk_is_corrupt() {
        let bytes = [1, 0, 16, 0, 0, 0, 0, 0, 1, 2, 3, 4];
        let all: Vec<_> = Envelopes::new(&bytes, EnvelopeLayout::V1).collect();
        assert_eq!(all.len(), 1);
        assert!(all[0].as_ref().unwrap_err().to_string().contains("message data"));
    }
}
