//! Conversion between fixed-length strings of different length or padding.

use std::sync::Arc;

use super::kernel::{Copy, Each, Element};
use super::rules::{Conversions, Planned};
use super::{Result, size_of};
use crate::{Datatype, DatatypeClass, StringPadding};

#[derive(Debug)]
struct Text {
    from: StringPadding,
    to: StringPadding,
}

impl Element for Text {
    type Scratch = ();

    fn convert(&self, source: &[u8], destination: &mut [u8], (): &mut ()) {
        let length = text_length(self.from, source);
        put_text(source.get(..length).unwrap_or(source), self.to, destination);
    }
}

/// Writes a text to a fixed-length string element. Cuts or pads the text to the length of the
/// element.
pub(super) fn put_text(text: &[u8], padding: StringPadding, destination: &mut [u8]) {
    let fill = if padding == StringPadding::SpacePadded { b' ' } else { 0 };
    let length = text.len().min(destination.len());
    let (start, rest) = destination.split_at_mut(length);
    if let Some(text) = text.get(..length) {
        start.copy_from_slice(text);
    }
    rest.fill(fill);
    if padding == StringPadding::NullTerminated
        && let Some(last) = destination.last_mut()
    {
        *last = 0;
    }
}

/// Returns the length of the text in a fixed-length string element, in bytes.
pub(super) fn text_length(padding: StringPadding, element: &[u8]) -> usize {
    let end = match padding {
        StringPadding::NullTerminated | StringPadding::NullPadded => {
            return element.iter().position(|byte| *byte == 0).unwrap_or(element.len());
        }
        StringPadding::SpacePadded => element.iter().rposition(|byte| *byte != b' '),
    };
    end.map_or(0, |last| last + 1)
}

/// Plans the conversion of elements between fixed-length string datatypes. The character sets must
/// be equal, unless the caller allows a change. The conversion cuts texts that are too long, even
/// inside a character.
pub(super) fn rule(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    let (DatatypeClass::String(from), DatatypeClass::String(to)) = (&source.class, &destination.class) else {
        return Ok(None);
    };
    if !conversions.may_convert_text(from.charset, to.charset) {
        return Ok(None);
    }
    if from.padding == to.padding && source.size == destination.size {
        return Ok(Some(Arc::new(Copy)));
    }
    let plan = || {
        let (source_size, destination_size) = (size_of(source)?, size_of(destination)?);
        let each = Text { from: from.padding, to: to.padding };
        Some(Each { source_size, destination_size, each })
    };
    Ok(plan().map(|kernel| Arc::new(kernel) as _))
}
