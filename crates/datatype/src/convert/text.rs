//! Fixed strings to fixed strings of another length or padding.

use std::sync::Arc;

use super::kernel::{Each, Element};
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
        let length = text_length(self.from, source).min(destination.len());
        let fill = if self.to == StringPadding::SpacePadded { b' ' } else { 0 };
        for (to, from) in destination.iter_mut().zip(source.iter().take(length)) {
            *to = *from;
        }
        for to in destination.iter_mut().skip(length) {
            *to = fill;
        }
        if self.to == StringPadding::NullTerminated
            && let Some(last) = destination.last_mut()
        {
            *last = 0;
        }
    }
}

/// Bytes of the text in an element.
fn text_length(padding: StringPadding, element: &[u8]) -> usize {
    let end = match padding {
        StringPadding::NullTerminated | StringPadding::NullPadded => {
            return element.iter().position(|byte| *byte == 0).unwrap_or(element.len());
        }
        StringPadding::SpacePadded => element.iter().rposition(|byte| *byte != b' '),
    };
    end.map_or(0, |last| last + 1)
}

/// Strings of one character set; the library does not convert between sets. Text that is too long is cut, even
/// inside a character.
pub(super) fn rule(source: &Datatype, destination: &Datatype, _: &Conversions) -> Result<Planned> {
    let (DatatypeClass::String(from), DatatypeClass::String(to)) = (&source.class, &destination.class) else {
        return Ok(None);
    };
    if from.charset != to.charset {
        return Ok(None);
    }
    let plan = || {
        let (source_size, destination_size) = (size_of(source)?, size_of(destination)?);
        let each = Text { from: from.padding, to: to.padding };
        Some(Each { source_size, destination_size, each })
    };
    Ok(plan().map(|kernel| Arc::new(kernel) as _))
}
