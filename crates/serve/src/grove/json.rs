//! Elements as JSON.

use hyperslab::datatype::ReferenceKind;
use hyperslab::{Column, Datatype, DatatypeClass};
use serde::Serialize;

use super::Failure;

/// The largest number of brackets of an array without elements.
const MAX_EMPTY_BRACKETS: u64 = 1 << 20;

/// Nested lists of elements that arrive one after another in C order.
#[derive(Debug)]
pub(super) struct Nested {
    shape: Vec<u64>,
    /// The position in each dimension.
    position: Vec<u64>,
}

impl Nested {
    /// Creates the lists of an array. Without dimensions, there is one element and no list.
    pub(super) fn new(shape: Vec<u64>) -> Self {
        let position = vec![0; shape.len()];
        Self { shape, position }
    }

    /// Returns true if there is one element and no list.
    fn is_scalar(&self) -> bool {
        self.shape.is_empty()
    }

    /// Writes the lists of an array without elements; nothing if the array has elements.
    pub(super) fn start(&self, out: &mut Vec<u8>) -> Result<(), Failure> {
        let Some(empty) = self.shape.iter().position(|size| *size == 0) else { return Ok(()) };
        let outer = self.shape.get(..empty).unwrap_or(&[]);
        let count = outer.iter().try_fold(1_u64, |count, size| count.checked_mul(*size));
        if count.is_none_or(|count| count > MAX_EMPTY_BRACKETS) {
            return Err(Failure::refused("the array has no elements, and too many empty rows"));
        }
        write_empty(outer, out);
        Ok(())
    }

    /// Writes the brackets and commas before the next element.
    fn before(&self, out: &mut Vec<u8>) {
        let Some(last) = self.position.last() else { return };
        if *last > 0 {
            out.push(b',');
            return;
        }
        let firsts = self.position.iter().rev().take_while(|position| **position == 0).count();
        if firsts < self.position.len() {
            out.push(b',');
        }
        out.extend(std::iter::repeat_n(b'[', firsts));
    }

    /// Writes the brackets after an element, and advances to the next one.
    fn after(&mut self, out: &mut Vec<u8>) {
        for (position, size) in self.position.iter_mut().zip(&self.shape).rev() {
            *position += 1;
            if *position < *size {
                return;
            }
            *position = 0;
            out.push(b']');
        }
    }
}

fn write_empty(outer: &[u64], out: &mut Vec<u8>) {
    out.push(b'[');
    if let Some((size, inner)) = outer.split_first() {
        for index in 0..*size {
            if index > 0 {
                out.push(b',');
            }
            write_empty(inner, out);
        }
    }
    out.push(b']');
}

/// The form of elements of a datatype in JSON.
#[derive(Debug)]
pub(super) struct Texts {
    /// The dimensions of array elements, which follow those of the dataset.
    inner: Vec<u64>,
    /// True if the references among the elements refer to regions. A null reference has no target
    /// that shows it.
    has_regions: bool,
}

impl Texts {
    /// Returns the form of elements of a datatype.
    pub(super) fn of(datatype: &Datatype) -> Self {
        let mut inner = Vec::new();
        let mut element = datatype;
        while let DatatypeClass::Array(array) = &element.class {
            inner.extend(array.dims.iter().map(|size| u64::from(*size)));
            element = &array.base;
        }
        Self { inner, has_regions: has_regions(element) }
    }

    /// Returns the shape of the lists for elements of the shape `outer`.
    pub(super) fn shape(&self, outer: &[u64]) -> Vec<u64> {
        [outer, &self.inner].concat()
    }

    /// Writes the next elements.
    pub(super) fn write(
        &self,
        column: &Column,
        count: usize,
        nested: &mut Nested,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let (mut column, mut count) = (column, count);
        while let Column::Array { items, .. } = column {
            (column, count) = (items, items.len());
        }
        let container = if nested.is_scalar() { Container::Scalar } else { Container::Array };
        let context = Context { container, has_regions: self.has_regions };
        for index in 0..count {
            nested.before(out);
            element(column, index, context, out)?;
            nested.after(out);
        }
        Ok(())
    }
}

/// The container of an element. Floats in a compound, and parts of complex numbers in an array, are
/// numbers of Python, which have 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Scalar,
    Array,
    Compound,
}

