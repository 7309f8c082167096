//! What structured chunks take in the file, section by section.

use std::ops::ControlFlow;

use hyperslab::{Dataset, FilterInfo, Result, Section, StructuredChunking};

use crate::output;

/// The structured chunks of a dataset, added up.
#[derive(Debug, Clone)]
pub(crate) struct StructuredTotals {
    pub(crate) chunking: StructuredChunking,
    pub(crate) chunks: u64,
    /// Bytes in the file.
    pub(crate) stored: u64,
    /// Defined elements, ...
    pub(crate) defined: u64,
    /// ... of so many; `None` if that passes 64 bits.
    pub(crate) elements: Option<u64>,
    pub(crate) sections: Vec<SectionTotals>,
}

/// One section of all chunks.
#[derive(Debug, Clone)]
pub(crate) struct SectionTotals {
    pub(crate) section: Section,
    /// Bytes in the file.
    pub(crate) stored: u64,
    /// Bytes without filters.
    pub(crate) unfiltered: u64,
    pub(crate) filters: Vec<FilterInfo>,
}

impl StructuredTotals {
    /// Those of a dataset, if it is in structured chunks.
    pub(crate) fn of(dataset: &Dataset) -> Result<Option<Self>> {
        let Some(chunking) = dataset.sparse().chunking() else { return Ok(None) };
        let section = |(section, filters): &(Section, Vec<FilterInfo>)| SectionTotals {
            section: *section,
            stored: 0,
            unfiltered: 0,
            filters: filters.clone(),
        };
        let sections = chunking.sections.iter().map(section).collect();
        let elements = dataset.dataspace().element_count();
        let mut totals = Self { chunking, chunks: 0, stored: 0, defined: 0, elements, sections };
        dataset.sparse().visit_chunks(|chunk| {
            totals.chunks = totals.chunks.saturating_add(1);
            totals.stored = totals.stored.saturating_add(chunk.size);
            totals.defined = totals.defined.saturating_add(chunk.defined);
            for (section, info) in totals.sections.iter_mut().zip(&chunk.sections) {
                section.stored = section.stored.saturating_add(info.size);
                section.unfiltered = section.unfiltered.saturating_add(info.unfiltered);
            }
            ControlFlow::Continue(())
        })?;
        Ok(Some(totals))
    }

    /// The share of elements that are defined.
    pub(crate) fn density(&self) -> Option<f64> {
        self.elements.map(|elements| share(self.defined, elements))
    }

    /// The filters of any section, each once.
    pub(crate) fn filter_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for name in self.sections.iter().flat_map(|section| &section.filters).map(filter_name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// `24 of 130 elements (18.5 %)`.
    pub(crate) fn defined_text(&self) -> String {
        match (self.elements, self.density()) {
            (Some(elements), Some(density)) => {
                format!("{} of {} ({})", self.defined, output::count(elements, "element"), percent(density))
            }
            _ => output::count(self.defined, "element"),
        }
    }
}

impl SectionTotals {
    /// How much larger the section is without its filters.
    pub(crate) fn ratio(&self) -> Option<f64> {
        (self.stored > 0).then(|| share(self.unfiltered, self.stored))
    }

    /// `59 B of 96 B (1.63×) · shuffle(4) → deflate(6)`.
    pub(crate) fn text(&self) -> String {
        let sizes = format!("{} of {}", output::bytes(self.stored), output::bytes(self.unfiltered));
        let filters = if self.filters.is_empty() { "no filters".into() } else { filters_text(&self.filters) };
        match self.ratio().filter(|_| !self.filters.is_empty()) {
            Some(ratio) => format!("{sizes} ({ratio:.2}×) · {filters}"),
            None => format!("{sizes} · {filters}"),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A share in percent, with digits enough to tell small ones apart.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 1.0 {
        return format!("{percent:.1} %");
    }
    if percent >= 0.001 { format!("{percent:.3} %") } else { format!("{percent:.1e} %") }
}

/// The filter's short name. Names in files may be sentences with addresses of their makers, so that the known
/// one comes first.
pub(crate) fn filter_name(filter: &FilterInfo) -> String {
    match (hyperslab::filter::FilterId(filter.id).name(), &filter.name) {
        (Some(name), _) => name.to_owned(),
        (None, Some(name)) => output::escape(name.as_bytes()),
        (None, None) => format!("filter {}", filter.id),
    }
}

/// Filters in the order of writing, with their parameters: `shuffle(4) → deflate(6)`.
pub(crate) fn filters_text(filters: &[FilterInfo]) -> String {
    let shown = filters.iter().map(|filter| {
        let parameters: Vec<String> = filter.client_data.iter().map(u32::to_string).collect();
        let parameters = match parameters.len() {
            0 => String::new(),
            _ => format!("({})", parameters.join(", ")),
        };
        format!("{}{parameters}", filter_name(filter))
    });
    shown.collect::<Vec<_>>().join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        let shown: Vec<String> = [(0, 0), (1, 1), (24, 130), (1, 1000), (3, u64::MAX)]
            .map(|(part, whole)| percent(share(part, whole)))
            .into();
        assert_eq!(shown, ["0.0 %", "100.0 %", "18.5 %", "0.100 %", "1.6e-17 %"]);
    }
}
