//! Element types: small numbers represented as elements of many datatypes.

use hyperslab::datatype::{ByteOrder, CharacterSet, StringPadding};
use hyperslab::{Datatype, DatatypeClass, File, H5Type, Stored};
use serde_json::{Value, json};

/// A type of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    U8,
    I16Big,
    I32,
    F32,
    F64,
    Compound,
    Text,
    /// The following types are of variable length.
    Words,
    Sequence,
    Nested,
    Mixed,
}

pub(crate) const KINDS: [Kind; 11] = [
    Kind::U8,
    Kind::I32,
    Kind::F64,
    Kind::Words,
    Kind::I16Big,
    Kind::Sequence,
    Kind::F32,
    Kind::Compound,
    Kind::Nested,
    Kind::Text,
    Kind::Mixed,
];

/// The upper bound of values. All bytes of the element for the value 0 are 0.
pub(crate) const VALUES: u64 = 24;

const LITTLE: ByteOrder = ByteOrder::LittleEndian;

impl Kind {
    pub(crate) fn datatype(self) -> Datatype {
        match self {
            Self::U8 => Datatype::u8(),
            Self::I16Big => Datatype::i16(ByteOrder::BigEndian),
            Self::I32 => Datatype::i32(LITTLE),
            Self::F32 => Datatype::f32(LITTLE),
            Self::F64 => Datatype::f64(LITTLE),
            Self::Compound => {
                let members =
                    [("a", Datatype::u8()), ("b", Datatype::f64(LITTLE)), ("c", Datatype::i16(LITTLE))];
                Datatype::packed(members)
            }
            Self::Text => Datatype::fixed_string(6, StringPadding::NullPadded, CharacterSet::Ascii),
            Self::Words => Datatype::variable_string(CharacterSet::Utf8, 8),
            Self::Sequence => Datatype::sequence(Datatype::i32(LITTLE), 8),
            Self::Nested => Datatype::sequence(Self::Sequence.datatype(), 8),
            Self::Mixed => {
                let members =
                    [("n", Datatype::u8()), ("s", Self::Sequence.datatype()), ("t", Self::Words.datatype())];
                Datatype::packed(members)
            }
        }
    }

    pub(crate) fn is_variable(self) -> bool {
        matches!(self, Self::Words | Self::Sequence | Self::Nested | Self::Mixed)
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::U8 | Self::I16Big | Self::I32 | Self::F32 | Self::F64)
    }

    /// Returns the number that an element of a number type represents for a value.
    pub(crate) fn number(self, value: u8) -> f64 {
        match self {
            Self::F32 | Self::F64 => f64::from(value) * 0.5,
            Self::I16Big | Self::I32 => -f64::from(value),
            _ => f64::from(value),
        }
    }

    /// Returns the bytes of an element of fixed size.
    pub(crate) fn encode(self, value: u8) -> Vec<u8> {
        match self {
            Self::U8 => vec![value],
            Self::I16Big => (-i16::from(value)).to_be_bytes().to_vec(),
            Self::I32 => (-i32::from(value)).to_le_bytes().to_vec(),
            Self::F32 => (f32::from(value) * 0.5).to_le_bytes().to_vec(),
            Self::F64 => self.number(value).to_le_bytes().to_vec(),
            Self::Compound => {
                [&[value][..], &(f64::from(value) * 0.5).to_le_bytes(), &i16::from(value).to_le_bytes()]
                    .concat()
            }
            Self::Text => {
                let mut bytes = if value == 0 { Vec::new() } else { format!("x{value}").into_bytes() };
                bytes.resize(6, 0);
                bytes
            }
            Self::Words | Self::Sequence | Self::Nested | Self::Mixed => unreachable!("of variable length"),
        }
    }

    /// Returns the content of an element as JSON.
    pub(crate) fn json(self, value: u8) -> Value {
        match self {
            Self::U8 => json!(value),
            Self::I16Big | Self::I32 => json!(-i64::from(value)),
            Self::F32 | Self::F64 => json!(self.number(value)),
            Self::Compound => json!({"a": value, "b": f64::from(value) * 0.5, "c": value}),
            Self::Text if value == 0 => json!(""),
            Self::Text => json!(format!("x{value}")),
            Self::Words => json!(words(value)),
            Self::Sequence => json!(sequence(value)),
            Self::Nested => json!(nested(value)),
            Self::Mixed => {
                json!({"n": value, "s": sequence(value), "t": words(value)})
            }
        }
    }

    /// Returns an element of fixed size, or the variable-length data of an element.
    pub(crate) fn plain(self, value: u8) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Words => put_items(&mut out, words(value).as_bytes()),
            Self::Sequence => put_sequence(&mut out, &sequence(value)),
            Self::Nested => {
                let items = nested(value);
                out.extend_from_slice(&(items.len() as u32).to_le_bytes());
                items.iter().for_each(|item| put_sequence(&mut out, item));
            }
            Self::Mixed => {
                out.push(value);
                put_sequence(&mut out, &sequence(value));
                put_items(&mut out, words(value).as_bytes());
            }
            _ => out = self.encode(value),
        }
        out
    }

    /// Returns elements that were read in the form of [`plain`](Self::plain).
    pub(crate) fn plain_of(self, stored: &Stored) -> Vec<Vec<u8>> {
        if !self.is_variable() {
            return stored.elements().map(<[u8]>::to_vec).collect();
        }
        let plain = |element: &[u8]| {
            let mut out = Vec::new();
            follow(stored, stored.datatype(), element, &mut out);
            out
        };
        stored.elements().map(plain).collect()
    }
}

