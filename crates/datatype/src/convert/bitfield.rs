//! Bit fields to bit fields: the low bits are kept, new ones are zero.

use std::sync::Arc;

use super::bits::Limbs;
use super::fixed::{FixedFrame, as_unsigned};
use super::kernel::{Each, Element};
use super::rules::{Conversions, Planned};
use super::{Result, size_of};
use crate::{Datatype, DatatypeClass};

#[derive(Debug)]
struct Bits {
    from: FixedFrame,
    to: FixedFrame,
}

impl Element for Bits {
    type Scratch = [Limbs; 2];

    fn convert(&self, source: &[u8], destination: &mut [u8], scratch: &mut Self::Scratch) {
        self.to.copy_bits(&self.from, source, destination, scratch);
    }
}

pub(super) fn rule(source: &Datatype, destination: &Datatype, _: &Conversions) -> Result<Planned> {
    let (DatatypeClass::Bitfield(from), DatatypeClass::Bitfield(to)) = (&source.class, &destination.class)
    else {
        return Ok(None);
    };
    let plan = || {
        let from = FixedFrame::new(source, &as_unsigned(*from))?;
        let to = FixedFrame::new(destination, &as_unsigned(*to))?;
        let (source_size, destination_size) = (size_of(source)?, size_of(destination)?);
        Some(Each { source_size, destination_size, each: Bits { from, to } })
    };
    Ok(plan().map(|kernel| Arc::new(kernel) as _))
}
