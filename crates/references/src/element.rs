//! The types of zarr for the datatypes of HDF5.

use hyperslab::Datatype;
use hyperslab::datatype::{
    ByteOrder, Compound, DatatypeClass, FixedPoint, FloatOrder, FloatingPoint, Member, StringPadding,
    VariableLengthKind,
};

use crate::Json;

/// The elements of an array: their type in zarr, and the datatype with the same bytes.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    /// The type as zarr names it.
    pub(crate) dtype: Json,
    /// The datatype whose bytes are the ones of the type. It differs from the stored datatype if
    /// elements must be converted.
    pub(crate) memory: Datatype,
    /// True if the bytes in the file are already the ones of the type.
    pub(crate) is_stored: bool,
    /// True for texts of variable length, which zarr encodes by a codec of its own.
    pub(crate) is_text: bool,
    /// The dimensions of array elements, which become dimensions of the array.
    pub(crate) dims: Vec<u64>,
    /// The bytes of one element of the array.
    pub(crate) item_size: u32,
    /// The offsets and the lengths of texts in an element that end with a null byte. zarr takes
    /// also the bytes after it.
    pub(crate) terminated: Vec<(u32, u32)>,
}

/// The treatment of texts that end with a null byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    /// They are taken as they are.
    Stored,
    /// They are converted: bytes after the null byte become null bytes.
    Converted,
}

impl Element {
    /// Returns the type for a datatype.
    ///
    /// # Errors
    /// Returns the reason if zarr has no such type.
    pub(crate) fn of(datatype: &Datatype, texts: Texts) -> Result<Self, String> {
        match &datatype.class {
            DatatypeClass::Array(array) => {
                let item = Self::of(&array.base, Texts::Stored)?;
                if item.is_text || !item.is_stored {
                    return Err(unsupported("arrays of other elements than stored numbers"));
                }
                let mut dims: Vec<u64> = array.dims.iter().copied().map(u64::from).collect();
                dims.extend(item.dims);
                Ok(Self { dims, memory: datatype.clone(), ..item })
            }
            DatatypeClass::VariableLength(sequence) => match sequence.kind {
                VariableLengthKind::String { .. } => {
                    Ok(Self { is_text: true, ..Self::stored(Json::text("|O"), datatype) })
                }
                VariableLengthKind::Sequence => Err(unsupported("sequences of variable length")),
            },
            DatatypeClass::Compound(compound) if datatype.complex_part().is_none() => {
                record(datatype, compound, texts)
            }
            _ => Self::scalar(datatype, texts),
        }
    }

    fn stored(dtype: Json, datatype: &Datatype) -> Self {
        Self {
            dtype,
            memory: datatype.clone(),
            is_stored: true,
            is_text: false,
            dims: Vec::new(),
            item_size: datatype.size,
            terminated: Vec::new(),
        }
    }

    fn converted(memory: Datatype) -> Result<Self, String> {
        Ok(Self { is_stored: false, ..Self::scalar(&memory, Texts::Stored)? })
    }

    /// Returns the type for a datatype of single values.
    fn scalar(datatype: &Datatype, texts: Texts) -> Result<Self, String> {
        let size = datatype.size;
        if let Some(part) = datatype.complex_part() {
            return complex(datatype, part);
        }
        match &datatype.class {
            DatatypeClass::FixedPoint(fixed) => integer(datatype, fixed),
            DatatypeClass::FloatingPoint(floating) => float(datatype, floating),
            DatatypeClass::Bitfield(bits) => match is_whole(size, bits.bit_offset, bits.precision) {
                true => Ok(Self::stored(number(bits.order, 'u', size), datatype)),
                false => Err(unsupported("bitfields with padding")),
            },
            DatatypeClass::Enumeration(_) if datatype.is_bool() => {
                Ok(Self::stored(Json::text("|b1"), datatype))
            }
            DatatypeClass::Enumeration(enumeration) => {
                let base = Self::scalar(&enumeration.base, texts)?;
                match base.is_stored {
                    true => Ok(Self { memory: datatype.clone(), ..base }),
                    false => Err(unsupported("enumerations of integers with padding")),
                }
            }
            DatatypeClass::String(string) => {
                let dtype = Json::text(format!("|S{size}"));
                let stored = Self::stored(dtype.clone(), datatype);
                match (string.padding, texts) {
                    (StringPadding::NullPadded, _) => return Ok(stored),
                    (StringPadding::NullTerminated, Texts::Stored) => {
                        return Ok(Self { terminated: vec![(0, size)], ..stored });
                    }
                    _ => {}
                }
                let memory = Datatype::fixed_string(size, StringPadding::NullPadded, string.charset);
                Ok(Self { is_stored: false, ..Self::stored(dtype, &memory) })
            }
            DatatypeClass::Opaque(opaque) => {
                // h5py writes a type of NumPy into the tag, and reads the bytes as this type.
                let is_text = opaque.tag == format!("NUMPY:|S{size}").as_bytes();
                let kind = if is_text { 'S' } else { 'V' };
                Ok(Self::stored(Json::text(format!("|{kind}{size}")), datatype))
            }
            DatatypeClass::Reference(_) => Err(unsupported("references to objects")),
            DatatypeClass::Time(_) => Err(unsupported("times")),
            _ => Err(unsupported("members of variable length, arrays or compounds here")),
        }
    }
}

