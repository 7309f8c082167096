//! Binary output of elements by h5dump.

use std::io::Write;

use anyhow::{Result, anyhow, bail};
use hyperslab::datatype::{ByteOrder, FloatOrder};
use hyperslab::{Dataset, Datatype, DatatypeClass, Selection};
use hyperslab_exact::to_usize;

use super::Dump;
use super::arguments::Binary;

impl Dump<'_> {
    /// Writes the bytes of the selected elements to h5dump's output file.
    pub(super) fn binary(
        &mut self,
        dataset: &Dataset,
        selections: impl Iterator<Item = Result<Selection>>,
        form: Binary,
    ) -> Result<()> {
        let Some(out) = &mut self.data else { bail!("binary output needs an output file: `-o`") };
        let stored = dataset.datatype();
        let memory = match form {
            Binary::File => stored.clone(),
            Binary::BigEndian => ordered(stored, ByteOrder::BigEndian),
            Binary::Native if cfg!(target_endian = "big") => ordered(stored, ByteOrder::BigEndian),
            Binary::LittleEndian | Binary::Native => ordered(stored, ByteOrder::LittleEndian),
        };
        let size = to_usize(u64::from(memory.size))?;
        for selection in selections {
            let selection = selection?;
            let count = to_usize(selection.element_count(dataset.dataspace().dims())?)?;
            let length = count.checked_mul(size).ok_or_else(|| anyhow!("too many elements"))?;
            let mut bytes = vec![0; length];
            dataset.read_bytes(&selection, &memory, &mut bytes)?;
            out.write_all(&bytes)?;
        }
        Ok(())
    }
}

/// Returns the datatype with all of its numbers in a given byte order.
fn ordered(datatype: &Datatype, order: ByteOrder) -> Datatype {
    let mut changed = datatype.clone();
    match &mut changed.class {
        DatatypeClass::FixedPoint(number) => number.order = order,
        DatatypeClass::Bitfield(bits) => bits.order = order,
        DatatypeClass::FloatingPoint(number) => {
            number.order = match order {
                ByteOrder::LittleEndian => FloatOrder::LittleEndian,
                ByteOrder::BigEndian => FloatOrder::BigEndian,
            }
        }
        DatatypeClass::Compound(record) => {
            for member in &mut record.members {
                member.datatype = ordered(&member.datatype, order);
            }
        }
        DatatypeClass::Array(array) => *array.base = ordered(&array.base, order),
        DatatypeClass::Complex(complex) => *complex.base = ordered(&complex.base, order),
        _ => {}
    }
    changed
}
