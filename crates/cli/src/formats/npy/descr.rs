//! The datatypes of NumPy in npy headers (`descr`), and the corresponding datatypes of HDF5.

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::{ByteOrder, Compound, DatatypeClass, FloatOrder, Member, StringPadding};
use hyperslab::{CharacterSet, Datatype};

use super::literal::Literal;
use super::time;
use crate::output::escape;
use crate::values::complex_base;

/// The size in bytes of a character in UCS-4, the string encoding of npy files.
const UCS4_BYTES: u32 = 4;

/// The element type that the header of an npy file states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadDescr {
    /// Elements with the same bytes as those of an HDF5 datatype.
    Stored(Datatype),
    /// Strings of this many characters in UCS-4, with four bytes each.
    Text(u32, ByteOrder),
    /// Integers of 64 bits that are times or durations, with their unit.
    Time(ByteOrder, String),
}

impl ReadDescr {
    /// Parses the `descr` entry of an npy header.
    pub(super) fn of(literal: &Literal) -> Result<Self> {
        match literal {
            Literal::Text(name) => Self::named(name),
            Literal::Sequence(fields) => {
                let mut members = Vec::new();
                let mut offset = 0_u32;
                for field in fields {
                    let (name, datatype) = member(field)?;
                    let size = datatype.size;
                    // Fields without a name are padding.
                    if !name.is_empty() {
                        members.push(Member { name: name.into_bytes(), offset, datatype });
                    }
                    offset =
                        offset.checked_add(size).context("an element of the npy array has 4 GiB or more")?;
                }
                if members.is_empty() {
                    bail!("the record type in the npy header has no fields");
                }
                Ok(Self::Stored(Datatype::compound(offset, members)))
            }
            _ => bail!("a type in the npy header is neither a text nor a list"),
        }
    }

    fn named(name: &str) -> Result<Self> {
        let unknown = || format!("HDF5 has no datatype for the type `{name}`");
        let (order, rest) = match name.strip_prefix(['<', '|', '=']) {
            Some(rest) => (ByteOrder::LittleEndian, rest),
            None => match name.strip_prefix('>') {
                Some(rest) => (ByteOrder::BigEndian, rest),
                None => (ByteOrder::NATIVE, name),
            },
        };
        if let Some(units) = time::units_of(rest) {
            return Ok(Self::Time(order, units));
        }
        let mut characters = rest.chars();
        let letter = characters.next().with_context(unknown)?;
        let size: u32 = characters.as_str().parse().ok().with_context(unknown)?;
        let datatype = match (letter, size) {
            ('b', 1) => Datatype::bool(),
            ('i' | 'u', 1 | 2 | 4 | 8) => Datatype::integer(u16::try_from(size)?, letter == 'i', order),
            ('f', 2) => Datatype::f16(order),
            ('f', 4) => Datatype::f32(order),
            ('f', 8) => Datatype::f64(order),
            ('c', 8) => Datatype::complex_compound(Datatype::f32(order)),
            ('c', 16) => Datatype::complex_compound(Datatype::f64(order)),
            ('S' | 'a', 1..) => Datatype::fixed_string(size, StringPadding::NullPadded, CharacterSet::Ascii),
            ('V', 1..) => Datatype::opaque(size, ""),
            ('U', 1..) => {
                size.checked_mul(UCS4_BYTES).with_context(unknown)?;
                return Ok(Self::Text(size, order));
            }
            _ => bail!(unknown()),
        };
        Ok(Self::Stored(datatype))
    }

    /// Returns the size of an element of the type that an npy header states, in bytes.
    pub(crate) fn size(&self) -> u32 {
        match self {
            Self::Stored(datatype) => datatype.size,
            // `named` has checked the product.
            Self::Text(characters, _) => characters * UCS4_BYTES,
            Self::Time(..) => time::BYTES,
        }
    }
}

