//! The verdict of h5diff: a check that the types and shapes of two objects can be compared, with
//! the messages if they cannot.

use hyperslab::datatype::{VariableLength, VariableLengthKind};
use hyperslab::{Dataspace, Datatype, DatatypeClass};

use crate::tools::ddl;

/// A pair of datasets or attributes whose elements are compared.
pub(super) struct Pair<'a> {
    pub(super) names: [&'a str; 2],
    pub(super) types: [&'a Datatype; 2],
    pub(super) spaces: [&'a Dataspace; 2],
}

/// The verdict on a pair of datasets or attributes: a flag that is true if their elements can be
/// compared, and messages.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) can: bool,
    /// The messages, each with the options that print it.
    pub(super) lines: Vec<(LineLevel, String)>,
}

/// The options of h5diff (`-v`, `-c`) for which it prints a message of its verdict on a pair of
/// datasets or attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineLevel {
    /// `-v`.
    Verbose,
    /// `-v` or `-c`.
    VerboseOrListed,
}

impl Pair<'_> {
    /// Decides if the elements of a pair of datasets or attributes can be compared.
    pub(super) fn verdict(&self) -> Verdict {
        let mut verdict = Verdict { can: false, lines: Vec::new() };
        let [name, other_name] = self.names;
        let [one, other] = self.types;
        if class(one) != class(other) {
            verdict.say(format!(
                "Not comparable: <{name}> is of class {} and <{other_name}> is of class {}",
                class(one),
                class(other)
            ));
            return verdict;
        }
        verdict.warn_of_types(self, one, other);
        let [space, other_space] = self.spaces;
        if space.dims() != other_space.dims() {
            verdict.say(format!("Not comparable: <{name}> has {}", extent(space)));
            verdict.say(format!("and <{other_name}> has {}", extent(other_space)));
            return verdict;
        }
        if max_dims(space) != max_dims(other_space) {
            verdict.warn("Warning: different maximum dimensions".into());
            for (name, space) in [(name, space), (other_name, other_space)] {
                verdict.warn(format!("<{name}> has max dimensions {}", brackets(&max_dims(space))));
            }
        }
        verdict.can = self.parts(&mut verdict, one, other);
        verdict
    }

    /// Returns true if elements of two datatypes of the same class can be compared.
    fn parts(&self, verdict: &mut Verdict, one: &Datatype, other: &Datatype) -> bool {
        let [name, other_name] = self.names;
        match (&one.class, &other.class) {
            (DatatypeClass::FixedPoint(fixed), DatatypeClass::FixedPoint(others))
                if fixed.signed != others.signed =>
            {
                let sign = |signed| if signed { "H5T_SGN_2" } else { "H5T_SGN_NONE" };
                verdict.say(format!(
                    "Not comparable: <{name}> has sign {} and <{other_name}> has sign {}",
                    sign(fixed.signed),
                    sign(others.signed)
                ));
                false
            }
            (DatatypeClass::Compound(record), DatatypeClass::Compound(others)) => {
                let (count, other_count) = (record.members.len(), others.members.len());
                if count != other_count {
                    verdict.say(format!(
                        "Not comparable: <{name}> has {count} members <{other_name}> has {other_count} members "
                    ));
                    return false;
                }
                let mut members = record.members.iter().zip(&others.members);
                members.all(|(one, other)| self.member(verdict, &one.datatype, &other.datatype))
            }
            (DatatypeClass::Array(array), DatatypeClass::Array(others)) => {
                self.part(verdict, &array.base, &others.base)
            }
            (DatatypeClass::VariableLength(items), DatatypeClass::VariableLength(others))
                if !one.is_variable_string() =>
            {
                self.part(verdict, &items.base, &others.base)
            }
            _ if one.is_string() && one.is_variable_string() != other.is_variable_string() => {
                verdict.say(format!("Not comparable: <{name}> or <{other_name}> is of mixed string type"));
                false
            }
            _ => true,
        }
    }

    /// Returns true if members of two compounds can be compared. As in the C tool, the signs of
    /// integers and the base datatypes of arrays and sequences do not matter in compounds.
    fn member(&self, verdict: &mut Verdict, one: &Datatype, other: &Datatype) -> bool {
        let has_parts = matches!(one.class, DatatypeClass::Compound(_)) || one.is_string();
        self.is_of_one_class(verdict, one, other) && (!has_parts || self.parts(verdict, one, other))
    }

    /// Returns true if elements of two base datatypes can be compared.
    fn part(&self, verdict: &mut Verdict, one: &Datatype, other: &Datatype) -> bool {
        self.is_of_one_class(verdict, one, other) && self.parts(verdict, one, other)
    }

    /// Returns true if two nested datatypes have the same class.
    fn is_of_one_class(&self, verdict: &mut Verdict, one: &Datatype, other: &Datatype) -> bool {
        if class(one) != class(other) {
            let [name, other_name] = self.names;
            verdict.say(format!(
                "Not comparable: <{name}> has a class {} and <{other_name}> has a class {}",
                class(one),
                class(other)
            ));
            return false;
        }
        verdict.warn_of_types(self, one, other);
        true
    }
}