fn put_items(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
}

fn put_sequence(out: &mut Vec<u8>, items: &[i32]) {
    out.extend_from_slice(&(items.len() as u32).to_le_bytes());
    items.iter().for_each(|item| out.extend_from_slice(&item.to_le_bytes()));
}

fn follow(stored: &Stored, datatype: &Datatype, element: &[u8], out: &mut Vec<u8>) {
    match &datatype.class {
        DatatypeClass::VariableLength(variable) => {
            let contents = stored.variable_length(element).unwrap();
            let size = variable.base.size as usize;
            out.extend_from_slice(&(contents.count() as u32).to_le_bytes());
            for item in contents.items(size).unwrap().chunks_exact(size) {
                follow(stored, &variable.base, item, out);
            }
        }
        DatatypeClass::Compound(compound) => {
            for member in &compound.members {
                let start = member.offset as usize;
                follow(stored, &member.datatype, &element[start..start + member.datatype.size as usize], out);
            }
        }
        _ => out.extend_from_slice(element),
    }
}

pub(crate) fn words(value: u8) -> String {
    match value {
        0 => String::new(),
        v if v % 5 == 0 => format!("größer {v} ").repeat(usize::from(v)),
        v => format!("w{v}"),
    }
}

pub(crate) fn sequence(value: u8) -> Vec<i32> {
    (0..i32::from(value % 7)).map(|at| i32::from(value) * 10 - at).collect()
}

fn nested(value: u8) -> Vec<Vec<i32>> {
    (0..value % 4).map(|at| sequence(value + at)).collect()
}

/// Elements of each value of each type of variable length. Sequences of sequences can only be
/// written by copying such elements.
#[derive(Debug, Clone)]
pub(crate) struct Palette {
    sequences: Vec<Vec<u8>>,
    nested: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

/// The paths of the datasets with these elements.
pub(crate) const PALETTE: [&str; 3] = ["/palette sequences", "/palette nested", "/palette words"];

impl Palette {
    /// Writes the elements to a file.
    pub(crate) fn write(file: &File) {
        let all = 0..VALUES as u8 + 4;
        let [sequences, outer, text] = PALETTE;
        let make = |name: &str, datatype: Datatype, count: usize| {
            file.new_dataset(name).datatype(datatype).shape(&[count as u64]).create().unwrap()
        };
        let inner = make(sequences, Kind::Sequence.datatype(), all.len());
        inner.write_sequences::<i32, _>(.., &all.clone().map(sequence).collect::<Vec<_>>()).unwrap();
        let inner = elements(file, sequences);
        let items = |value: u8| {
            (0..value % 4)
                .map(|at| Descriptor(inner[usize::from(value + at)].as_slice().try_into().unwrap()))
                .collect()
        };
        let lists: Vec<Vec<Descriptor>> = (0..VALUES as u8).map(items).collect();
        make(outer, Datatype::sequence(Descriptor::datatype(), 8), lists.len())
            .write_sequences(.., &lists)
            .unwrap();
        // No text is empty, because an empty text has no heap data.
        let texts: Vec<String> = all.map(|value| words(value.max(1))).collect();
        make(text, Kind::Words.datatype(), texts.len()).write_strings(.., &texts).unwrap();
    }

    pub(crate) fn of(file: &File) -> Self {
        let [sequences, nested, mut words] = PALETTE.map(|name| elements(file, name));
        words[0].fill(0);
        Self { sequences, nested, words }
    }

    /// Returns the descriptor of an element in the heap of the file.
    pub(crate) fn element(&self, kind: Kind, value: u8) -> Vec<u8> {
        let at = usize::from(value);
        match kind {
            Kind::Words => self.words[at].clone(),
            Kind::Sequence => self.sequences[at].clone(),
            Kind::Nested => self.nested[at].clone(),
            Kind::Mixed => [&[value][..], &self.sequences[at], &self.words[at]].concat(),
            _ => kind.encode(value),
        }
    }
}

fn elements(file: &File, name: &str) -> Vec<Vec<u8>> {
    let stored = file.dataset(name).unwrap().read_stored(..).unwrap();
    stored.elements().map(<[u8]>::to_vec).collect()
}

/// A descriptor of the file's heap as an item of a sequence.
#[derive(Debug, Clone, Copy)]
struct Descriptor([u8; 16]);

impl H5Type for Descriptor {
    const SIZE: usize = 16;

    fn datatype() -> Datatype {
        Datatype::opaque(16, "descriptor")
    }

    fn decode(element: &[u8]) -> Option<Self> {
        element.try_into().ok().map(Self)
    }

    fn encode(&self, element: &mut [u8]) {
        element.copy_from_slice(&self.0);
    }
}
