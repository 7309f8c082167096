//! What a datatype is for NumPy: the `descr` of an npy header, and the bytes that go with it.

use anyhow::{Result, bail};
use hyperslab::Datatype;
use hyperslab::datatype::{ByteOrder, Compound, DatatypeClass, FloatOrder, Member};

use crate::output::escape;
use crate::values::complex_base;

/// A type as NumPy has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Descr {
    /// As Python literal: `'<f8'`, `[('a', '<i4')]`.
    pub(crate) literal: String,
    /// What elements are converted to before they are written; the stored type itself where NumPy has it.
    pub(crate) datatype: Datatype,
    /// Dimensions of the elements.
    pub(crate) dims: Vec<u32>,
}

/// How deep types may nest.
const MOST_LEVELS: usize = 32;

impl Descr {
    /// The type of NumPy for a datatype: the same one where there is such, else the next larger one.
    pub(crate) fn of(datatype: &Datatype) -> Result<Self> {
        Self::nested(datatype, 0)
    }

    fn nested(datatype: &Datatype, level: usize) -> Result<Self> {
        if level > MOST_LEVELS {
            bail!("a type of more than {MOST_LEVELS} levels has no npy form; try --format json");
        }
        let level = level.saturating_add(1);
        let size = datatype.size;
        match &datatype.class {
            _ if datatype.is_bool() => Ok(simple("|b1".into(), datatype.clone())),
            DatatypeClass::FixedPoint(fixed) => {
                let letter = if fixed.signed { 'i' } else { 'u' };
                let fitting =
                    [1, 2, 4, 8].into_iter().find(|bytes| *bytes >= u32::from(fixed.precision).div_ceil(8));
                let Some(bytes) = fitting else { bail!("integers of {size} bytes have no npy form") };
                let narrow = u16::try_from(bytes).unwrap_or(8);
                Ok(number(letter, fixed.order, Datatype::integer(narrow, fixed.signed, fixed.order)))
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
                bail!("values of variable length have no npy form here; try --format json or csv")
            }
            _ => bail!("elements of type {datatype} have no npy form; try --format json or csv"),
        }
    }
}

/// The Python literal of a type, quoted.
fn simple(name: String, datatype: Datatype) -> Descr {
    Descr { literal: format!("'{name}'"), datatype, dims: Vec::new() }
}

fn order(order: ByteOrder, size: u32) -> char {
    match order {
        _ if size == 1 => '|',
        ByteOrder::LittleEndian => '<',
        ByteOrder::BigEndian => '>',
    }
}

fn number(letter: char, byte_order: ByteOrder, datatype: Datatype) -> Descr {
    let size = datatype.size;
    simple(format!("{}{letter}{size}", order(byte_order, size)), datatype)
}

