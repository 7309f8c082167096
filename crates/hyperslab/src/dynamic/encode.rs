//! Values of any type as elements to be written. Contents of variable length go to a heap in memory, from which they are
//! converted to that of the file.

use std::collections::HashMap;

use hyperslab_engine::{Error, Result};

use super::Value;
use crate::Datatype;
use crate::datatype::convert::{Conversion, VariableArena, VariableSink as _};
use crate::datatype::{ByteOrder, DatatypeClass, VariableLengthKind};

/// Bytes of the descriptors of the heap in memory.
const DESCRIPTOR: usize = 16;

/// How values become elements of one type.
#[derive(Debug)]
pub(crate) struct Encoder {
    memory: Datatype,
    how: How,
}

#[derive(Debug)]
enum How {
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
    /// How values become elements of `datatype`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for references and times.
    pub(crate) fn new(datatype: &Datatype) -> Result<Self> {
        let plan = |memory: &Datatype, how| Ok(Self { memory: memory.clone(), how });
        match &datatype.class {
            DatatypeClass::FixedPoint(_) | DatatypeClass::Bitfield(_) => {
                let integer = |signed| Datatype::integer(8, signed, ByteOrder::LittleEndian);
                let signed = Conversion::new(&integer(true), datatype)?;
                plan(datatype, How::Integer { signed, unsigned: Conversion::new(&integer(false), datatype)? })
            }
            DatatypeClass::FloatingPoint(_) => {
                let from = Datatype::f64(ByteOrder::LittleEndian);
                plan(datatype, How::Float(Conversion::new(&from, datatype)?))
            }
            DatatypeClass::Complex(complex) => {
                plan(datatype, How::Complex(Box::new(Self::new(&complex.base)?)))
            }
            DatatypeClass::String(_) => plan(datatype, How::Text),
            DatatypeClass::Opaque(_) => plan(datatype, How::Bytes),
            DatatypeClass::VariableLength(variable) => match variable.kind {
                VariableLengthKind::String { charset, .. } => {
                    plan(&Datatype::variable_string(charset, 8), How::VariableText)
                }
                VariableLengthKind::Sequence => {
                    let items = Self::new(&variable.base)?;
                    plan(&Datatype::sequence(items.memory.clone(), 8), How::Sequence(Box::new(items)))
                }
            },
            DatatypeClass::Array(array) => {
                let items = Self::new(&array.base)?;
                let memory = Datatype::array(array.dims.clone(), items.memory.clone());
                plan(&memory, How::Array(datatype.array_len().unwrap_or(0), Box::new(items)))
            }
            DatatypeClass::Enumeration(enumeration) => {
                let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
                let members = enumeration.members.iter();
                let names = members.map(|member| (name(&member.name), member.value.clone())).collect();
                plan(datatype, How::Enumeration(names, Box::new(Self::new(&enumeration.base)?)))
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
            offset = offset.saturating_add(size);
        }
        let types = compound.members.iter().zip(&members);
        let memory = Datatype::packed(
            types.map(|(member, (.., encoder))| (member.name.clone(), encoder.memory.clone())),
        );
        Ok(Self { memory, how: How::Compound(members) })
    }

    /// The type of the elements that are given.
    pub(crate) fn memory(&self) -> &Datatype {
        &self.memory
    }

    fn size(&self) -> usize {
        usize::try_from(self.memory.size).unwrap_or(usize::MAX)
    }

    /// The elements, whose contents of variable length lie in the arena.
    ///
    /// # Errors
    /// [`Error::Misuse`] if a value is none of that type.
    pub(crate) fn encode(&self, values: &[Value], arena: &VariableArena) -> Result<Vec<u8>> {
        let mut bytes = vec![0; values.len().saturating_mul(self.size())];
        for (value, element) in values.iter().zip(bytes.chunks_exact_mut(self.size().max(1))) {
            self.put(value, element, arena)?;
        }
        Ok(bytes)
    }

    fn wrong(&self, value: &Value) -> Error {
        Error::Misuse(format!("{value:?} for an element of {}", self.memory))
    }

    fn put(&self, value: &Value, element: &mut [u8], arena: &VariableArena) -> Result<()> {
        match (&self.how, value) {
            (How::Integer { signed, unsigned }, Value::Integer(number)) => {
                let bytes = match (i64::try_from(*number), u64::try_from(*number)) {
                    (Ok(number), _) => return Ok(signed.convert(&number.to_le_bytes(), element, 1)?),
                    (_, Ok(number)) => number.to_le_bytes(),
                    _ => return Err(self.wrong(value)),
                };
                Ok(unsigned.convert(&bytes, element, 1)?)
            }
            (How::Integer { unsigned, .. }, Value::Bool(truth)) => {
                Ok(unsigned.convert(&u64::from(*truth).to_le_bytes(), element, 1)?)
            }
            (How::Float(conversion), Value::Float(number)) => {
                Ok(conversion.convert(&number.to_le_bytes(), element, 1)?)
            }
            #[expect(clippy::cast_precision_loss, reason = "rounded to the nearest, as numbers are")]
            (How::Float(conversion), Value::Integer(number)) => {
                Ok(conversion.convert(&(*number as f64).to_le_bytes(), element, 1)?)
            }
            (How::Complex(part), Value::Complex(number)) => {
                let half = part.size().min(element.len());
                let (real, imaginary) = element.split_at_mut(half);
                part.put(&Value::Float(number.re), real, arena)?;
                part.put(&Value::Float(number.im), imaginary, arena)
            }
            (How::Text, Value::Text(text)) => self.put_bytes(text.as_bytes(), value, element),
            (How::Text, Value::Bytes(bytes)) => self.put_bytes(bytes, value, element),
            (How::Bytes, Value::Bytes(bytes)) if bytes.len() == element.len() => {
                self.put_bytes(bytes, value, element)
            }
            (How::VariableText, Value::Text(text)) => self.store(text.as_bytes(), text.len(), element, arena),
            (How::VariableText, Value::Bytes(bytes)) => self.store(bytes, bytes.len(), element, arena),
            (How::Sequence(items), Value::Sequence(values)) => {
                let bytes = items.encode(values, arena)?;
                self.store(&bytes, values.len(), element, arena)
            }
            (How::Array(length, items), Value::Array(_, values)) if values.len() == *length => {
                let size = items.size().max(1);
                let mut places = values.iter().zip(element.chunks_exact_mut(size));
                places.try_for_each(|(value, place)| items.put(value, place, arena))
            }
            (How::Enumeration(names, base), _) => self.put_enumeration(names, base, value, element, arena),
            (How::Compound(members), Value::Compound(values)) => {
                self.put_members(members, values, value, element, arena)
            }
            _ => Err(self.wrong(value)),
        }
    }

    fn put_bytes(&self, bytes: &[u8], value: &Value, element: &mut [u8]) -> Result<()> {
        let place = element.get_mut(..bytes.len()).ok_or_else(|| self.wrong(value))?;
        place.copy_from_slice(bytes);
        Ok(())
    }

    fn store(&self, items: &[u8], count: usize, element: &mut [u8], arena: &VariableArena) -> Result<()> {
        let descriptor = element.get_mut(..DESCRIPTOR);
        let descriptor =
            descriptor.ok_or_else(|| Error::Misuse("an element without room for a descriptor".into()))?;
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
            // Mostly they stand in the same order.
            let here = values.get(at).filter(|(other, _)| other == name);
            let found = here.or_else(|| values.iter().find(|(other, _)| other == name));
            let (_, value) = found.ok_or_else(|| self.wrong(value))?;
            let place = element.get_mut(*offset..).and_then(|rest| rest.get_mut(..member.size()));
            let place = place.ok_or_else(|| Error::Misuse("a record without room for its members".into()))?;
            member.put(value, place, arena)?;
        }
        Ok(())
    }
}
