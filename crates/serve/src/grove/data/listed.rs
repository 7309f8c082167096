//! Elements as JSON.

use hyperslab::Datatype;

use super::super::Failure;
use super::super::json::{Nested, Texts};
use super::super::selection::Block;
use super::stream::{Encoder, Source};

/// The encoder of elements as nested lists of JSON.
pub(super) struct Listed {
    texts: Texts,
    nested: Nested,
}

impl Listed {
    /// Creates the encoder of elements of a datatype in lists of `shape`.
    pub(super) fn new(datatype: &Datatype, shape: &[u64], flatten: bool) -> Self {
        let texts = Texts::of(datatype);
        let mut shape = texts.shape(shape);
        if flatten && !shape.is_empty() {
            // An overflow cannot occur: the size of the selection was checked.
            shape = vec![shape.iter().product()];
        }
        Self { texts, nested: Nested::new(shape) }
    }
}

impl Encoder for Listed {
    fn start(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.nested.start(out)
    }

    fn block(&mut self, source: &Source, block: &Block, out: &mut Vec<u8>) -> Result<(), Failure> {
        let column = source.dataset.read_stored(&block.selection)?.column()?;
        self.texts.write(&column, block.count, &mut self.nested, out)
    }

    fn end(&mut self, _: &mut Vec<u8>) {}
}
