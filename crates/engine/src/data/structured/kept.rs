//! The sections of a changed structured chunk that are stored again as they are.

use hyperslab_exact::to_usize;
use hyperslab_filter::Scratch;

use super::StructuredForm;
use super::chunk::fetch;
use crate::data::chunk_index::StructuredLocation;
use crate::error::{ErrorKind, Result};
use crate::store::Store;

/// The stored bytes of a section, and the mask of its skipped filters.
pub(super) type KeptSection = (Vec<u8>, u32);

impl StructuredForm {
    /// Returns the stored form of each section of a structured chunk whose decoded bytes are the
    /// bytes in `contents`. Returns `None` for the other sections.
    ///
    /// To decode a section takes a fraction of the time to encode it. A section with another number
    /// of bytes is not decoded.
    ///
    /// # Errors
    /// Returns errors of the driver.
    pub(super) fn kept_sections(
        &self,
        store: &Store,
        before: &StructuredLocation,
        contents: &[Vec<u8>],
        scratch: &mut Scratch,
    ) -> Result<Vec<Option<KeptSection>>> {
        match self.equal_sections(store, before, contents, scratch) {
            // A write may replace a damaged chunk. Then all sections are encoded.
            Err(error)
                if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Limit | ErrorKind::Unsupported) =>
            {
                Ok(Vec::new())
            }
            outcome => outcome,
        }
    }

    fn equal_sections(
        &self,
        store: &Store,
        before: &StructuredLocation,
        contents: &[Vec<u8>],
        scratch: &mut Scratch,
    ) -> Result<Vec<Option<KeptSection>>> {
        let sections = self.sections_of(before)?.0;
        let is_candidate = |number: usize| {
            let section = sections.get(number).filter(|section| section.size > 0);
            let length = contents.get(number).map(|bytes| bytes.len() as u64);
            section.is_some_and(|section| Some(section.unfiltered) == length)
        };
        let mut kept = vec![None; contents.len()];
        if !(0..contents.len()).any(is_candidate) {
            return Ok(kept);
        }
        let stored = fetch(store, before)?;
        let pairs = sections.iter().zip(&self.sections).zip(contents.iter().zip(&mut kept));
        for (number, ((section, form), (bytes, kept))) in pairs.enumerate() {
            if !is_candidate(number) || form.pipeline.is_empty() {
                continue;
            }
            let (start, size) = (to_usize(section.offset)?, to_usize(section.size)?);
            let Some(encoded) = stored.get(start..).and_then(|rest| rest.get(..size)) else { continue };
            if self.defilter(store, before, (section, form), encoded, scratch)? == *bytes {
                *kept = Some((encoded.to_vec(), section.filter_mask));
            }
        }
        Ok(kept)
    }
}
