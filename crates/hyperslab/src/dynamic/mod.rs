//! Elements of any datatype: columns, arrays and single values.

mod build;
mod column;
mod encode;
mod value;

pub use column::{Column, NamedValues};
pub(crate) use encode::{DESCRIPTOR_BYTES, Encoder};
pub use value::Value;

/// An array of dynamic values, the elements of any datatype; returned by
/// [`Dataset::read_dyn`](crate::Dataset::read_dyn).
#[derive(Debug, Clone, PartialEq)]
pub struct DynArray {
    shape: Vec<usize>,
    column: Column,
}

impl DynArray {
    pub(crate) fn new(shape: Vec<usize>, column: Column) -> Self {
        Self { shape, column }
    }

    /// Returns the shape of the dynamic array; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the elements of the dynamic array as a column, in C order.
    pub fn column(&self) -> &Column {
        &self.column
    }

    /// Returns all elements of the dynamic array as an owned one-dimensional column, in C order.
    pub fn into_column(self) -> Column {
        self.column
    }

    /// Returns the element of the dynamic array at `coordinates`; `None` if the array has no such
    /// element.
    pub fn get(&self, coordinates: &[usize]) -> Option<Value> {
        if coordinates.len() != self.shape.len() {
            return None;
        }
        let mut index = 0_usize;
        for (at, size) in coordinates.iter().zip(&self.shape) {
            if at >= size {
                return None;
            }
            index = index.checked_mul(*size)?.checked_add(*at)?;
        }
        self.column.get(index)
    }
}