fn member(field: &Literal) -> Result<(String, Datatype)> {
    let Literal::Sequence(parts) = field else {
        bail!("a field of the record type in the npy header is not a tuple")
    };
    let (name, descr, dims) = match parts.as_slice() {
        [Literal::Text(name), descr] => (name, descr, None),
        [Literal::Text(name), descr, dims] => (name, descr, Some(dims)),
        // A title and a name.
        [Literal::Sequence(names), descr, ..] => match names.as_slice() {
            [_, Literal::Text(name)] => (name, descr, parts.get(2)),
            _ => bail!("a field of the record type in the npy header has no name"),
        },
        _ => bail!("a field of the record type in the npy header has no name"),
    };
    let base = match ReadDescr::of(descr)? {
        ReadDescr::Stored(base) => base,
        ReadDescr::Text(..) => {
            bail!("the field `{name}` has text of type U, which is supported only for whole datasets")
        }
        ReadDescr::Time(..) => {
            bail!("the field `{name}` has times, which are supported only for whole datasets")
        }
    };
    let Some(dims) = dims else { return Ok((name.clone(), base)) };
    let dims = dims.numbers().context("the shape of a field in the npy header is not a list of sizes")?;
    let dims: Result<Vec<u32>, _> = dims.into_iter().map(u32::try_from).collect();
    let dims = dims?;
    let count = dims.iter().try_fold(base.size, |product, size| product.checked_mul(*size));
    if count.is_none_or(|bytes| bytes == 0) {
        bail!("the field `{name}` of the npy array has no bytes, or 4 GiB and more");
    }
    Ok((name.clone(), Datatype::array(dims, base)))
}

/// The NumPy type of elements in a written npy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenDescr {
    /// The `descr` as a Python literal: `'<f8'`, `[('a', '<i4')]`.
    pub(crate) literal: String,
    /// The datatype to which elements are converted before they are written: the stored type if
    /// NumPy has it.
    pub(crate) datatype: Datatype,
    /// The dimensions of each element.
    pub(crate) dims: Vec<u32>,
}

/// The largest nesting depth of a NumPy type.
const MAX_LEVELS: usize = 32;

impl WrittenDescr {
    /// Returns the NumPy type for a datatype: the same type if NumPy has it, else the next larger
    /// type.
    pub(crate) fn of(datatype: &Datatype) -> Result<Self> {
        Self::nested(datatype, 0)
    }

    fn nested(datatype: &Datatype, level: usize) -> Result<Self> {
        if level > MAX_LEVELS {
            bail!("npy cannot represent a type of more than {MAX_LEVELS} levels; try --format json");
        }
        let level = level + 1;
        let size = datatype.size;
        match &datatype.class {
            _ if datatype.is_bool() => Ok(simple("|b1".into(), datatype.clone())),
            DatatypeClass::FixedPoint(fixed) => {
                let letter = if fixed.signed { 'i' } else { 'u' };
                let fitting = [1, 2, 4, 8].into_iter().find(|bytes| *bytes >= fixed.precision.div_ceil(8));
                let Some(bytes) = fitting else { bail!("npy cannot represent integers of {size} bytes") };
                Ok(number(letter, fixed.order, Datatype::integer(bytes, fixed.signed, fixed.order)))
            }
            DatatypeClass::FloatingPoint(float) => Ok(float_of(float.order, datatype)),
            DatatypeClass::Enumeration(enumeration) => Self::nested(&enumeration.base, level),
            DatatypeClass::Bitfield(bits) if matches!(size, 1 | 2 | 4 | 8) => {
                Ok(simple(format!("{}u{size}", order(bits.order, size)), datatype.clone()))
            }
            DatatypeClass::String(_) => Ok(simple(format!("|S{size}"), datatype.clone())),
            DatatypeClass::Opaque(_) | DatatypeClass::Bitfield(_) => {
                Ok(simple(format!("|V{size}"), datatype.clone()))
            }
            DatatypeClass::Array(array) => {
                let base = Self::nested(&array.base, level)?;
                let dims = [array.dims.as_slice(), &base.dims].concat();
                let datatype = if base.datatype == *array.base {
                    datatype.clone()
                } else {
                    Datatype::array(array.dims.clone(), base.datatype)
                };
                Ok(Self { literal: base.literal, datatype, dims })
            }
            _ if complex_base(datatype).is_some() => complex(datatype),
            DatatypeClass::Compound(compound) => record(datatype, compound, level),
            DatatypeClass::VariableLength(_) => {
                bail!("npy cannot represent elements of variable length; try --format json or csv")
            }
            _ => bail!("npy cannot represent elements of type {datatype}; try --format json or csv"),
        }
    }
}

/// Returns a NumPy type without dimensions. The text of the type in the header is its quoted name.
fn simple(name: String, datatype: Datatype) -> WrittenDescr {
    WrittenDescr { literal: format!("'{name}'"), datatype, dims: Vec::new() }
}

fn order(order: ByteOrder, size: u32) -> char {
    match order {
        _ if size == 1 => '|',
        ByteOrder::LittleEndian => '<',
        ByteOrder::BigEndian => '>',
    }
}

