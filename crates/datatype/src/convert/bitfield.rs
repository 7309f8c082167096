//! Conversion of bit fields.
//!
//! Between bit fields, the low bits are kept and additional bits are zero. Conversions to and from
//! integers treat a bit field as an unsigned integer.

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

/// Returns the unsigned integer datatype with the same bit positions as a bit field. Returns `None`
/// if the datatype is no bit field.
fn integer(datatype: &Datatype) -> Option<Datatype> {
    let DatatypeClass::Bitfield(bits) = &datatype.class else { return None };
    Some(Datatype { size: datatype.size, class: DatatypeClass::FixedPoint(as_unsigned(*bits)) })
}

/// Plans the conversion of elements between bit field and integer datatypes.
pub(super) fn as_integers(
    source: &Datatype,
    destination: &Datatype,
    conversions: &Conversions,
) -> Result<Planned> {
    let is_integer = |datatype: &Datatype| matches!(datatype.class, DatatypeClass::FixedPoint(_));
    let (from, to) = match (integer(source), integer(destination)) {
        (Some(from), None) if is_integer(destination) => (from, destination.clone()),
        (None, Some(to)) if is_integer(source) => (source.clone(), to),
        _ => return Ok(None),
    };
    Ok(Some(conversions.plan(&from, &to)?.kernel))
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

#[cfg(test)]
mod tests {
    use super::super::Conversion;
    use crate::ByteOrder::{BigEndian, LittleEndian};
    use crate::Datatype;

    #[test]
    fn bit_fields_are_unsigned_integers() {
        let convert = |from: &Datatype, to: &Datatype, bytes: &[u8]| {
            let conversion = Conversion::new(from, to).unwrap();
            let count = bytes.len() / conversion.source_size();
            let mut out = vec![0; count * conversion.destination_size()];
            conversion.convert(bytes, &mut out, count).unwrap();
            out
        };
        let byte = Datatype::bitfield(1, LittleEndian);
        assert_eq!(convert(&byte, &Datatype::u8(), &[0, 200, 255]), [0, 200, 255]);
        assert_eq!(convert(&Datatype::u8(), &byte, &[0, 200, 255]), [0, 200, 255]);
        assert!(Conversion::new(&byte, &Datatype::u8()).unwrap().is_no_op());
        let two = Datatype::bitfield(2, BigEndian);
        assert_eq!(convert(&two, &Datatype::u16(LittleEndian), &[0xfe, 1]), [1, 0xfe]);
        assert_eq!(convert(&Datatype::u16(LittleEndian), &two, &[1, 0xfe]), [0xfe, 1]);
        // Other sizes and signs convert like unsigned integers.
        assert_eq!(convert(&two, &Datatype::u8(), &[0, 9, 1, 0]), [9, 255]);
        assert_eq!(convert(&Datatype::i8(), &byte, &[0xff, 5]), [0, 5]);
        assert!(Conversion::new(&byte, &Datatype::f32(LittleEndian)).is_err());
    }
}