fn unsupported(elements: &str) -> String {
    format!("datatype: {elements}")
}

/// Returns the name of a number type of zarr.
fn number(order: ByteOrder, kind: char, size: u32) -> Json {
    let order = match (size, order) {
        (1, _) => '|',
        (_, ByteOrder::LittleEndian) => '<',
        (_, ByteOrder::BigEndian) => '>',
    };
    Json::Text(format!("{order}{kind}{size}"))
}

/// Returns whether all bits of a number of `size` bytes are significant, and zarr has this size.
fn is_whole(size: u32, bit_offset: u16, precision: u16) -> bool {
    matches!(size, 1 | 2 | 4 | 8) && bit_offset == 0 && u32::from(precision) == 8 * size
}

fn integer(datatype: &Datatype, fixed: &FixedPoint) -> Result<Element, String> {
    let size = datatype.size;
    if is_whole(size, fixed.bit_offset, fixed.precision) {
        let kind = if fixed.signed { 'i' } else { 'u' };
        return Ok(Element::stored(number(fixed.order, kind, size), datatype));
    }
    match u16::try_from(size.next_power_of_two()) {
        Ok(bytes @ 1..=8) => {
            Element::converted(Datatype::integer(bytes, fixed.signed, ByteOrder::LittleEndian))
        }
        _ => Err(unsupported("integers of more than 64 bits")),
    }
}

fn float(datatype: &Datatype, floating: &FloatingPoint) -> Result<Element, String> {
    let order = match floating.order {
        FloatOrder::BigEndian => ByteOrder::BigEndian,
        FloatOrder::LittleEndian | FloatOrder::Vax => ByteOrder::LittleEndian,
    };
    let standard = [Datatype::f16(order), Datatype::f32(order), Datatype::f64(order)];
    let is_same = |known: &&Datatype| {
        let DatatypeClass::FloatingPoint(known_float) = &known.class else { return false };
        let padded = FloatingPoint {
            low_pad: known_float.low_pad,
            high_pad: known_float.high_pad,
            internal_pad: known_float.internal_pad,
            ..*floating
        };
        known.size == datatype.size && *known_float == padded
    };
    if standard.iter().find(is_same).is_some() {
        return Ok(Element::stored(number(order, 'f', datatype.size), datatype));
    }
    match datatype.size {
        0..=3 => Element::converted(Datatype::f32(ByteOrder::LittleEndian)),
        4..=8 => Element::converted(Datatype::f64(ByteOrder::LittleEndian)),
        _ => Err(unsupported("floating-point numbers of more than 64 bits")),
    }
}

fn complex(datatype: &Datatype, part: &Datatype) -> Result<Element, String> {
    let is_adjacent = datatype.size == 2 * part.size
        && match &datatype.class {
            DatatypeClass::Compound(compound) => {
                compound.members.iter().map(|member| member.offset).eq([0, part.size])
            }
            _ => true,
        };
    let DatatypeClass::FloatingPoint(floating) = &part.class else {
        return Err(unsupported("complex numbers of other parts than floating-point numbers"));
    };
    let part = float(part, floating)?;
    match (&part.dtype, part.is_stored && is_adjacent && matches!(datatype.size, 8 | 16)) {
        (Json::Text(name), true) => {
            let order = if name.starts_with('>') { '>' } else { '<' };
            Ok(Element::stored(Json::Text(format!("{order}c{}", datatype.size)), datatype))
        }
        _ => Err(unsupported("complex numbers of this form")),
    }
}

