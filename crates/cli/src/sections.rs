//! The sizes of a dataset's structured chunks in the file, by section (a part of each structured
//! chunk).

use std::ops::ControlFlow;

use hyperslab::{Dataset, Error, FilterInfo, Result, Section, StructuredChunkInfo, StructuredChunking};

use crate::output;

/// The totals over all structured chunks of a dataset: counts and sizes.
#[derive(Debug, Clone)]
pub(crate) struct StructuredTotals {
    pub(crate) chunking: StructuredChunking,
    pub(crate) chunks: u64,
    /// The stored size in bytes.
    pub(crate) stored: u64,
    /// The number of defined elements.
    pub(crate) defined: u64,
    /// The number of all elements. `None` if it does not fit in 64 bits.
    pub(crate) elements: Option<u64>,
    pub(crate) sections: Vec<SectionTotals>,
}

/// The totals of one section (a part of each structured chunk) over all structured chunks of a
/// dataset.
#[derive(Debug, Clone)]
pub(crate) struct SectionTotals {
    pub(crate) section: Section,
    /// The stored size in bytes.
    pub(crate) stored: u64,
    /// The decoded size in bytes.
    pub(crate) unfiltered: u64,
    pub(crate) filters: Vec<FilterInfo>,
}

impl StructuredTotals {
    /// Returns the totals of a dataset's structured chunks. Returns `None` if the dataset has
    /// another layout.
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
        let mut fits = true;
        dataset.sparse().visit_chunks(|chunk| {
            fits = totals.add(&chunk).is_some();
            if fits { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if !fits {
            return Err(Error::corrupt(
                "structured chunks",
                "sizes",
                "a sum of less than 2^64",
                "a larger sum",
            ));
        }
        Ok(Some(totals))
    }

    /// Adds a structured chunk to the totals. Returns `None` if a sum does not fit in 64 bits.
    fn add(&mut self, chunk: &StructuredChunkInfo) -> Option<()> {
        self.chunks += 1;
        self.stored = self.stored.checked_add(chunk.size)?;
        self.defined = self.defined.checked_add(chunk.defined)?;
        for (section, info) in self.sections.iter_mut().zip(&chunk.sections) {
            section.stored = section.stored.checked_add(info.size)?;
            section.unfiltered = section.unfiltered.checked_add(info.unfiltered)?;
        }
        Some(())
    }

    /// Returns the share of a dataset's elements that are defined.
    pub(crate) fn density(&self) -> Option<f64> {
        self.elements.map(|elements| share(self.defined, elements))
    }

    /// Returns the names of the filters that any section of the structured chunks uses, each name
    /// once.
    pub(crate) fn filter_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for name in self.sections.iter().flat_map(|section| &section.filters).map(filter_name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Formats the number of defined elements: `24 of 130 elements (18.5 %)`.
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
    /// Returns the decoded size of a section of structured chunks divided by its stored size.
    /// Returns `None` if nothing is stored.
    pub(crate) fn ratio(&self) -> Option<f64> {
        (self.stored > 0).then(|| share(self.unfiltered, self.stored))
    }

    /// Formats the sizes and the filters of a section of structured chunks: `59 B of 96 B (1.63×) ·
    /// shuffle(4) → deflate(6)`.
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

/// Formats a share in percent. Small shares get more digits.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 1.0 {
        return format!("{percent:.1} %");
    }
    if percent >= 0.001 { format!("{percent:.3} %") } else { format!("{percent:.1e} %") }
}

/// Returns the short name of a filter. Prefers the built-in name, because the name in the file may
/// be a sentence with the address of the filter's author.
pub(crate) fn filter_name(filter: &FilterInfo) -> String {
    match (hyperslab::filter::FilterId(filter.id).name(), &filter.name) {
        (Some(name), _) => name.to_owned(),
        (None, Some(name)) => output::escape(name.as_bytes()),
        (None, None) => format!("filter {}", filter.id),
    }
}

/// Formats filters in the order of encoding, with their parameters: `shuffle(4) → deflate(6)`.
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
