//! The filters of sections, with the parameters that depend on what a section holds.

use hyperslab_engine::format::DefinedEncoding;
use hyperslab_engine::ops::datasets::Fill;
use hyperslab_filter::{DatasetFacts, FillValue, FilterError, FilterSpec, Pipeline, Registry};

use super::Section;
use crate::Datatype;

/// What matters to filters of the sections of a dataset's chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SectionFacts<'a> {
    /// Type of the elements.
    pub(crate) datatype: &'a Datatype,
    /// Elements of a chunk along each dimension.
    pub(crate) chunk: &'a [u64],
    /// True if only defined elements are stored.
    pub(crate) sparse: bool,
    /// How they are written down.
    pub(crate) encoding: DefinedEncoding,
    /// What undefined elements read as.
    pub(crate) fill: &'a Fill,
}

impl SectionFacts<'_> {
    /// The filters of each section, in the order of the sections.
    pub(crate) fn pipelines(
        &self,
        filters: &dyn Fn(Section) -> Vec<FilterSpec>,
        registry: &Registry,
    ) -> Result<Vec<Pipeline>, FilterError> {
        let sections = Section::all(self.sparse, self.datatype.is_variable_length());
        let pipeline = |section: &Section| {
            let shown = section.shown_type(self.datatype, self.chunk, self.encoding);
            let fill = match self.fill {
                Fill::User(element) if *section == Section::Values => FillValue::Element(element),
                _ => FillValue::Default,
            };
            let facts = DatasetFacts::new(&shown, self.chunk).with_fill(fill);
            Pipeline::for_dataset(&filters(*section), &facts, registry)
        };
        sections.iter().map(pipeline).collect()
    }
}
