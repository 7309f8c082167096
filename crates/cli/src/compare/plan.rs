//! The plan for the comparison of elements of two datatypes, which is made once for all elements.

use std::collections::HashMap;
use std::ops::Range;

use hyperslab::datatype::{
    Compound, Enumeration, Reference, StringPadding, VariableLength, VariableLengthKind,
};
use hyperslab::{Datatype, DatatypeClass};

use super::numbers::Reader;

/// The largest nesting depth of datatypes that can be compared.
const MAX_LEVELS: usize = 64;

/// A plan for the comparison of two elements or of their parts, derived from their datatypes.
#[derive(Debug)]
pub(super) enum Plan {
    Numbers(Reader, Reader),
    Names(Names, Names),
    Texts(Text, Text),
    /// Byte by byte.
    Bytes {
        one: usize,
        other: usize,
    },
    /// Compounds: the members that have the same name on both sides.
    Record {
        one: usize,
        other: usize,
        members: Vec<MemberPair>,
    },
    /// A fixed number of contiguous items.
    Items {
        one: usize,
        other: usize,
        count: usize,
        plan: Box<Plan>,
    },
    /// Variable-length sequences of items.
    Sequences {
        one: usize,
        other: usize,
        plan: Box<Plan>,
    },
    References {
        one: (usize, Reference),
        other: (usize, Reference),
    },
}

/// A member with the same name in both compound datatypes.
#[derive(Debug)]
pub(super) struct MemberPair {
    pub(super) name: Vec<u8>,
    pub(super) one: Range<usize>,
    pub(super) other: Range<usize>,
    pub(super) plan: Plan,
}

/// The names of an enumeration's values, for the comparison of two enumerations.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) reader: Reader,
    pub(super) by_value: HashMap<Vec<u8>, Vec<u8>>,
}

/// The size and padding of a fixed-length string, for the comparison of two strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) size: usize,
    pub(super) padding: StringPadding,
    /// True for variable-length text.
    pub(super) is_variable: bool,
}

impl Plan {
    /// Plans the comparison of elements of two datatypes. Returns `None` if the datatypes cannot be
    /// compared.
    pub(super) fn new(one: &Datatype, other: &Datatype) -> Option<Self> {
        Self::within(one, other, 0)
    }

    fn within(one: &Datatype, other: &Datatype, level: usize) -> Option<Self> {
        let level = level.checked_add(1).filter(|level| *level < MAX_LEVELS)?;
        if let (Some(one), Some(other)) = (Text::of(one), Text::of(other)) {
            return Some(Self::Texts(one, other));
        }
        match (&one.class, &other.class) {
            (DatatypeClass::Enumeration(names), DatatypeClass::Enumeration(others)) => {
                Some(Self::Names(Names::of(names)?, Names::of(others)?))
            }
            (DatatypeClass::Compound(record), DatatypeClass::Compound(others)) => {
                Self::record((one, record), (other, others), level)
            }
            (DatatypeClass::Array(array), DatatypeClass::Array(others)) => {
                // If the first dimensions of two arrays differ in size, only the common part is
                // compared.
                let (rows, other_rows) = (array.dims.split_first()?, others.dims.split_first()?);
                let shorter = if rows.0 > other_rows.0 { other } else { one };
                let count = shorter.array_len().filter(|_| rows.1 == other_rows.1)?;
                let plan = Box::new(Self::within(&array.base, &others.base, level)?);
                Some(Self::Items { one: size(one)?, other: size(other)?, count, plan })
            }
            (DatatypeClass::Complex(complex), DatatypeClass::Complex(others)) => {
                let plan = Box::new(Self::within(&complex.base, &others.base, level)?);
                Some(Self::Items { one: size(one)?, other: size(other)?, count: 2, plan })
            }
            (DatatypeClass::VariableLength(items), DatatypeClass::VariableLength(others)) => {
                let plan = Box::new(Self::within(&items.base, &others.base, level)?);
                Some(Self::Sequences { one: size(one)?, other: size(other)?, plan })
            }
            (DatatypeClass::Reference(kind), DatatypeClass::Reference(others)) => {
                Some(Self::References { one: (size(one)?, *kind), other: (size(other)?, *others) })
            }
            (DatatypeClass::Opaque(_), DatatypeClass::Opaque(_))
            | (DatatypeClass::Time(_), DatatypeClass::Time(_)) => {
                Some(Self::Bytes { one: size(one)?, other: size(other)? })
            }
            _ => match (Reader::new(one), Reader::new(other)) {
                (Some(one), Some(other)) => Some(Self::Numbers(one, other)),
                // Numbers too large for `Number` are compared as bytes if their types are equal.
                _ => (one == other && !one.points_into_file())
                    .then_some(Self::Bytes { one: size(one)?, other: size(other)? }),
            },
        }
    }

