//! Datatype classes with named members: compounds and enumerations.

use crate::Datatype;

/// A compound datatype: a record with named members.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Compound {
    /// The members in stored order.
    pub members: Vec<Member>,
}

/// A member of a compound datatype: its name, its offset within an element, and its datatype.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Member {
    /// The name, as stored in the file.
    pub name: Vec<u8>,
    /// The offset of the member from the start of the element, in bytes.
    pub offset: u32,
    /// The type of the member.
    pub datatype: Datatype,
}

/// An enumeration datatype: an integer type with named values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Enumeration {
    /// The integer type of the values.
    pub base: Box<Datatype>,
    /// The members in stored order.
    pub members: Vec<EnumerationMember>,
}

/// A named value of an enumeration datatype.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EnumerationMember {
    /// The name, as stored in the file.
    pub name: Vec<u8>,
    /// The value, as bytes of the base type.
    pub value: Vec<u8>,
}