/// Returns the type for compounds: a list of members. Bytes between members are members too, which
/// have names that begin with `padding`.
fn record(datatype: &Datatype, compound: &Compound, texts: Texts) -> Result<Element, String> {
    let mut members: Vec<&Member> = compound.members.iter().collect();
    members.sort_by_key(|member| member.offset);
    let mut fields = Vec::with_capacity(members.len());
    let mut packed = Vec::with_capacity(members.len());
    let mut terminated = Vec::new();
    let mut is_stored = true;
    let mut end = 0;
    for member in &members {
        let element = Element::of(&member.datatype, texts)?;
        if element.is_text || !element.dims.is_empty() || !matches!(element.dtype, Json::Text(_)) {
            return Err(unsupported("compounds with members of variable length, arrays or compounds"));
        }
        let name = String::from_utf8(member.name.clone())
            .map_err(|_| unsupported("compounds with member names that are not UTF-8"))?;
        if member.offset > end {
            fields.push(padding(&members, end, member.offset));
        }
        is_stored &= element.is_stored && member.offset >= end;
        end = member.offset.checked_add(member.datatype.size).ok_or("damaged datatype")?;
        terminated.extend(element.terminated.iter().map(|(at, size)| (member.offset + at, *size)));
        fields.push((name, element.dtype, false));
        packed.push((member.name.clone(), element.memory));
    }
    if end < datatype.size {
        fields.push(padding(&members, end, datatype.size));
    }
    let field = |(name, dtype, _)| Json::List(vec![Json::Text(name), dtype]);
    if is_stored {
        let dtype = Json::List(fields.into_iter().map(field).collect());
        return Ok(Element { terminated, ..Element::stored(dtype, datatype) });
    }
    let fields = fields.into_iter().filter(|(_, _, is_padding)| !is_padding).map(field);
    let dtype = Json::List(fields.collect());
    Ok(Element { is_stored: false, ..Element::stored(dtype, &Datatype::packed(packed)) })
}

/// Returns the member for the bytes between two members, with a name that no member has.
fn padding(members: &[&Member], start: u32, end: u32) -> (String, Json, bool) {
    let mut name = format!("padding{start}");
    while members.iter().any(|member| member.name == name.as_bytes()) {
        name.push('_');
    }
    (name, Json::Text(format!("|V{}", end - start)), true)
}

#[cfg(test)]
mod tests {
    use hyperslab::CharacterSet;
    use hyperslab::datatype::ByteOrder::{BigEndian, LittleEndian};

    use super::*;

    fn dtype(datatype: &Datatype) -> (String, bool) {
        let element = Element::of(datatype, Texts::Stored).unwrap();
        (element.dtype.to_string(), element.is_stored)
    }

    #[test]
    fn numbers_and_texts_have_types() {
        assert_eq!(dtype(&Datatype::i16(BigEndian)), ("\">i2\"".into(), true));
        assert_eq!(dtype(&Datatype::u8()), ("\"|u1\"".into(), true));
        assert_eq!(dtype(&Datatype::f64(LittleEndian)), ("\"<f8\"".into(), true));
        assert_eq!(dtype(&Datatype::integer(3, true, BigEndian)), ("\"<i4\"".into(), false));
        assert_eq!(dtype(&Datatype::vax_f32()), ("\"<f8\"".into(), false));
        assert_eq!(dtype(&Datatype::bool()), ("\"|b1\"".into(), true));
        assert_eq!(dtype(&Datatype::complex(Datatype::f32(BigEndian))), ("\">c8\"".into(), true));
        assert_eq!(dtype(&Datatype::opaque(4, "a tag")), ("\"|V4\"".into(), true));
        assert_eq!(dtype(&Datatype::opaque(4, "NUMPY:|S4")), ("\"|S4\"".into(), true));
        assert_eq!(dtype(&Datatype::opaque(4, "NUMPY:|S9")), ("\"|V4\"".into(), true));
        let spaces = Datatype::fixed_string(5, StringPadding::SpacePadded, CharacterSet::Ascii);
        assert_eq!(dtype(&spaces), ("\"|S5\"".into(), false));
        assert!(Element::of(&Datatype::f128(LittleEndian), Texts::Stored).is_err());
        assert!(Element::of(&Datatype::object_reference(8), Texts::Stored).is_err());
        let rows = Element::of(&Datatype::array([2, 3], Datatype::u8()), Texts::Stored).unwrap();
        assert_eq!(rows.dims, [2, 3]);
    }

    #[test]
    fn bytes_between_members_are_members() {
        let member = |name: &str, offset, datatype| Member { name: name.into(), offset, datatype };
        let (id, value) = (Datatype::u16(LittleEndian), Datatype::f64(LittleEndian));
        let padded = Datatype::compound(24, vec![member("id", 0, id.clone()), member("v", 8, value)]);
        let expected = r#"[["id","<u2"],["padding2","|V6"],["v","<f8"],["padding16","|V8"]]"#;
        assert_eq!(dtype(&padded), (expected.into(), true));
        let odd = Datatype::integer(3, false, LittleEndian);
        let converted = Datatype::compound(8, vec![member("id", 0, id), member("n", 4, odd)]);
        assert_eq!(dtype(&converted), (r#"[["id","<u2"],["n","<u4"]]"#.into(), false));
    }
}
