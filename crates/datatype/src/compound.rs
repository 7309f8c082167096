//! Classes with named members: compounds and enumerations.

use crate::Datatype;

/// A record of named members.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Compound {
    /// The members in stored order.
    pub members: Vec<Member>,
}

/// One member of a compound.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Member {
    /// The name, as the bytes in the file.
    pub name: Vec<u8>,
    /// Bytes from the start of the element.
    pub offset: u32,
    /// Type of the member.
    pub datatype: Datatype,
}

/// Named values of an integer type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Enumeration {
    /// The type of the values.
    pub base: Box<Datatype>,
    /// The members in stored order.
    pub members: Vec<EnumerationMember>,
}

/// One name and value of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EnumerationMember {
    /// The name, as the bytes in the file.
    pub name: Vec<u8>,
    /// The value, as an element of the base type.
    pub value: Vec<u8>,
}
