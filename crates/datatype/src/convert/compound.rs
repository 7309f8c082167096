//! Conversion of records: compounds by member names, and complex numbers as pairs of parts.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::kernel::{Copy, Kernel};
use super::rules::{Conversions, Planned};
use super::strided::{Strided, StridedMut};
use super::{Result, size_of};
use crate::{Compound, Datatype, DatatypeClass};

/// The size in bytes of a block of compound elements. A conversion handles the elements in such
/// blocks, and each block member by member.
const BLOCK_BYTES: usize = 16 << 10;

/// A part of an element, such as a member of a compound, that a conversion handles separately.
#[derive(Debug, Clone)]
pub struct ElementPart {
    source: Range<usize>,
    destination: Range<usize>,
    kernel: Arc<dyn Kernel>,
}

impl ElementPart {
    /// Moves a part of a compound element to its position in an enclosing compound element. `outer`
    /// is the part of the enclosing element that contains the inner element.
    fn within(&self, outer: &Self) -> Option<Self> {
        let shifted =
            |range: &Range<usize>, by: usize| Some(range.start.checked_add(by)?..range.end.checked_add(by)?);
        Some(Self {
            source: shifted(&self.source, outer.source.start)?,
            destination: shifted(&self.destination, outer.destination.start)?,
            kernel: Arc::clone(&self.kernel),
        })
    }

    /// Returns whether a conversion can copy two parts of a compound element in one step. Both
    /// parts must be plain copies, and `next` must follow this part in source and destination.
    fn is_continued_by(&self, next: &Self) -> bool {
        self.kernel.is_copy()
            && next.kernel.is_copy()
            && self.source.end == next.source.start
            && self.destination.end == next.destination.start
    }

    /// Converts this part of a compound in all elements of `source`, and writes the results to the
    /// elements of `destination`.
    fn run(&self, source: &Strided<'_>, destination: &mut StridedMut<'_>) -> Result<()> {
        let (from, to) = (source.part(&self.source), destination.part(&self.destination));
        self.kernel.run_strided(from, to).map_err(|error| error.map_index(|at| at + self.source.start))
    }
}

/// A conversion kernel that converts compound elements part by part. Destination bytes outside of
/// the parts remain unchanged.
#[derive(Debug)]
struct Record {
    source_size: usize,
    destination_size: usize,
    parts: Vec<ElementPart>,
}

impl Record {
    /// Creates the conversion kernel for compound elements. Replaces nested compounds by their
    /// parts. Merges parts that are copied and are adjacent in source and destination.
    fn new(source: &Datatype, destination: &Datatype, parts: Vec<ElementPart>) -> Option<Self> {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            // An array of records is not replaced: its kernel converts a single record.
            match part.kernel.parts(part.source.len(), part.destination.len()) {
                Some(inner) => {
                    for one in inner {
                        flat.push(one.within(&part)?);
                    }
                }
                None => flat.push(part),
            }
        }
        flat.sort_by_key(|part| part.destination.start);
        let mut joined: Vec<ElementPart> = Vec::with_capacity(flat.len());
        for part in flat {
            match joined.last_mut() {
                Some(last) if last.is_continued_by(&part) => {
                    last.source.end = part.source.end;
                    last.destination.end = part.destination.end;
                    last.kernel = Arc::new(Copy);
                }
                _ => joined.push(part),
            }
        }
        Some(Self { source_size: size_of(source)?, destination_size: size_of(destination)?, parts: joined })
    }

    /// Returns whether an element of the given source and destination size is one compound value,
    /// and not an array of compound values.
    fn is_one(&self, source_size: usize, destination_size: usize) -> bool {
        source_size == self.source_size && destination_size == self.destination_size
    }

    /// Converts all compound elements of `source` into `destination`, in blocks.
    fn run_records(&self, source: Strided<'_>, mut destination: StridedMut<'_>) -> Result<()> {
        if let [only] = self.parts.as_slice() {
            return only.run(&source, &mut destination);
        }
        let all = source.len().min(destination.as_strided().len());
        let per_block = BLOCK_BYTES
            .checked_div(source.stride().max(destination.as_strided().stride()))
            .unwrap_or(0)
            .max(1);
        for start in (0..all).step_by(per_block) {
            let elements = start..all.min(start + per_block);
            let from = source.slice(&elements);
            let mut to = destination.slice(&elements);
            for part in &self.parts {
                part.run(&from, &mut to)
                    .map_err(|error| error.map_index(|at| at + start * source.stride()))?;
            }
        }
        Ok(())
    }
}

impl Kernel for Record {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        if self.is_copy() {
            return Copy.run(source, destination);
        }
        let (from, to) = (self.source_size, self.destination_size);
        self.run_records(Strided::new(source, from, from), StridedMut::new(destination, to, to))
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

