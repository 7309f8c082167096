//! Elements of any type, in columns and as single values.

mod build;
mod column;
mod encode;
mod value;

pub use column::{Column, NamedValues};
pub(crate) use encode::Encoder;
pub use value::Value;

/// An array of elements of any type.
///
/// What [`Dataset::read_dyn`](crate::Dataset::read_dyn) gives: the elements in one [`Column`], and their shape.
#[derive(Debug, Clone, PartialEq)]
pub struct DynArray {
    shape: Vec<usize>,
    column: Column,
}

impl DynArray {
    pub(crate) fn new(shape: Vec<usize>, column: Column) -> Self {
        Self { shape, column }
    }

    /// The shape; empty for a single element.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements in C order.
    pub fn column(&self) -> &Column {
        &self.column
    }

    /// The elements in C order.
    pub fn into_column(self) -> Column {
        self.column
    }

    /// One element; `None` if there is none of these coordinates.
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