fn number(letter: char, byte_order: ByteOrder, datatype: Datatype) -> WrittenDescr {
    let size = datatype.size;
    simple(format!("{}{letter}{size}", order(byte_order, size)), datatype)
}

/// Returns the IEEE floating-point type of two, four or eight bytes that represents all values of
/// `datatype`. If no such type does, returns the largest one.
fn float_of(float_order: FloatOrder, datatype: &Datatype) -> WrittenDescr {
    let order = match float_order {
        FloatOrder::BigEndian => ByteOrder::BigEndian,
        FloatOrder::LittleEndian | FloatOrder::Vax => ByteOrder::LittleEndian,
    };
    let same = [Datatype::f16(order), Datatype::f32(order), Datatype::f64(order)];
    if let Some(same) = same.into_iter().find(|same| same == datatype) {
        return number('f', order, same);
    }
    let narrow = match &datatype.class {
        DatatypeClass::FloatingPoint(float) => float.mantissa_size <= 23 && float.exponent_size <= 8,
        _ => false,
    };
    number('f', order, if narrow { Datatype::f32(order) } else { Datatype::f64(order) })
}

fn complex(datatype: &Datatype) -> Result<WrittenDescr> {
    let Some(base) = complex_base(datatype) else { bail!("the datatype {datatype} is not complex") };
    let DatatypeClass::FloatingPoint(float) = &base.class else {
        bail!("npy cannot represent complex numbers of type {base}; try --format json");
    };
    let part = float_of(float.order, base);
    // NumPy has no complex type with half-precision parts.
    let order = if part.literal.starts_with("'>") { ByteOrder::BigEndian } else { ByteOrder::LittleEndian };
    let part = if part.datatype.size < 4 { Datatype::f32(order) } else { part.datatype };
    // A part has at most eight bytes.
    let size = 2 * part.size;
    let sign = if order == ByteOrder::BigEndian { '>' } else { '<' };
    let same = part == *base && datatype.size == size;
    let datatype = if same { datatype.clone() } else { rebuilt(datatype, part) };
    Ok(simple(format!("{sign}c{size}"), datatype))
}

/// Returns a complex datatype whose real and imaginary parts have the datatype `part`. The class
/// and the member names stay the same, so that a conversion exists.
fn rebuilt(datatype: &Datatype, part: Datatype) -> Datatype {
    match &datatype.class {
        DatatypeClass::Compound(_) => Datatype::complex_compound(part),
        _ => Datatype::complex(part),
    }
}

/// Returns the NumPy type of compound elements. If NumPy has the types of all members, the members
/// keep their offsets, and unnamed fields fill the gaps. Otherwise, the members are packed.
fn record(datatype: &Datatype, compound: &Compound, level: usize) -> Result<WrittenDescr> {
    let mut members: Vec<(&Member, WrittenDescr)> = Vec::new();
    for member in &compound.members {
        members.push((member, WrittenDescr::nested(&member.datatype, level)?));
    }
    members.sort_by_key(|(member, _)| member.offset);
    let end_of = |member: &Member| member.offset.checked_add(member.datatype.size);
    let in_order = members.windows(2).all(|pair| match pair {
        [(first, _), (second, _)] => end_of(first).is_some_and(|end| end <= second.offset),
        _ => true,
    });
    let same = in_order && members.iter().all(|(member, descr)| descr.datatype == member.datatype);
    let mut fields = Vec::new();
    let mut end = 0_u32;
    for (member, descr) in &members {
        if same && member.offset > end {
            fields.push(format!("('', '|V{}')", member.offset - end));
        }
        fields.push(field(&member.name, descr)?);
        end = end_of(member).context("a member of the compound ends after 4 GiB")?;
    }
    if same && datatype.size > end {
        fields.push(format!("('', '|V{}')", datatype.size - end));
    }
    let literal = format!("[{}]", fields.join(", "));
    let datatype = if same {
        datatype.clone()
    } else {
        let packed = members.iter().map(|(member, descr)| (member.name.clone(), descr.datatype.clone()));
        Datatype::packed(packed)
    };
    Ok(WrittenDescr { literal, datatype, dims: Vec::new() })
}

