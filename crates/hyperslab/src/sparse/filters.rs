//! The filter pipelines of the sections of structured chunks.

use hyperslab_engine::format::DefinedEncoding;
use hyperslab_engine::ops::datasets::StoredFillValue;
use hyperslab_filter::{DatasetFacts, DatasetFill, FilterError, FilterSpec, Pipeline, Registry};

use super::Section;
use crate::Datatype;

/// The facts about a dataset from which the filter parameters for each section of its structured
/// chunks are derived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SectionFacts<'a> {
    /// The datatype of the elements.
    pub(crate) datatype: &'a Datatype,
    /// The shape of a chunk, in elements.
    pub(crate) chunk: &'a [u64],
    /// `true` if chunks store only defined elements.
    pub(crate) sparse: bool,
    /// The form of the selection of defined elements.
    pub(crate) encoding: DefinedEncoding,
    /// The value of undefined elements.
    pub(crate) fill: &'a StoredFillValue,
}

impl SectionFacts<'_> {
    /// Returns the filter pipeline of each section of the dataset's structured chunks, in the order
    /// of the sections.
    pub(crate) fn pipelines(
        &self,
        filters: &dyn Fn(Section) -> Vec<FilterSpec>,
        registry: &Registry,
    ) -> Result<Vec<Pipeline>, FilterError> {
        let sections = Section::all(self.sparse, self.datatype.is_variable_length());
        let pipeline = |section: &Section| {
            let shown = section.filter_type(self.datatype, self.chunk, self.encoding);
            let fill = match self.fill {
                StoredFillValue::User(element) if *section == Section::Values => {
                    DatasetFill::Element(element)
                }
                _ => DatasetFill::Default,
            };
            let facts = DatasetFacts::new(&shown, self.chunk).with_fill(fill);
            Pipeline::for_dataset(&filters(*section), &facts, registry)
        };
        sections.iter().map(pipeline).collect()
    }
}
