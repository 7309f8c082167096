//! NumPy's types as datatypes.

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::{ByteOrder, StringPadding};
use hyperslab::{CharacterSet, Datatype};

use super::python::Literal;

/// A type of NumPy's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Descr {
    /// The bytes are those that HDF5 stores.
    Stored(Datatype),
    /// Text of that many characters, four bytes each.
    Text(usize, ByteOrder),
}

impl Descr {
    /// The type that a header's `descr` says.
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
                        members.push((name.into_bytes(), offset, datatype));
                    }
                    offset = offset.checked_add(size).context("elements of 4 GiB and more")?;
                }
                if members.is_empty() {
                    bail!("a record without fields");
                }
                Ok(Self::Stored(compound(members, offset)))
            }
            _ => bail!("a type that is neither text nor a list"),
        }
    }

    fn named(name: &str) -> Result<Self> {
        let unknown = || format!("the type `{name}` has no HDF5 form");
        let (order, rest) = match name.strip_prefix(['<', '|', '=']) {
            Some(rest) => (ByteOrder::LittleEndian, rest),
            None => match name.strip_prefix('>') {
                Some(rest) => (ByteOrder::BigEndian, rest),
                None => (ByteOrder::NATIVE, name),
            },
        };
        let mut characters = rest.chars();
        let letter = characters.next().with_context(unknown)?;
        let size: u32 = characters.as_str().parse().ok().with_context(unknown)?;
        let narrow = u16::try_from(size).unwrap_or(u16::MAX);
        let datatype = match (letter, size) {
            ('b', 1) => Datatype::bool(),
            ('i' | 'u', 1 | 2 | 4 | 8) => Datatype::integer(narrow, letter == 'i', order),
            ('f', 2) => Datatype::f16(order),
            ('f', 4) => Datatype::f32(order),
            ('f', 8) => Datatype::f64(order),
            ('c', 8) => Datatype::complex_compound(Datatype::f32(order)),
            ('c', 16) => Datatype::complex_compound(Datatype::f64(order)),
            ('S' | 'a', 1..) => Datatype::fixed_string(size, StringPadding::NullPadded, CharacterSet::Ascii),
            ('V', 1..) => Datatype::opaque(size, ""),
            ('U', 1..) => return Ok(Self::Text(usize::try_from(size)?, order)),
            _ => bail!(unknown()),
        };
        Ok(Self::Stored(datatype))
    }

    /// Bytes of an element in the npy file.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Stored(datatype) => datatype.size as usize,
            Self::Text(characters, _) => characters.saturating_mul(4),
        }
    }
}

fn member(field: &Literal) -> Result<(String, Datatype)> {
    let Literal::Sequence(parts) = field else { bail!("a field that is no tuple") };
    let (name, descr, dims) = match parts.as_slice() {
        [Literal::Text(name), descr] => (name, descr, None),
        [Literal::Text(name), descr, dims] => (name, descr, Some(dims)),
        // A title and a name.
        [Literal::Sequence(names), descr, ..] => match names.as_slice() {
            [_, Literal::Text(name)] => (name, descr, parts.get(2)),
            _ => bail!("a field without a name"),
        },
        _ => bail!("a field without a name"),
    };
    let Descr::Stored(base) = Descr::of(descr)? else {
        bail!("the field `{name}` holds text of type U, which only whole datasets can hold here");
    };
    let Some(dims) = dims else { return Ok((name.clone(), base)) };
    let dims = dims.numbers().context("the shape of a field is none")?;
    let dims: Result<Vec<u32>, _> = dims.into_iter().map(u32::try_from).collect();
    let dims = dims?;
    let count = dims.iter().try_fold(base.size, |product, size| product.checked_mul(*size));
    if count.is_none_or(|bytes| bytes == 0) {
        bail!("the field `{name}` has no bytes, or 4 GiB and more");
    }
    Ok((name.clone(), Datatype::array(dims, base)))
}

fn compound(members: Vec<(Vec<u8>, u32, Datatype)>, size: u32) -> Datatype {
    use hyperslab::datatype::{Compound, DatatypeClass, Member};
    let member = |(name, offset, datatype)| Member { name, offset, datatype };
    let members = members.into_iter().map(member).collect();
    Datatype { size, class: DatatypeClass::Compound(Compound { members }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Descr> {
        Descr::of(&Literal::parse(text)?)
    }

    #[test]
    fn types_of_numpy() {
        let stored = |datatype| Descr::Stored(datatype);
        assert_eq!(of("'<f8'").unwrap(), stored(Datatype::f64(ByteOrder::LittleEndian)));
        assert_eq!(of("'>i2'").unwrap(), stored(Datatype::i16(ByteOrder::BigEndian)));
        assert_eq!(of("'|b1'").unwrap(), stored(Datatype::bool()));
        assert_eq!(of("'>U3'").unwrap(), Descr::Text(3, ByteOrder::BigEndian));
        let record = of("[('a', '|u1'), ('', '|V3'), ('b', '<f4', (2,))]").unwrap();
        assert_eq!(record.size(), 12);
        let Descr::Stored(record) = record else { panic!() };
        assert_eq!(record.member_at("b").unwrap().0, 4);
        for text in ["'<M8[ns]'", "'O'", "'<f3'", "'|S0'", "[]", "3", "[('a', '<U3')]"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