fn field(name: &[u8], descr: &WrittenDescr) -> Result<String> {
    let Ok(text) = std::str::from_utf8(name) else {
        bail!("npy cannot represent the member name `{}`", escape(name));
    };
    if text.is_empty() || text.chars().any(char::is_control) {
        bail!("npy cannot represent the member name `{}`", escape(name));
    }
    let name = text.replace('\\', "\\\\").replace('\'', "\\'");
    let dims: Vec<String> = descr.dims.iter().map(|size| format!("{size},")).collect();
    Ok(match dims.is_empty() {
        true => format!("('{name}', {})", descr.literal),
        false => format!("('{name}', {}, ({}))", descr.literal, dims.join(" ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::datatype::ByteOrder::{BigEndian, LittleEndian};

    fn literal(datatype: &Datatype) -> String {
        WrittenDescr::of(datatype).unwrap().literal
    }

    #[test]
    fn types_that_numpy_has_are_kept() {
        for (datatype, expected) in [
            (Datatype::i32(LittleEndian), "'<i4'"),
            (Datatype::u16(BigEndian), "'>u2'"),
            (Datatype::u8(), "'|u1'"),
            (Datatype::f16(BigEndian), "'>f2'"),
            (Datatype::f64(LittleEndian), "'<f8'"),
            (Datatype::bool(), "'|b1'"),
            (Datatype::complex(Datatype::f32(BigEndian)), "'>c8'"),
            (Datatype::complex_compound(Datatype::f64(LittleEndian)), "'<c16'"),
            (Datatype::opaque(5, "x"), "'|V5'"),
            (Datatype::bitfield(2, LittleEndian), "'<u2'"),
        ] {
            let descr = WrittenDescr::of(&datatype).unwrap();
            assert_eq!((descr.literal.as_str(), &descr.datatype), (expected, &datatype));
        }
    }

    #[test]
    fn others_become_the_next_larger_one() {
        let float =
            |datatype: &Datatype| (literal(datatype), WrittenDescr::of(datatype).unwrap().datatype.size);
        assert_eq!(float(&Datatype::bf16(LittleEndian)), ("'<f4'".into(), 4));
        assert_eq!(float(&Datatype::f8_e4m3()), ("'<f4'".into(), 4));
        assert_eq!(float(&Datatype::x87(16)), ("'<f8'".into(), 8));
        assert_eq!(float(&Datatype::vax_f32()), ("'<f4'".into(), 4));
        assert_eq!(float(&Datatype::integer(3, true, BigEndian)), ("'>i4'".into(), 4));
        assert_eq!(float(&Datatype::complex(Datatype::f16(BigEndian))), ("'>c8'".into(), 8));
        assert!(WrittenDescr::of(&Datatype::integer(9, true, BigEndian)).is_err());
    }

    #[test]
    fn records_keep_their_gaps() {
        let member = |name: &str, offset, datatype| Member { name: name.into(), offset, datatype };
        let datatype = Datatype::compound(
            24,
            vec![
                member("it's", 2, Datatype::u8()),
                member("v", 8, Datatype::array(vec![2, 3], Datatype::i16(LittleEndian))),
            ],
        );
        let descr = WrittenDescr::of(&datatype).unwrap();
        let expected = r"[('', '|V2'), ('it\'s', '|u1'), ('', '|V5'), ('v', '<i2', (2, 3,)), ('', '|V4')]";
        assert_eq!((descr.literal.as_str(), &descr.datatype), (expected, &datatype));
        let odd = Datatype::compound(24, vec![member("b", 4, Datatype::bf16(LittleEndian))]);
        let descr = WrittenDescr::of(&odd).unwrap();
        assert_eq!((descr.literal.as_str(), descr.datatype.size), ("[('b', '<f4')]", 4));
        for wrong in ["", "a\nb"] {
            assert!(
                WrittenDescr::of(&Datatype::compound(1, vec![member(wrong, 0, Datatype::u8())])).is_err()
            );
        }
    }

    fn of(text: &str) -> Result<ReadDescr> {
        ReadDescr::of(&Literal::parse(text)?)
    }

    #[test]
    fn types_of_numpy() {
        let stored = |datatype| ReadDescr::Stored(datatype);
        assert_eq!(of("'<f8'").unwrap(), stored(Datatype::f64(LittleEndian)));
        assert_eq!(of("'>i2'").unwrap(), stored(Datatype::i16(BigEndian)));
        assert_eq!(of("'|b1'").unwrap(), stored(Datatype::bool()));
        assert_eq!(of("'>U3'").unwrap(), ReadDescr::Text(3, BigEndian));
        let record = of("[('a', '|u1'), ('', '|V3'), ('b', '<f4', (2,))]").unwrap();
        assert_eq!(record.size(), 12);
        let ReadDescr::Stored(record) = record else { panic!() };
        assert_eq!(record.member_at("b").unwrap().0, 4);
        for text in ["'<M8[Y]'", "'O'", "'<f3'", "'|S0'", "[]", "3", "[('a', '<U3')]"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
