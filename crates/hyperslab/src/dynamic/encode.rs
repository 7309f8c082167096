//! The encoder from dynamic values to elements in memory. Variable-length data goes to a heap in
//! memory. The write copies it from there to the heap of the file.

use std::collections::HashMap;

use hyperslab_engine::{Error, Result};
use hyperslab_exact::TooLarge;

use super::Value;
use crate::Datatype;
use crate::dataset::zeroed_elements;
use crate::datatype::convert::{Conversion, VariableArena, VariableSink as _};
use crate::datatype::{ByteOrder, DatatypeClass, VariableLengthKind};

/// The size in bytes of the descriptor of a variable-length element in memory. The descriptor
/// refers to the data of the element in a heap in memory.
pub(crate) const DESCRIPTOR_BYTES: usize = 16;

/// An encoder that converts dynamic values to the bytes of elements of one datatype.
#[derive(Debug)]
pub(crate) struct Encoder {
    memory: Datatype,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Integer { signed: Conversion, unsigned: Conversion },
    Float(Conversion),
    Complex(Box<Encoder>),
    Text,
    Bytes,
    VariableText,
    Sequence(Box<Encoder>),
    Array(usize, Box<Encoder>),
    Enumeration(HashMap<String, Vec<u8>>, Box<Encoder>),
    Compound(Vec<(String, usize, Encoder)>),
}

impl Encoder {
    /// Returns the encoder of dynamic values to elements of `datatype`.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] for references and times.
    pub(crate) fn new(datatype: &Datatype) -> Result<Self> {
        let plan = |memory: &Datatype, form| Ok(Self { memory: memory.clone(), form });
        match &datatype.class {
            DatatypeClass::FixedPoint(_) | DatatypeClass::Bitfield(_) => {
                let integer = |signed| Datatype::integer(8, signed, ByteOrder::LittleEndian);
                let signed = Conversion::new(&integer(true), datatype)?;
                plan(
                    datatype,
                    Form::Integer { signed, unsigned: Conversion::new(&integer(false), datatype)? },
                )
            }
            DatatypeClass::FloatingPoint(_) => {
                let from = Datatype::f64(ByteOrder::LittleEndian);
                plan(datatype, Form::Float(Conversion::new(&from, datatype)?))
            }
            DatatypeClass::Complex(complex) => {
                plan(datatype, Form::Complex(Box::new(Self::new(&complex.base)?)))
            }
            DatatypeClass::String(_) => plan(datatype, Form::Text),
            DatatypeClass::Opaque(_) => plan(datatype, Form::Bytes),
            DatatypeClass::VariableLength(variable) => match variable.kind {
                VariableLengthKind::String { charset, .. } => {
                    plan(&Datatype::variable_string(charset, 8), Form::VariableText)
                }
                VariableLengthKind::Sequence => {
                    let items = Self::new(&variable.base)?;
                    plan(&Datatype::sequence(items.memory.clone(), 8), Form::Sequence(Box::new(items)))
                }
            },
            DatatypeClass::Array(array) => {
                let items = Self::new(&array.base)?;
                let memory = Datatype::array(array.dims.clone(), items.memory.clone());
                let length = datatype.array_len().ok_or_else(|| {
                    Error::corrupt(
                        "datatype message",
                        "array size",
                        "an element that fits in memory",
                        datatype,
                    )
                })?;
                plan(&memory, Form::Array(length, Box::new(items)))
            }
            DatatypeClass::Enumeration(enumeration) => {
                let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
                let members = enumeration.members.iter();
                let names = members.map(|member| (name(&member.name), member.value.clone())).collect();
                plan(datatype, Form::Enumeration(names, Box::new(Self::new(&enumeration.base)?)))
            }
            DatatypeClass::Compound(compound) => Self::compound(compound),
            _ => Err(Error::unsupported(format!("writing {datatype} from dynamic values"))),
        }
    }

    fn compound(compound: &crate::datatype::Compound) -> Result<Self> {
        let mut members = Vec::with_capacity(compound.members.len());
        let mut offset = 0_usize;
        for member in &compound.members {
            let encoder = Self::new(&member.datatype)?;
            let size = encoder.size();
            members.push((String::from_utf8_lossy(&member.name).into_owned(), offset, encoder));
            offset = offset.checked_add(size).ok_or_else(|| Error::Limit {
                subject: "element in memory: bytes".into(),
                got: u64::MAX,
                limit: TooLarge::LIMIT,
            })?;
        }
        let types = compound.members.iter().zip(&members);
        let memory = Datatype::packed(
            types.map(|(member, (.., encoder))| (member.name.clone(), encoder.memory.clone())),
        );
        Ok(Self { memory, form: Form::Compound(members) })
    }

    /// Returns the datatype of the elements that the encoder of dynamic values produces.
    pub(crate) fn memory(&self) -> &Datatype {
        &self.memory
    }

    fn size(&self) -> usize {
        self.memory.size as usize
    }

    /// Encodes dynamic values as the bytes of elements, and stores their variable-length data in
    /// the heap `arena` in memory.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a value does not fit the datatype.
    pub(crate) fn encode(&self, values: &[Value], arena: &VariableArena) -> Result<Vec<u8>> {
        let mut bytes = zeroed_elements(values.len(), self.size())?;
        for (value, element) in values.iter().zip(bytes.chunks_exact_mut(self.size().max(1))) {
            self.put(value, element, arena)?;
        }
        Ok(bytes)
    }

