//! Queries about datatypes.

use crate::{Datatype, DatatypeClass, VariableLengthKind};

impl Datatype {
    /// Returns whether the class of a datatype, or the class of any datatype nested in it,
    /// satisfies the predicate `is`.
    fn contains(&self, is: fn(&DatatypeClass) -> bool) -> bool {
        if is(&self.class) {
            return true;
        }
        match &self.class {
            DatatypeClass::Compound(compound) => {
                compound.members.iter().any(|member| member.datatype.contains(is))
            }
            DatatypeClass::Enumeration(enumeration) => enumeration.base.contains(is),
            DatatypeClass::VariableLength(variable) => variable.base.contains(is),
            DatatypeClass::Array(array) => array.base.contains(is),
            DatatypeClass::Complex(complex) => complex.base.contains(is),
            _ => false,
        }
    }

    /// Returns whether elements of the datatype contain sequences or strings of variable length, at
    /// any depth. The elements then refer to heaps of their file.
    pub fn is_variable_length(&self) -> bool {
        self.contains(|class| matches!(class, DatatypeClass::VariableLength(_)))
    }

    /// Returns whether elements of the datatype contain references, at any depth.
    pub fn contains_reference(&self) -> bool {
        self.contains(|class| matches!(class, DatatypeClass::Reference(_)))
    }

    /// Returns whether elements of the datatype refer to other data of their file, by heap indexes
    /// or references. If so, copies of the elements in another file have no meaning.
    pub fn points_into_file(&self) -> bool {
        self.is_variable_length() || self.contains_reference()
    }

    /// Returns whether the datatype is a string of variable length.
    pub fn is_variable_string(&self) -> bool {
        matches!(&self.class, DatatypeClass::VariableLength(variable)
            if matches!(variable.kind, VariableLengthKind::String { .. }))
    }

    /// Returns whether the datatype is a string of fixed or variable length.
    pub fn is_string(&self) -> bool {
        matches!(self.class, DatatypeClass::String(_)) || self.is_variable_string()
    }

    /// Returns whether the datatype is an integer or a floating-point number.
    pub fn is_number(&self) -> bool {
        matches!(self.class, DatatypeClass::FixedPoint(_) | DatatypeClass::FloatingPoint(_))
    }

    /// Returns whether the datatype is a boolean: an enumeration of a one-byte integer with exactly
    /// the members FALSE = 0 and TRUE = 1, in any order.
    pub fn is_bool(&self) -> bool {
        let DatatypeClass::Enumeration(enumeration) = &self.class else { return false };
        let value_of = |name: &[u8]| {
            let member = enumeration.members.iter().find(|member| member.name == name);
            member.map(|member| member.value.as_slice())
        };
        self.size == 1
            && matches!(enumeration.base.class, DatatypeClass::FixedPoint(_))
            && enumeration.members.len() == 2
            && value_of(b"FALSE") == Some(&[0])
            && value_of(b"TRUE") == Some(&[1])
    }

    /// Returns the datatype of the real and the imaginary part of a complex datatype. Returns
    /// `None` for other datatypes.
    ///
    /// A complex number is of the complex class, or a compound of the members `r` and `i` of one
    /// floating-point type. h5py writes the latter.
    pub fn complex_part(&self) -> Option<&Self> {
        match &self.class {
            DatatypeClass::Complex(complex) => Some(&complex.base),
            DatatypeClass::Compound(compound) => match compound.members.as_slice() {
                [real, imaginary]
                    if real.name == b"r"
                        && imaginary.name == b"i"
                        && matches!(real.datatype.class, DatatypeClass::FloatingPoint(_))
                        && real.datatype == imaginary.datatype =>
                {
                    Some(&real.datatype)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the names of the members of a compound datatype. Returns no names for other classes.
    /// Bytes that are not UTF-8 are replaced.
    ///
    /// ```
    /// use hyperslab_datatype::{ByteOrder::LittleEndian, Datatype};
    /// let number = Datatype::f32(LittleEndian);
    /// let point = Datatype::packed([("x", number.clone()), ("y", number)]);
    /// assert_eq!(point.member_names(), ["x", "y"]);
    /// ```
    pub fn member_names(&self) -> Vec<String> {
        let DatatypeClass::Compound(compound) = &self.class else { return Vec::new() };
        compound.members.iter().map(|member| String::from_utf8_lossy(&member.name).into_owned()).collect()
    }

    /// Returns the offset in bytes and the datatype of a member of a compound datatype. `path` may
    /// lead to a member of a nested compound. The offset counts from the start of the element.
    ///
    /// `path` consists of member names, joined by dots. Member names may contain dots themselves.
    ///
    /// ```
    /// use hyperslab_datatype::{ByteOrder::LittleEndian, Datatype};
    /// let members = [("x", Datatype::f32(LittleEndian)), ("y", Datatype::f64(LittleEndian))];
    /// let point = Datatype::packed(members);
    /// let body = Datatype::packed([("id", Datatype::u8()), ("at", point)]);
    /// assert_eq!(body.member_at("at.y"), Some((5, &Datatype::f64(LittleEndian))));
    /// assert_eq!(body.member_at("at.z"), None);
    /// ```
    pub fn member_at(&self, path: &str) -> Option<(u32, &Self)> {
        let DatatypeClass::Compound(compound) = &self.class else { return None };
        compound.members.iter().find_map(|member| {
            let rest = path.as_bytes().strip_prefix(member.name.as_slice())?;
            match rest.split_first() {
                None => Some((member.offset, &member.datatype)),
                Some((b'.', _)) => {
                    let (offset, found) = member.datatype.member_at(path.get(member.name.len() + 1..)?)?;
                    Some((member.offset.checked_add(offset)?, found))
                }
                Some(_) => None,
            }
        })
    }

    /// Returns the number of items in an element of an array datatype, and 1 for every other
    /// datatype. Returns `None` if the number overflows.
    pub fn array_len(&self) -> Option<usize> {
        match &self.class {
            DatatypeClass::Array(array) => array
                .dims
                .iter()
                .try_fold(1_usize, |product, dim| product.checked_mul(usize::try_from(*dim).ok()?)),
            _ => Some(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{ByteOrder::BigEndian as BE, CharacterSet, Datatype};

    #[test]
    fn variable_length_is_found_at_any_depth() {
        let text = Datatype::variable_string(CharacterSet::Utf8, 8);
        let nested = Datatype::packed([("a", Datatype::u8()), ("b", Datatype::array([2], text.clone()))]);
        assert!(text.is_variable_length() && text.is_variable_string() && text.is_string());
        assert!(nested.is_variable_length() && !nested.is_variable_string());
        assert!(!Datatype::array([2], Datatype::u8()).is_variable_length());
    }

    #[test]
    fn references_are_found_at_any_depth() {
        let reference = Datatype::sequence(Datatype::object_reference(8), 8);
        assert!(reference.contains_reference() && reference.points_into_file());
        assert!(!Datatype::f32(BE).points_into_file());
    }

    #[test]
    fn booleans_and_complex_numbers() {
        assert!(Datatype::bool().is_bool());
        assert!(!Datatype::u8().is_bool());
        let base = Datatype::f32(BE);
        assert_eq!(Datatype::complex(base.clone()).complex_part(), Some(&base));
        assert_eq!(Datatype::complex_compound(base.clone()).complex_part(), Some(&base));
        assert_eq!(Datatype::packed([("x", base.clone()), ("y", base)]).complex_part(), None);
    }
}
