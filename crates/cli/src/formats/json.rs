//! The writer of arrays in JSON: `{"shape":[2,2],"data":[[0, 1],…]}`. No command reads JSON.

use std::io::Write;

use anyhow::Result;
use hyperslab::{Dataspace, File};
use hyperslab_exact::product;

use super::elements::{EachText, Style, for_each_defined};
use crate::output_target::OutputTarget;
use crate::selection::defined::DefinedElements;
use crate::values::blocks::listed;

/// Writes an array as JSON. `shape` is the shape of the dataset. `nested` is the shape with the
/// dimensions of array elements added.
pub(crate) fn write(
    output: &mut OutputTarget,
    shape: &[u64],
    nested: &[u64],
    each: EachText<'_>,
) -> Result<()> {
    let mut brackets = Nested::begin(output, shape, nested)?;
    each(&mut |text| brackets.element(output, text))?;
    brackets.end(output)
}

/// Writes defined elements as JSON: `{"shape": …, "defined": [[[i, j], value], …]}`.
pub(crate) fn write_defined(
    output: &mut OutputTarget,
    file: &File,
    elements: &DefinedElements<'_>,
) -> Result<()> {
    let space = elements.dataset().dataspace();
    let shape = match space {
        Dataspace::Null => "null".to_owned(),
        _ => listed(space.dims(), '[', ']'),
    };
    write!(output, "{{\"shape\":{shape},\"defined\":[")?;
    let mut between: &[u8] = b"\n";
    for_each_defined(file, elements, Style::Json, &mut |at, text| {
        output.write_all(between)?;
        between = b",\n";
        write!(output, "[{},{text}]", listed(at, '[', ']'))?;
        Ok(())
    })?;
    output.write_all(b"]}\n")?;
    Ok(())
}

/// A writer of the elements of an array as nested JSON lists. The writer adds the brackets.
#[derive(Debug)]
struct Nested {
    /// For each dimension, the product of its size and the sizes of all faster dimensions; the
    /// slowest dimension first.
    sizes: Vec<u64>,
    done: u64,
}

impl Nested {
    /// Begins the JSON document of an array: writes the part before the elements.
    fn begin(output: &mut impl Write, shape: &[u64], nested: &[u64]) -> Result<Self> {
        write!(output, "{{\"shape\":{},\"data\":", listed(shape, '[', ']'))?;
        Self::new(nested)
    }

    fn new(shape: &[u64]) -> Result<Self> {
        if shape.contains(&0) {
            return Ok(Self { sizes: Vec::new(), done: 0 });
        }
        let mut size = 1_u64;
        let mut sizes: Vec<u64> = Vec::new();
        for count in shape.iter().rev() {
            size = product("number of elements", [size, *count])?;
            sizes.push(size);
        }
        sizes.reverse();
        Ok(Self { sizes, done: 0 })
    }

    /// Returns the number of nested JSON lists that begin or end before the element with this
    /// number: the number of brackets to write.
    fn edges(&self, at: u64) -> usize {
        self.sizes.iter().rev().take_while(|size| at.checked_rem(**size) == Some(0)).count()
    }

    fn element(&mut self, output: &mut impl Write, text: &str) -> Result<()> {
        let opened = self.edges(self.done);
        if self.done > 0 {
            output.write_all(if opened > 0 { b",\n" } else { b", " })?;
        }
        (0..opened).try_for_each(|_| output.write_all(b"["))?;
        output.write_all(text.as_bytes())?;
        self.done += 1;
        let closed = self.edges(self.done);
        (0..closed).try_for_each(|_| output.write_all(b"]"))?;
        Ok(())
    }

    /// Ends the JSON document of an array: writes the part after the elements. If the array has no
    /// elements, the document is `[]`.
    fn end(&self, output: &mut impl Write) -> Result<()> {
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
