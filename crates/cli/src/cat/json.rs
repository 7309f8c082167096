//! An array in JSON, written element by element: `{"shape":[2,2],"data":[[0, 1],…]}`.

use std::io::Write;

use anyhow::Result;

use crate::values::blocks::listed;

/// Where brackets open and close.
#[derive(Debug)]
pub(super) struct Nested {
    /// Elements of each dimension with all behind it, outermost first.
    sizes: Vec<u64>,
    done: u64,
}

impl Nested {
    /// Writes all that stands before the elements: `shape` is that of the dataset, `nested` has the dimensions of elements that
    /// are arrays, too.
    pub(super) fn begin(output: &mut impl Write, shape: &[u64], nested: &[u64]) -> Result<Self> {
        write!(output, "{{\"shape\":{},\"data\":", listed(shape, '[', ']'))?;
        Ok(Self::new(nested))
    }

    fn new(shape: &[u64]) -> Self {
        let mut size = 1_u64;
        let mut sizes: Vec<u64> = Vec::new();
        for count in shape.iter().rev() {
            size = size.saturating_mul(*count);
            sizes.push(size);
        }
        sizes.reverse();
        Self { sizes, done: 0 }
    }

    /// How many dimensions begin, or end, at this element.
    fn edges(&self, at: u64) -> usize {
        self.sizes.iter().rev().take_while(|size| at.checked_rem(**size) == Some(0)).count()
    }

    pub(super) fn element(&mut self, output: &mut impl Write, text: &str) -> Result<()> {
        let opened = self.edges(self.done);
        if self.done > 0 {
            output.write_all(if opened > 0 { b",\n" } else { b", " })?;
        }
        (0..opened).try_for_each(|_| output.write_all(b"["))?;
        output.write_all(text.as_bytes())?;
        self.done = self.done.saturating_add(1);
        let closed = self.edges(self.done);
        (0..closed).try_for_each(|_| output.write_all(b"]"))?;
        Ok(())
    }

    /// An array without elements is `[]`, whatever its shape.
    pub(super) fn end(&self, output: &mut impl Write) -> Result<()> {
        output.write_all(if self.done == 0 { b"[]}\n" } else { b"}\n" })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_nest_as_the_dimensions_do() {
        let nested = |shape: &[u64]| {
            let mut output = Vec::new();
            let mut nested = Nested::begin(&mut output, shape, shape).unwrap();
            for number in 0..shape.iter().product::<u64>() {
                nested.element(&mut output, &number.to_string()).unwrap();
            }
            nested.end(&mut output).unwrap();
            String::from_utf8(output).unwrap()
        };
        assert_eq!(nested(&[]), "{\"shape\":[],\"data\":0}\n");
        assert_eq!(nested(&[3]), "{\"shape\":[3],\"data\":[0, 1, 2]}\n");
        assert_eq!(nested(&[2, 2]), "{\"shape\":[2,2],\"data\":[[0, 1],\n[2, 3]]}\n");
        assert_eq!(nested(&[2, 1, 2]), "{\"shape\":[2,1,2],\"data\":[[[0, 1]],\n[[2, 3]]]}\n");
        assert_eq!(nested(&[2, 0]), "{\"shape\":[2,0],\"data\":[]}\n");
    }
}