/// The facts that the text of an element depends on, beside its value.
#[derive(Debug, Clone, Copy)]
struct Context {
    container: Container,
    /// True if references refer to regions.
    has_regions: bool,
}

impl Context {
    /// Returns the context of the items of an element.
    fn within(self, container: Container) -> Self {
        Self { container, ..self }
    }
}

/// Returns true if the datatype has references to regions, and none to objects.
fn has_regions(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::Reference(reference) => {
            matches!(reference.kind, ReferenceKind::DatasetRegion1 | ReferenceKind::DatasetRegion2)
        }
        DatatypeClass::Array(array) => has_regions(&array.base),
        DatatypeClass::VariableLength(sequence) => has_regions(&sequence.base),
        DatatypeClass::Compound(compound) => {
            let mut members = compound.members.iter().filter(|member| member.datatype.contains_reference());
            let all = members.clone().all(|member| has_regions(&member.datatype));
            members.next().is_some() && all
        }
        _ => false,
    }
}

fn element(column: &Column, index: usize, context: Context, out: &mut Vec<u8>) -> Result<(), Failure> {
    let missing = || Failure::internal("a column has fewer elements than its dataset");
    match column {
        Column::U8(values) => put(out, values.get(index)),
        Column::U16(values) => put(out, values.get(index)),
        Column::U32(values) => put(out, values.get(index)),
        Column::U64(values) => put(out, values.get(index)),
        Column::I8(values) => put(out, values.get(index)),
        Column::I16(values) => put(out, values.get(index)),
        Column::I32(values) => put(out, values.get(index)),
        Column::I64(values) => put(out, values.get(index)),
        Column::Bool(values) => put(out, values.get(index)),
        Column::F16(values) => single(out, values.get(index).map(|value| value.to_f32()), context),
        Column::Bf16(values) => single(out, values.get(index).map(|value| value.to_f32()), context),
        Column::F32(values) => single(out, values.get(index).copied(), context),
        Column::F64(values) => put(out, values.get(index)),
        Column::Complex32(values) if context.container == Container::Scalar => {
            put(out, values.get(index).map(|value| [value.re, value.im]).as_ref())
        }
        Column::Complex32(values) => {
            put(out, values.get(index).map(|value| [f64::from(value.re), f64::from(value.im)]).as_ref())
        }
        Column::Complex64(values) => put(out, values.get(index).map(|value| [value.re, value.im]).as_ref()),
        Column::Text(values) => {
            let text = values.get(index).ok_or_else(missing)?;
            put(out, Some(&text.trim_end_matches('\0')))
        }
        Column::ByteText(values) => {
            let bytes = values.get(index).ok_or_else(missing)?;
            put(out, Some(&String::from_utf8_lossy(bytes).trim_end_matches('\0')))
        }
        Column::Bytes { size, bytes } => {
            text(out, bytes.chunks_exact((*size).max(1)).nth(index).ok_or_else(missing)?)
        }
        Column::Enumeration(named) => element(&named.values, index, context, out),
        Column::Compound(members) => {
            out.push(b'[');
            for (number, (_, member)) in members.iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                element(member, index, context.within(Container::Compound), out)?;
            }
            out.push(b']');
            Ok(())
        }
        Column::Array { shape, items, .. } => array(shape, items, index, context, out),
        Column::Sequence { ends, items } => {
            let end = *ends.get(index).ok_or_else(missing)?;
            let start = index.checked_sub(1).and_then(|before| ends.get(before).copied()).unwrap_or(0);
            list(items, start..end, context, out)
        }
        Column::Reference(values) => {
            let reference = values.get(index).ok_or_else(missing)?;
            put(out, Some(&reference_text(reference, context.has_regions)))
        }
        _ => Err(Failure::refused("elements of a kind that JSON cannot show")),
    }
}

/// Writes an element that is an array of `shape`, as nested lists.
fn array(
    shape: &[usize],
    items: &Column,
    index: usize,
    context: Context,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let count: usize = shape.iter().product();
    let mut nested = Nested::new(shape.iter().map(|size| hyperslab_exact::to_u64(*size)).collect());
    nested.start(out)?;
    let first = index.checked_mul(count).ok_or_else(|| Failure::refused("too many elements"))?;
    for item in first..first + count {
        nested.before(out);
        element(items, item, context.within(Container::Array), out)?;
        nested.after(out);
    }
    Ok(())
}