/// An IEEE number of two, four or eight bytes that holds all values of the type (the largest, if none does).
fn float_of(float_order: FloatOrder, datatype: &Datatype) -> Descr {
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

fn complex(datatype: &Datatype) -> Result<Descr> {
    let Some(base) = complex_base(datatype) else { bail!("no complex number") };
    let DatatypeClass::FloatingPoint(float) = &base.class else {
        bail!("complex numbers of type {base} have no npy form; try --format json");
    };
    let part = float_of(float.order, base);
    // NumPy has no complex numbers of two half-precision ones.
    let order = if part.literal.starts_with("'>") { ByteOrder::BigEndian } else { ByteOrder::LittleEndian };
    let part = if part.datatype.size < 4 { Datatype::f32(order) } else { part.datatype };
    let size = part.size.saturating_mul(2);
    let sign = if order == ByteOrder::BigEndian { '>' } else { '<' };
    let same = part == *base && datatype.size == size;
    let datatype = if same { datatype.clone() } else { rebuilt(datatype, part) };
    Ok(simple(format!("{sign}c{size}"), datatype))
}

/// The complex type with other parts, of the same class and member names, so that there is a conversion.
fn rebuilt(datatype: &Datatype, part: Datatype) -> Datatype {
    match &datatype.class {
        DatatypeClass::Compound(_) => Datatype::complex_compound(part),
        _ => Datatype::complex(part),
    }
}

/// Members at their offsets, with what lies between them as nameless fields, if all are as NumPy has them; else
/// packed.
fn record(datatype: &Datatype, compound: &Compound, level: usize) -> Result<Descr> {
    let mut members: Vec<(&Member, Descr)> = Vec::new();
    for member in &compound.members {
        members.push((member, Descr::nested(&member.datatype, level)?));
    }
    members.sort_by_key(|(member, _)| member.offset);
    let in_order = members.windows(2).all(|pair| match pair {
        [(first, _), (second, _)] => first.offset.saturating_add(first.datatype.size) <= second.offset,
        _ => true,
    });
    let same = in_order && members.iter().all(|(member, descr)| descr.datatype == member.datatype);
    let mut fields = Vec::new();
    let mut end = 0_u32;
    for (member, descr) in &members {
        if same && member.offset > end {
            fields.push(format!("('', '|V{}')", member.offset.saturating_sub(end)));
        }
        fields.push(field(&member.name, descr)?);
        end = member.offset.saturating_add(member.datatype.size);
    }
    if same && datatype.size > end {
        fields.push(format!("('', '|V{}')", datatype.size.saturating_sub(end)));
    }
    let literal = format!("[{}]", fields.join(", "));
    let datatype = if same {
        datatype.clone()
    } else {
        let packed = members.iter().map(|(member, descr)| (member.name.clone(), descr.datatype.clone()));
        Datatype::packed(packed)
    };
    Ok(Descr { literal, datatype, dims: Vec::new() })
}

fn field(name: &[u8], descr: &Descr) -> Result<String> {
    let Ok(text) = std::str::from_utf8(name) else {
        bail!("the member name `{}` has no npy form", escape(name));
    };
    if text.is_empty() || text.chars().any(char::is_control) {
        bail!("the member name `{}` has no npy form", escape(name));
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
        Descr::of(datatype).unwrap().literal
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
            let descr = Descr::of(&datatype).unwrap();
            assert_eq!((descr.literal.as_str(), &descr.datatype), (expected, &datatype));
        }
    }

    #[test]
    fn others_become_the_next_larger_one() {
        let float = |datatype: &Datatype| (literal(datatype), Descr::of(datatype).unwrap().datatype.size);
        assert_eq!(float(&Datatype::bf16(LittleEndian)), ("'<f4'".into(), 4));
        assert_eq!(float(&Datatype::f8_e4m3()), ("'<f4'".into(), 4));
        assert_eq!(float(&Datatype::x87(16)), ("'<f8'".into(), 8));
        assert_eq!(float(&Datatype::vax_f32()), ("'<f4'".into(), 4));
        assert_eq!(float(&Datatype::integer(3, true, BigEndian)), ("'>i4'".into(), 4));
        assert_eq!(float(&Datatype::complex(Datatype::f16(BigEndian))), ("'>c8'".into(), 8));
        assert!(Descr::of(&Datatype::integer(9, true, BigEndian)).is_err());
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
        let descr = Descr::of(&datatype).unwrap();
        let expected = r"[('', '|V2'), ('it\'s', '|u1'), ('', '|V5'), ('v', '<i2', (2, 3,)), ('', '|V4')]";
        assert_eq!((descr.literal.as_str(), &descr.datatype), (expected, &datatype));
        let odd = Datatype::compound(24, vec![member("b", 4, Datatype::bf16(LittleEndian))]);
        let descr = Descr::of(&odd).unwrap();
        assert_eq!((descr.literal.as_str(), descr.datatype.size), ("[('b', '<f4')]", 4));
        for wrong in ["", "a\nb"] {
            assert!(Descr::of(&Datatype::compound(1, vec![member(wrong, 0, Datatype::u8())])).is_err());
        }
    }
}
