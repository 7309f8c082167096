//! Records: compounds by the names of their members, and complex numbers as pairs of parts.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::kernel::{Copy, Kernel};
use super::rules::{Conversions, Planned};
use super::{Result, size_of};
use crate::{Compound, Datatype, DatatypeClass};

/// A part of an element that is converted on its own.
#[derive(Debug)]
struct Part {
    source: Range<usize>,
    destination: Range<usize>,
    kernel: Arc<dyn Kernel>,
}

/// Converts elements part by part; what lies between the destination's parts stays as it is.
#[derive(Debug)]
struct Record {
    source_size: usize,
    destination_size: usize,
    parts: Vec<Part>,
}

impl Record {
    /// Joins parts that are copied and lie together in both elements.
    fn new(source: &Datatype, destination: &Datatype, mut parts: Vec<Part>) -> Option<Self> {
        parts.sort_by_key(|part| part.destination.start);
        let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
        for part in parts {
            match joined.last_mut() {
                Some(last)
                    if last.kernel.is_copy()
                        && part.kernel.is_copy()
                        && last.source.end == part.source.start
                        && last.destination.end == part.destination.start =>
                {
                    last.source.end = part.source.end;
                    last.destination.end = part.destination.end;
                }
                _ => joined.push(part),
            }
        }
        Some(Self { source_size: size_of(source)?, destination_size: size_of(destination)?, parts: joined })
    }
}

impl Kernel for Record {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        if self.is_copy() {
            return Copy.run(source, destination);
        }
        let sources = source.chunks_exact(self.source_size);
        for (from, to) in sources.zip(destination.chunks_exact_mut(self.destination_size)) {
            for part in &self.parts {
                let places = (from.get(part.source.clone()), to.get_mut(part.destination.clone()));
                if let (Some(from), Some(to)) = places {
                    part.kernel.run(from, to)?;
                }
            }
        }
        Ok(())
    }

    fn is_copy(&self) -> bool {
        match self.parts.as_slice() {
            [only] => {
                only.kernel.is_copy()
                    && only.source == (0..self.source_size)
                    && only.destination == (0..self.destination_size)
            }
            _ => false,
        }
    }
}

/// Writes zero bytes: the imaginary part of a real number.
#[derive(Debug)]
struct Zero;

impl Kernel for Zero {
    fn run(&self, _: &[u8], destination: &mut [u8]) -> Result<()> {
        destination.fill(0);
        Ok(())
    }
}

/// The bytes of a part inside its element; `None` if it reaches beyond.
fn place(element: &Datatype, offset: u32, part: &Datatype) -> Option<Range<usize>> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(size_of(part)?)?;
    (end <= size_of(element)?).then_some(start..end)
}

/// Compounds by name. At least one member must be on both sides.
pub(super) fn members(
    source: &Datatype,
    destination: &Datatype,
    conversions: &Conversions,
) -> Result<Planned> {
    let (DatatypeClass::Compound(from), DatatypeClass::Compound(to)) = (&source.class, &destination.class)
    else {
        return Ok(None);
    };
    let by_name: HashMap<_, _> = from.members.iter().map(|member| (member.name.as_slice(), member)).collect();
    let mut parts = Vec::with_capacity(to.members.len());
    for member in &to.members {
        let Some(found) = by_name.get(member.name.as_slice()) else { continue };
        let kernel = conversions.kernel(&found.datatype, &member.datatype)?;
        let places = (
            place(source, found.offset, &found.datatype),
            place(destination, member.offset, &member.datatype),
        );
        let (Some(source), Some(destination)) = places else { return Ok(None) };
        parts.push(Part { source, destination, kernel });
    }
    if parts.is_empty() {
        return Ok(None);
    }
    Ok(Record::new(source, destination, parts).map(|record| Arc::new(record) as _))
}

/// Where the parts of a complex number lie.
struct Pair<'a> {
    real: (u32, &'a Datatype),
    imaginary: (u32, &'a Datatype),
}

impl<'a> Pair<'a> {
    fn of_complex(base: &'a Datatype) -> Self {
        Self { real: (0, base), imaginary: (base.size, base) }
    }

    /// The members of a compound that names them as real and imaginary part.
    fn of_compound(compound: &'a Compound) -> Option<Self> {
        let [one, other] = compound.members.as_slice() else { return None };
        let starts_with =
            |name: &[u8], letter| name.first().is_some_and(|first| first.eq_ignore_ascii_case(letter));
        let (real, imaginary) = if starts_with(&one.name, &b'r') && starts_with(&other.name, &b'i') {
            (one, other)
        } else if starts_with(&one.name, &b'i') && starts_with(&other.name, &b'r') {
            (other, one)
        } else {
            return None;
        };
        Some(Self { real: (real.offset, &real.datatype), imaginary: (imaginary.offset, &imaginary.datatype) })
    }
}

/// Complex numbers to and from compounds of two members whose names begin with `r` and `i`.
pub(super) fn complex_as_pair(
    source: &Datatype,
    destination: &Datatype,
    conversions: &Conversions,
) -> Result<Planned> {
    let (from, to) = match (&source.class, &destination.class) {
        (DatatypeClass::Complex(from), DatatypeClass::Compound(to)) => {
            (Some(Pair::of_complex(&from.base)), Pair::of_compound(to))
        }
        (DatatypeClass::Compound(from), DatatypeClass::Complex(to)) => {
            (Pair::of_compound(from), Some(Pair::of_complex(&to.base)))
        }
        _ => return Ok(None),
    };
    let (Some(from), Some(to)) = (from, to) else { return Ok(None) };
    let mut parts = Vec::with_capacity(2);
    for ((from_offset, from), (to_offset, to)) in [(from.real, to.real), (from.imaginary, to.imaginary)] {
        let places = (place(source, from_offset, from), place(destination, to_offset, to));
        let (Some(source), Some(destination)) = places else { return Ok(None) };
        parts.push(Part { source, destination, kernel: conversions.kernel(from, to)? });
    }
    Ok(Record::new(source, destination, parts).map(|record| Arc::new(record) as _))
}

/// Real numbers to complex numbers with no imaginary part, and the real part of complex numbers.
pub(super) fn complex_and_real(
    source: &Datatype,
    destination: &Datatype,
    conversions: &Conversions,
) -> Result<Planned> {
    let (from, to) = match (&source.class, &destination.class) {
        (DatatypeClass::Complex(from), _) if destination.is_number() => (&*from.base, destination),
        (_, DatatypeClass::Complex(to)) if source.is_number() => (source, &*to.base),
        _ => return Ok(None),
    };
    let places = (place(source, 0, from), place(destination, 0, to));
    let (Some(from_place), Some(to_place)) = places else { return Ok(None) };
    let imaginary = place(destination, to.size, to);
    let mut parts = Vec::with_capacity(2);
    if let Some(imaginary) = imaginary {
        parts.push(Part { source: from_place.clone(), destination: imaginary, kernel: Arc::new(Zero) });
    }
    let kernel = conversions.kernel(from, to)?;
    parts.push(Part { source: from_place, destination: to_place, kernel });
    Ok(Record::new(source, destination, parts).map(|record| Arc::new(record) as _))
}
