//! A source of matrix entries that converts the values of another source.

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::convert::Conversion;

use super::batch::{Batch, Order, Source};
use super::element::Element;

/// A source of matrix entries that converts the values of another source. Floating-point numbers
/// may be rounded. If an integer type cannot represent a value, the conversion returns an error.
pub(crate) struct Converted<S> {
    source: S,
    element: Element,
    forward: Conversion,
    reverse: Conversion,
    incoming: Batch,
}

impl<S: Source> Converted<S> {
    pub(crate) fn new(source: S, element: Element) -> Result<Self> {
        let (from, to) = (source.element().datatype(), element.datatype());
        if source.element().is_complex() != element.is_complex() {
            bail!("values of type {from} cannot be converted to {to}");
        }
        // Booleans are the numbers 0 and 1; all numbers but 0 are true.
        let number = |element: Element| match element {
            Element::Bool => Element::U8.datatype(),
            number => number.datatype(),
        };
        let forward = Conversion::new(&number(source.element()), &number(element))?;
        let reverse = Conversion::new(&number(element), &number(source.element()))?;
        Ok(Self { source, element, forward, reverse, incoming: Batch::default() })
    }

    /// Checks that the conversion of matrix values changed no value: each converted value must
    /// convert back to the original value.
    fn check(&self, values: &[u8], count: usize) -> Result<()> {
        let mut again = vec![0; self.incoming.values.len()];
        self.reverse.convert(values, &mut again, count)?;
        let (rank, size) = (self.source.shape().len(), self.source.element().size());
        let pairs = self.incoming.entries(rank, size).zip(again.chunks_exact(size.max(1)));
        for ((at, value), again) in pairs {
            let zero = |bytes: &[u8]| self.source.element().is_zero(bytes);
            if value != again && !(zero(value) && zero(again)) {
                let mut shown = Vec::new();
                self.source.element().print(value, &mut shown);
                let shown = String::from_utf8_lossy(&shown);
                bail!("the value {shown} at {at:?} cannot be stored as {}", self.element.datatype());
            }
        }
        Ok(())
    }
}

impl<S: Source> Source for Converted<S> {
    fn shape(&self) -> &[u64] {
        self.source.shape()
    }

    fn element(&self) -> Element {
        self.element
    }

    fn count(&self) -> Option<u64> {
        self.source.count()
    }

    fn order(&self) -> Order {
        self.source.order()
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        let more = self.source.next_batch(&mut self.incoming)?;
        batch.clear();
        let count = self.incoming.len(self.source.shape().len());
        let bytes = count
            .checked_mul(self.element.size())
            .context("a batch of matrix entries does not fit in memory")?;
        batch.values.resize(bytes, 0);
        if self.element == Element::Bool {
            let values = self.incoming.values.chunks_exact(self.source.element().size().max(1));
            for (to, from) in batch.values.iter_mut().zip(values) {
                *to = u8::from(!self.source.element().is_zero(from));
            }
        } else {
            self.forward.convert(&self.incoming.values, &mut batch.values, count)?;
            // A conversion to integers must not change a value.
            if self.element.is_integer() {
                self.check(&batch.values, count)?;
            }
        }
        std::mem::swap(&mut batch.coordinates, &mut self.incoming.coordinates);
        Ok(more)
    }
}

#[cfg(test)]
mod tests {
    use super::super::matrices::Given;
    use super::*;

    fn converted<T: hyperslab::H5Type>(values: &[T], element: Element) -> Result<Vec<u8>> {
        let entries: Vec<_> = values.iter().zip(0..).map(|(value, row)| (vec![row, 0], *value)).collect();
        let source = Given::new(&[99, 1], &entries).source(Order::Any);
        Ok(Given::read(Converted::new(source, element)?)?.batch.values)
    }

    #[test]
    fn values_keep_their_meaning() {
        use hyperslab::H5Type as _;
        assert_eq!(converted(&[1.0, -2.0], Element::I8).unwrap(), i8::to_bytes(&[1, -2])[..]);
        assert_eq!(converted(&[0.1, 2.5], Element::F32).unwrap(), f32::to_bytes(&[0.1, 2.5])[..]);
        assert_eq!(converted(&[0_i64, -7], Element::Bool).unwrap(), [0, 1]);
        assert_eq!(converted(&[true, false], Element::F64).unwrap(), f64::to_bytes(&[1.0, 0.0])[..]);
        let error = converted(&[1_i64, 300], Element::U8).unwrap_err().to_string();
        assert!(error.contains("300 at [1, 0]"), "{error}");
        assert!(converted(&[1.5], Element::I64).is_err());
        assert!(converted(&[1_i64], Element::C64).is_err());
    }
}
