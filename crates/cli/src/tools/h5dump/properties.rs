//! The storage properties of a dataset in the output of h5dump (`-p`).

use anyhow::{Context as _, Result};
use hyperslab::{AllocationTime, Dataset, FillStatus, FillTime, FilterInfo, Layout};
use hyperslab_exact::sum;

use super::Dump;
use crate::tools::ddl::LEVEL;
use crate::tools::ddl::elements::Elements;
use crate::tools::ddl::space::list;
use crate::tools::known::Paths;

/// The bits of the szip filter's options, and the line that h5dump prints for each bit.
const SZIP_OPTIONS: [(u32, &str); 7] = [
    (2, "MODE HARDWARE"),
    (1, "MODE K13"),
    (4, "CODING ENTROPY"),
    (32, "CODING NEAREST NEIGHBOUR"),
    (8, "BYTE_ORDER LSB"),
    (16, "BYTE_ORDER MSB"),
    (128, "HEADER RAW"),
];

impl Dump<'_> {
    pub(super) fn properties(&mut self, dataset: &Dataset, indent: usize) -> Result<()> {
        self.layout_of(dataset, indent)?;
        // The filters of structured chunks are printed with their sections. Virtual datasets have
        // neither filters nor an allocation time.
        let is_virtual = matches!(dataset.layout(), Layout::Virtual);
        if !is_virtual && !matches!(dataset.layout(), Layout::Structured) {
            self.filters(&dataset.filters(), indent)?;
        }
        self.fill_value(dataset, indent)?;
        if is_virtual {
            return Ok(());
        }
        self.line(indent, "ALLOCATION_TIME {")?;
        let allocation = match dataset.fill_value().allocation {
            AllocationTime::Early => "H5D_ALLOC_TIME_EARLY",
            AllocationTime::Incremental => "H5D_ALLOC_TIME_INCR",
            AllocationTime::Late => "H5D_ALLOC_TIME_LATE",
            // The default depends on the layout.
            _ => match dataset.layout() {
                Layout::Compact => "H5D_ALLOC_TIME_EARLY",
                Layout::Contiguous { .. } => "H5D_ALLOC_TIME_LATE",
                _ => "H5D_ALLOC_TIME_INCR",
            },
        };
        self.line(indent + LEVEL, allocation)?;
        self.line(indent, "}")?;
        Ok(())
    }

    fn layout_of(&mut self, dataset: &Dataset, indent: usize) -> Result<()> {
        self.line(indent, "STORAGE_LAYOUT {")?;
        let inside = indent + LEVEL;
        match dataset.layout() {
            Layout::Compact => {
                self.line(inside, "COMPACT")?;
                self.line(inside, &format!("SIZE {}", dataset.storage_size()?))?;
            }
            Layout::Contiguous { address } => {
                self.line(inside, "CONTIGUOUS")?;
                let files = dataset.external_files();
                if files.is_empty() {
                    self.line(inside, &format!("SIZE {}", dataset.storage_size()?))?;
                    // The offset counts from the beginning of the file.
                    let offset = match address {
                        Some(address) => {
                            sum("offset of the raw data", [address, self.file.info().user_block])?.to_string()
                        }
                        None => "HADDR_UNDEF".into(),
                    };
                    self.line(inside, &format!("OFFSET {offset}"))?;
                } else {
                    self.line(inside, "EXTERNAL {")?;
                    for file in files {
                        let name = crate::output::in_line(&file.name);
                        // The C tool prints the number that stands for an unlimited size.
                        let size = file.size.unwrap_or(u64::MAX);
                        let line = format!("FILENAME {name} SIZE {size} OFFSET {}", file.offset);
                        self.line(inside + LEVEL, &line)?;
                    }
                    self.line(inside, "}")?;
                }
            }
            Layout::Chunked(chunking) => {
                self.line(inside, &format!("CHUNKED {}", list(&chunking.shape)))?;
                let size = dataset.storage_size()?;
                // Members that overlap have no other size in memory.
                let in_memory = dataset.datatype().memory_size().unwrap_or(dataset.datatype().size);
                let plain = u128::from(dataset.size()?) * u128::from(in_memory);
                let ratio = if dataset.filters().is_empty() {
                    String::new()
                } else {
                    compression(plain, size.into())
                };
                self.line(inside, &format!("SIZE {size}{ratio}"))?;
            }
            Layout::Virtual => self.virtual_mappings(dataset, inside)?,
            _ => self.structured(dataset, inside)?,
        }
        self.line(indent, "}")?;
        Ok(())
    }

    pub(super) fn filters(&mut self, filters: &[FilterInfo], indent: usize) -> Result<()> {
        self.line(indent, "FILTERS {")?;
        if filters.is_empty() {
            self.line(indent + LEVEL, "NONE")?;
        }
        for filter in filters {
            self.filter(filter, indent + LEVEL)?;
        }
        self.line(indent, "}")?;
        Ok(())
    }

    fn filter(&mut self, filter: &FilterInfo, indent: usize) -> Result<()> {
        let data = |number: usize| filter.client_data.get(number).copied().unwrap_or(0);
        match filter.id {
            1 => self.line(indent, &format!("COMPRESSION DEFLATE {{ LEVEL {} }}", data(0)))?,
            2 => self.line(indent, "PREPROCESSING SHUFFLE")?,
            3 => self.line(indent, "CHECKSUM FLETCHER32")?,
            4 => {
                self.line(indent, "COMPRESSION SZIP {")?;
                self.line(indent + LEVEL, &format!("PIXELS_PER_BLOCK {}", data(1)))?;
                for (option, line) in SZIP_OPTIONS {
                    if data(0) & option != 0 {
                        self.line(indent + LEVEL, line)?;
                    }
                }
                self.line(indent, "}")?;
            }
            5 => self.line(indent, "COMPRESSION NBIT")?,
            6 => {
                // The C tool prints the kind of scaling, not the number of bits.
                let line = format!("COMPRESSION SCALEOFFSET {{ MIN BITS {} }}", data(0));
                self.line(indent, &line)?;
            }
            id => {
                self.line(indent, "USER_DEFINED_FILTER {")?;
                self.line(indent + LEVEL, &format!("FILTER_ID {id}"))?;
                if let Some(name) = &filter.name {
                    self.line(indent + LEVEL, &format!("COMMENT {name}"))?;
                }
                // The C tool prints the values as signed integers.
                let numbers = filter.client_data.iter().map(|value| value.cast_signed().to_string());
                let numbers: Vec<String> = numbers.collect();
                if !numbers.is_empty() {
                    self.line(indent + LEVEL, &format!("PARAMS {{ {} }}", numbers.join(" ")))?;
                }
                self.line(indent, "}")?;
            }
        }
        Ok(())
    }

    fn fill_value(&mut self, dataset: &Dataset, indent: usize) -> Result<()> {
        let fill = dataset.fill_value();
        let inside = indent + LEVEL;
        self.line(indent, "FILLVALUE {")?;
        let time = match fill.time {
            FillTime::Allocation => "H5D_FILL_TIME_ALLOC",
            FillTime::Never => "H5D_FILL_TIME_NEVER",
            _ => "H5D_FILL_TIME_IFSET",
        };
        self.line(inside, &format!("FILL_TIME {time}"))?;
        let value = match fill.status {
            FillStatus::Undefined => "H5D_FILL_VALUE_UNDEFINED".into(),
            FillStatus::Default => "H5D_FILL_VALUE_DEFAULT".into(),
            FillStatus::User(_) => {
                let stored = dataset.stored_fill_value()?;
                let names = Paths { name: &self.name, known: &self.known };
                let elements = Elements { style: &self.style, stored: &stored, names: &names };
                let element = stored.elements().next().context("the fill value has no bytes")?;
                elements.text(stored.datatype(), element, inside + LEVEL)?
            }
        };
        self.line(inside, &format!("VALUE  {value}"))?;
        self.line(indent, "}")?;
        Ok(())
    }
}

/// Returns the compression ratio of a dataset as text.
#[expect(clippy::cast_precision_loss, reason = "few digits are shown")]
pub(super) fn compression(plain: u128, stored: u128) -> String {
    if stored == 0 {
        return " (0.000:1 COMPRESSION)".into();
    }
    format!(" ({:.3}:1 COMPRESSION)", plain as f64 / stored as f64)
}

#[cfg(test)]
mod tests {
    use super::compression;

    #[test]
    fn ratios_are_rounded_as_doubles() {
        assert_eq!(compression(91, 80), " (1.137:1 COMPRESSION)");
        assert_eq!(compression(3, 0), " (0.000:1 COMPRESSION)");
    }
}