impl Verdict {
    fn say(&mut self, line: String) {
        self.lines.push((LineLevel::VerboseOrListed, line));
    }

    fn warn(&mut self, line: String) {
        self.lines.push((LineLevel::Verbose, line));
    }

    fn warn_of_types(&mut self, pair: &Pair<'_>, one: &Datatype, other: &Datatype) {
        if one == other {
            return;
        }
        self.warn("Warning: different storage datatype".into());
        if matches!(one.class, DatatypeClass::FixedPoint(_) | DatatypeClass::FloatingPoint(_)) {
            for (name, datatype) in pair.names.into_iter().zip([one, other]) {
                self.warn(format!("<{name}> has file datatype {}", number(datatype)));
            }
        }
    }
}

/// Returns the HDF5 name of a predefined number type.
fn number(datatype: &Datatype) -> String {
    let text = ddl::types::datatype(datatype, 0);
    let is_name = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    match datatype.class {
        _ if is_name => text,
        DatatypeClass::FixedPoint(_) => "undefined integer".into(),
        _ => "undefined float".into(),
    }
}

/// Returns the HDF5 name of a datatype class.
pub(super) fn class(datatype: &Datatype) -> &'static str {
    match &datatype.class {
        DatatypeClass::FixedPoint(_) => "H5T_INTEGER",
        DatatypeClass::FloatingPoint(_) => "H5T_FLOAT",
        DatatypeClass::Time(_) => "H5T_TIME",
        DatatypeClass::String(_)
        | DatatypeClass::VariableLength(VariableLength { kind: VariableLengthKind::String { .. }, .. }) => {
            "H5T_STRING"
        }
        DatatypeClass::Bitfield(_) => "H5T_BITFIELD",
        DatatypeClass::Opaque(_) => "H5T_OPAQUE",
        DatatypeClass::Compound(_) => "H5T_COMPOUND",
        DatatypeClass::Reference(_) => "H5T_REFERENCE",
        DatatypeClass::Enumeration(_) => "H5T_ENUM",
        DatatypeClass::VariableLength(_) => "H5T_VLEN",
        DatatypeClass::Array(_) => "H5T_ARRAY",
        DatatypeClass::Complex(_) => "H5T_COMPLEX",
    }
}

/// Returns the shape of a dataspace as text, for the head of h5diff's output.
pub(super) fn size(space: &Dataspace) -> String {
    if space.dims().is_empty() { "H5S_SCALAR".into() } else { brackets(space.dims()) }
}

fn extent(space: &Dataspace) -> String {
    let (dims, max_dims) = (brackets(space.dims()), brackets(&max_dims(space)));
    format!("rank {}, dimensions {dims}, max dimensions {max_dims}", space.dims().len())
}

fn brackets(dims: &[u64]) -> String {
    format!("[{}]", dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x"))
}

/// Returns the maximum dimensions as text for h5diff. An unlimited dimension is the largest number,
/// as in the C tool.
fn max_dims(space: &Dataspace) -> Vec<u64> {
    space.max_dims().iter().map(|maximum| maximum.unwrap_or(u64::MAX)).collect()
}