    fn record(
        (one, record): (&Datatype, &Compound),
        (other, others): (&Datatype, &Compound),
        level: usize,
    ) -> Option<Self> {
        let by_name: HashMap<&[u8], _> =
            others.members.iter().map(|member| (member.name.as_slice(), member)).collect();
        let mut members = Vec::new();
        for member in &record.members {
            let Some(same) = by_name.get(member.name.as_slice()) else { continue };
            if let Some(plan) = Self::within(&member.datatype, &same.datatype, level) {
                let range = |offset: u32, datatype: &Datatype| {
                    let start = usize::try_from(offset).ok()?;
                    Some(start..start.checked_add(size(datatype)?)?)
                };
                members.push(MemberPair {
                    name: member.name.clone(),
                    one: range(member.offset, &member.datatype)?,
                    other: range(same.offset, &same.datatype)?,
                    plan,
                });
            }
        }
        (!members.is_empty()).then_some(Self::Record { one: size(one)?, other: size(other)?, members })
    }

    /// Returns true if two elements of the compared datatypes are equal when all their bytes are
    /// zero. An enumeration may have different names for zero in the two datatypes.
    pub(super) fn are_zeros_equal(&self) -> bool {
        match self {
            Self::Names(one, other) => one.of_zero() == other.of_zero(),
            Self::Record { members, .. } => members.iter().all(|member| member.plan.are_zeros_equal()),
            Self::Items { plan, .. } => plan.are_zeros_equal(),
            _ => true,
        }
    }

    /// Returns the size of an element on the first and on the second side of the comparison.
    pub(super) fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Numbers(one, other) => (one.size(), other.size()),
            Self::Names(one, other) => (one.reader.size(), other.reader.size()),
            Self::Texts(one, other) => (one.size, other.size),
            Self::Bytes { one, other }
            | Self::Record { one, other, .. }
            | Self::Items { one, other, .. }
            | Self::Sequences { one, other, .. } => (*one, *other),
            Self::References { one, other } => (one.0, other.0),
        }
    }
}

impl Names {
    fn of(names: &Enumeration) -> Option<Self> {
        let by_value = names.members.iter().map(|member| (member.value.clone(), member.name.clone()));
        Some(Self { reader: Reader::new(&names.base)?, by_value: by_value.collect() })
    }

    fn of_zero(&self) -> Option<&Vec<u8>> {
        self.by_value.get(&vec![0; self.reader.size()])
    }
}

impl Text {
    fn of(datatype: &Datatype) -> Option<Self> {
        let (padding, is_variable) = match &datatype.class {
            DatatypeClass::String(text) => (text.padding, false),
            DatatypeClass::VariableLength(VariableLength {
                kind: VariableLengthKind::String { padding, .. },
                ..
            }) => (*padding, true),
            _ => return None,
        };
        Some(Self { size: size(datatype)?, padding, is_variable })
    }
}

fn size(datatype: &Datatype) -> Option<usize> {
    usize::try_from(datatype.size).ok().filter(|size| *size > 0)
}