fn list(
    items: &Column,
    range: std::ops::Range<usize>,
    context: Context,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    out.push(b'[');
    let start = range.start;
    for index in range {
        if index > start {
            out.push(b',');
        }
        element(items, index, context.within(Container::Array), out)?;
    }
    out.push(b']');
    Ok(())
}

fn put<T: Serialize>(out: &mut Vec<u8>, value: Option<&T>) -> Result<(), Failure> {
    let value = value.ok_or_else(|| Failure::internal("a column has fewer elements than its dataset"))?;
    serde_json::to_writer(out, value).map_err(|error| Failure::internal(error.to_string()))
}

fn single(out: &mut Vec<u8>, value: Option<f32>, context: Context) -> Result<(), Failure> {
    match context.container {
        Container::Scalar | Container::Array => put(out, value.as_ref()),
        Container::Compound => put(out, value.map(f64::from).as_ref()),
    }
}

/// Writes bytes as text. Bytes that are not UTF-8 become U+FFFD.
fn text(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Failure> {
    put(out, Some(&String::from_utf8_lossy(bytes)))
}

/// Returns the text that h5py shows for a reference.
fn reference_text(reference: &hyperslab::Reference, has_regions: bool) -> String {
    let kind = match reference.target() {
        hyperslab::ReferenceTarget::Region(..) => "region",
        _ if reference.is_null() && has_regions => "region",
        _ => "object",
    };
    let null = if reference.is_null() { " (null)" } else { "" };
    format!("<HDF5 {kind} reference{null}>")
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;

    fn lists(shape: &[u64], count: usize) -> String {
        let mut out = Vec::new();
        let mut nested = Nested::new(shape.to_vec());
        nested.start(&mut out).unwrap();
        let column = Column::U64((0..hyperslab_exact::to_u64(count)).collect());
        let texts = Texts { inner: Vec::new(), has_regions: false };
        texts.write(&column, count, &mut nested, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn elements_are_nested_as_their_shape() {
        assert_eq!(lists(&[], 1), "0");
        assert_eq!(lists(&[3], 3), "[0,1,2]");
        assert_eq!(lists(&[2, 2], 4), "[[0,1],[2,3]]");
        assert_eq!(lists(&[2, 1, 2], 4), "[[[0,1]],[[2,3]]]");
        assert_eq!(lists(&[0], 0), "[]");
        assert_eq!(lists(&[2, 0], 0), "[[],[]]");
        assert_eq!(lists(&[0, 2], 0), "[]");
        assert!(Nested::new(vec![u64::MAX, 2, 0]).start(&mut Vec::new()).is_err());
    }

    #[test]
    fn parts_of_complex_numbers_have_32_bits_outside_of_arrays() {
        let column = Column::Complex32(vec![Complex::new(0.1, 2.5)]);
        for (shape, shown) in [(vec![], "[0.1,2.5]"), (vec![1], "[[0.10000000149011612,2.5]]")] {
            let (mut out, mut nested) = (Vec::new(), Nested::new(shape));
            Texts { inner: Vec::new(), has_regions: false }.write(&column, 1, &mut nested, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), shown);
        }
    }

    #[test]
    fn floats_of_a_compound_have_64_bits() {
        let floats = Column::F32(vec![0.1]);
        let shown = |column: &Column| {
            let mut out = Vec::new();
            let context = Context { container: Container::Array, has_regions: false };
            element(column, 0, context, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(&floats), "0.1");
        assert_eq!(shown(&Column::Compound(vec![("a".into(), floats)])), "[0.10000000149011612]");
        assert_eq!(shown(&Column::F64(vec![f64::NAN])), "null");
        assert_eq!(shown(&Column::ByteText(vec![b"a\xff".to_vec()])), "\"a\u{fffd}\"");
        // Zeros that fill a string to its size are no text, whatever its padding is.
        assert_eq!(shown(&Column::Text(vec!["a\0b\0\0".into()])), "\"a\\u0000b\"");
    }
}