    fn run_strided(&self, source: Strided<'_>, mut destination: StridedMut<'_>) -> Result<()> {
        if self.is_copy() {
            return Copy.run_strided(source, destination);
        }
        if self.is_one(source.size(), destination.as_strided().size()) {
            return self.run_records(source, destination);
        }
        for (index, (from, to)) in source.iter().zip(destination.iter_mut()).enumerate() {
            self.run(from, to).map_err(|error| error.map_index(|at| at + index * source.stride()))?;
        }
        Ok(())
    }

    fn parts(&self, source_size: usize, destination_size: usize) -> Option<&[ElementPart]> {
        self.is_one(source_size, destination_size).then_some(&self.parts)
    }
}

/// A conversion kernel that writes zero bytes, for instance as the imaginary part if the source is
/// a real number.
#[derive(Debug)]
struct Zero;

impl Kernel for Zero {
    fn run(&self, _: &[u8], destination: &mut [u8]) -> Result<()> {
        destination.fill(0);
        Ok(())
    }

    fn run_strided(&self, _: Strided<'_>, mut destination: StridedMut<'_>) -> Result<()> {
        destination.iter_mut().for_each(|element| element.fill(0));
        Ok(())
    }
}

/// Returns the range of bytes that a part takes in an element. The part is a member, or the real or
/// imaginary part. `offset` is its offset, and `part` is its datatype. Returns `None` if the part
/// exceeds the element.
fn part_range(element: &Datatype, offset: u32, part: &Datatype) -> Option<Range<usize>> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(size_of(part)?)?;
    (end <= size_of(element)?).then_some(start..end)
}

/// Plans the conversion of elements between compound datatypes that have at least one member name
/// in common.
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
        let Some(found) = by_name.get(member.name.as_slice()) else {
            if conversions.needs_every_member() {
                // Another rule may convert the compounds, as complex numbers.
                return Ok(None);
            }
            continue;
        };
        let kernel = conversions.kernel(&found.datatype, &member.datatype)?;
        let ranges = (
            part_range(source, found.offset, &found.datatype),
            part_range(destination, member.offset, &member.datatype),
        );
        let (Some(source), Some(destination)) = ranges else { return Ok(None) };
        parts.push(ElementPart { source, destination, kernel });
    }
    if parts.is_empty() {
        return Ok(None);
    }
    Ok(Record::new(source, destination, parts).map(|record| Arc::new(record) as _))
}

/// Plans the conversion of one member of a compound datatype to elements of the datatype
/// `destination`. The member may be in a nested compound.
pub(super) fn field(
    source: &Datatype,
    path: &str,
    destination: &Datatype,
    conversions: &Conversions,
) -> Result<Planned> {
    let whole = size_of(destination).map(|size| 0..size);
    let (Some((offset, member)), Some(whole)) = (source.member_at(path), whole) else { return Ok(None) };
    let Some(range) = part_range(source, offset, member) else { return Ok(None) };
    let kernel = conversions.kernel(member, destination)?;
    let part = ElementPart { source: range, destination: whole, kernel };
    Ok(Record::new(source, destination, vec![part]).map(|record| Arc::new(record) as _))
}

/// The two parts of a complex number in an element, real and imaginary, each with its offset and
/// datatype.
struct Pair<'a> {
    real: (u32, &'a Datatype),
    imaginary: (u32, &'a Datatype),
}

impl<'a> Pair<'a> {
    /// Returns the real and the imaginary part of a datatype of the complex class.
    fn of_complex(base: &'a Datatype) -> Self {
        Self { real: (0, base), imaginary: (base.size, base) }
    }

    /// Returns the real and the imaginary part of a compound datatype with two members. The names
    /// of the members must begin with `r` and `i`. Returns `None` for other compounds.
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

/// Plans the conversion of elements between a complex datatype and a compound of two members. The
/// names of the members must begin with `r` and `i`.
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
        let ranges = (part_range(source, from_offset, from), part_range(destination, to_offset, to));
        let (Some(source), Some(destination)) = ranges else { return Ok(None) };
        parts.push(ElementPart { source, destination, kernel: conversions.kernel(from, to)? });
    }
    Ok(Record::new(source, destination, parts).map(|record| Arc::new(record) as _))
}

/// Plans the conversion of elements between a real and a complex datatype. A conversion to complex
/// sets the imaginary part to zero, and a conversion to real drops it.
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
    let ranges = (part_range(source, 0, from), part_range(destination, 0, to));
    let (Some(from_range), Some(to_range)) = ranges else { return Ok(None) };
    let imaginary = part_range(destination, to.size, to);
    let mut parts = Vec::with_capacity(2);
    if let Some(imaginary) = imaginary {
        parts.push(ElementPart {
            source: from_range.clone(),
            destination: imaginary,
            kernel: Arc::new(Zero),
        });
    }
    let kernel = conversions.kernel(from, to)?;
    parts.push(ElementPart { source: from_range, destination: to_range, kernel });
    Ok(Record::new(source, destination, parts).map(|record| Arc::new(record) as _))
}