    fn wrong(&self, value: &Value) -> Error {
        Error::Misuse(format!("the value {value:?} does not fit an element of {}", self.memory))
    }

    fn put(&self, value: &Value, element: &mut [u8], arena: &VariableArena) -> Result<()> {
        match (&self.form, value) {
            (Form::Integer { signed, unsigned }, Value::Integer(number)) => {
                let bytes = match (i64::try_from(*number), u64::try_from(*number)) {
                    (Ok(number), _) => return Ok(signed.convert(&number.to_le_bytes(), element, 1)?),
                    (_, Ok(number)) => number.to_le_bytes(),
                    _ => return Err(self.wrong(value)),
                };
                Ok(unsigned.convert(&bytes, element, 1)?)
            }
            (Form::Integer { unsigned, .. }, Value::Bool(truth)) => {
                Ok(unsigned.convert(&u64::from(*truth).to_le_bytes(), element, 1)?)
            }
            (Form::Float(conversion), Value::Float(number)) => {
                Ok(conversion.convert(&number.to_le_bytes(), element, 1)?)
            }
            #[expect(clippy::cast_precision_loss, reason = "the conversion rounds to the nearest value")]
            (Form::Float(conversion), Value::Integer(number)) => {
                Ok(conversion.convert(&(*number as f64).to_le_bytes(), element, 1)?)
            }
            (Form::Complex(part), Value::Complex(number)) => {
                let half = part.size().min(element.len());
                let (real, imaginary) = element.split_at_mut(half);
                part.put(&Value::Float(number.re), real, arena)?;
                part.put(&Value::Float(number.im), imaginary, arena)
            }
            (Form::Text, Value::Text(text)) => self.put_bytes(text.as_bytes(), value, element),
            (Form::Text, Value::Bytes(bytes)) => self.put_bytes(bytes, value, element),
            (Form::Bytes, Value::Bytes(bytes)) if bytes.len() == element.len() => {
                self.put_bytes(bytes, value, element)
            }
            (Form::VariableText, Value::Text(text)) => {
                self.store(text.as_bytes(), text.len(), element, arena)
            }
            (Form::VariableText, Value::Bytes(bytes)) => self.store(bytes, bytes.len(), element, arena),
            (Form::Sequence(items), Value::Sequence(values)) => {
                let bytes = items.encode(values, arena)?;
                self.store(&bytes, values.len(), element, arena)
            }
            (Form::Array(length, items), Value::Array(_, values)) if values.len() == *length => {
                let size = items.size().max(1);
                let mut pairs = values.iter().zip(element.chunks_exact_mut(size));
                pairs.try_for_each(|(value, item)| items.put(value, item, arena))
            }
            (Form::Enumeration(names, base), _) => self.put_enumeration(names, base, value, element, arena),
            (Form::Compound(members), Value::Compound(values)) => {
                self.put_members(members, values, value, element, arena)
            }
            _ => Err(self.wrong(value)),
        }
    }

    fn put_bytes(&self, bytes: &[u8], value: &Value, element: &mut [u8]) -> Result<()> {
        let target = element.get_mut(..bytes.len()).ok_or_else(|| self.wrong(value))?;
        target.copy_from_slice(bytes);
        Ok(())
    }

    fn store(&self, items: &[u8], count: usize, element: &mut [u8], arena: &VariableArena) -> Result<()> {
        let descriptor = element.get_mut(..DESCRIPTOR_BYTES);
        let descriptor = descriptor
            .ok_or_else(|| Error::internal("encoder of values", "an element holds its descriptor"))?;
        Ok(arena.store(items, count, descriptor)?)
    }

    fn put_enumeration(
        &self,
        names: &HashMap<String, Vec<u8>>,
        base: &Self,
        value: &Value,
        element: &mut [u8],
        arena: &VariableArena,
    ) -> Result<()> {
        match value {
            Value::Enumeration { name: Some(name), .. } | Value::Text(name) => {
                let stored = names.get(name).ok_or_else(|| self.wrong(value))?;
                self.put_bytes(stored, value, element)
            }
            Value::Enumeration { name: None, value } => base.put(&Value::Integer(*value), element, arena),
            Value::Integer(_) | Value::Bool(_) => base.put(value, element, arena),
            _ => Err(self.wrong(value)),
        }
    }

    fn put_members(
        &self,
        members: &[(String, usize, Self)],
        values: &[(String, Value)],
        value: &Value,
        element: &mut [u8],
        arena: &VariableArena,
    ) -> Result<()> {
        if values.len() != members.len() {
            return Err(self.wrong(value));
        }
        for (at, (name, offset, member)) in members.iter().enumerate() {
            // The values are usually in the order of the members.
            let here = values.get(at).filter(|(other, _)| other == name);
            let found = here.or_else(|| values.iter().find(|(other, _)| other == name));
            let (_, value) = found.ok_or_else(|| self.wrong(value))?;
            let target = element.get_mut(*offset..).and_then(|rest| rest.get_mut(..member.size()));
            let target =
                target.ok_or_else(|| Error::internal("encoder of values", "a compound holds its members"))?;
            member.put(value, target, arena)?;
        }
        Ok(())
    }
}
