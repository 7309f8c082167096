//! The storage of datasets in the output of h5ls.

use std::ops::ControlFlow;

use anyhow::Result;
use hyperslab::datatype::VariableLengthKind;
use hyperslab::{Dataset, DatatypeClass, FilterInfo, Layout};
use hyperslab_exact::{product, sum};

use super::List;
use super::memory::in_memory;
use super::names::{Quotes, escaped};
use crate::output::in_line;

impl List<'_> {
    /// Prints the storage of a dataset for h5ls, without the addresses of its data.
    pub(super) fn storage(&mut self, dataset: &Dataset) -> Result<()> {
        match dataset.layout() {
            Layout::Chunked(chunking) => self.chunks("Chunks:", 10, &chunking.shape, dataset)?,
            Layout::Structured => return self.structured(dataset),
            Layout::Virtual => self.maps(dataset)?,
            _ => self.external(dataset)?,
        }
        self.line("Storage:", &storage(dataset)?)?;
        self.filters(&dataset.filters())
    }

    /// Prints a word, the shape of a dataset's chunks, and their size for h5ls.
    fn chunks(&mut self, word: &str, columns: usize, shape: &[u64], dataset: &Dataset) -> Result<()> {
        let size = u64::from(in_memory(dataset.datatype()).size);
        let bytes = product("size of a chunk", [size].into_iter().chain(shape.iter().copied()))?;
        let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
        writeln!(self.out, "    {word:<columns$} {{{}}} {bytes} bytes", shape.join(", "))?;
        Ok(())
    }

    /// Prints the shape and the sections of a dataset's structured chunks for h5ls.
    fn structured(&mut self, dataset: &Dataset) -> Result<()> {
        let Some(chunking) = dataset.sparse().chunking() else { return Ok(()) };
        self.chunks("Structured Chunks:", 0, &chunking.shape, dataset)?;
        let mut sizes = vec![(0_u128, 0_u128); chunking.sections.len()];
        dataset.sparse().visit_chunks(|chunk| {
            for ((stored, plain), section) in sizes.iter_mut().zip(&chunk.sections) {
                *stored += u128::from(section.size);
                *plain += u128::from(section.unfiltered);
            }
            ControlFlow::Continue(())
        })?;
        for ((number, (section, filters)), (stored, plain)) in (0..).zip(&chunking.sections).zip(sizes) {
            self.line(&format!("Section-{number}:"), section.name())?;
            self.line("Storage:", &shares(plain, stored))?;
            self.filters(filters)?;
        }
        Ok(())
    }

    fn filters(&mut self, filters: &[FilterInfo]) -> Result<()> {
        for (number, filter) in (0..).zip(filters) {
            let name = escaped(filter.name.as_deref().unwrap_or("").as_bytes(), Quotes::Yes);
            let optional = if filter.flags & 1 == 1 { "OPT" } else { "" };
            let values: Vec<String> = filter.client_data.iter().map(u32::to_string).collect();
            let text = format!("{name}-{} {optional} {{{}}}", filter.id, values.join(", "));
            self.line(&format!("Filter-{number}:"), &text)?;
        }
        Ok(())
    }

    /// Prints the external raw data files of a dataset, if it has any.
    fn external(&mut self, dataset: &Dataset) -> Result<()> {
        let files = dataset.external_files();
        if files.is_empty() {
            return Ok(());
        }
        let plural = if files.len() == 1 { "" } else { "s" };
        self.line("Extern:", &format!("{} external file{plural}", files.len()))?;
        let names: Vec<String> = files.iter().map(|file| escaped(&file.name, Quotes::No)).collect();
        let longest = names.iter().map(String::len).max().unwrap_or(0);
        let rule = format!("        ---- ---------- ---------- ---------- {}", "-".repeat(longest));
        writeln!(self.out, "          ID  DSet-Addr  File-Addr      Bytes File\n{rule}")?;
        let mut first = 0_u64;
        for ((number, file), name) in (0_u64..).zip(files).zip(names) {
            let size = file.size.map_or_else(|| "INF".into(), |size| size.to_string());
            writeln!(self.out, "        #{number:03} {first:>10} {:>10} {size:>10} {name}", file.offset)?;
            first = sum("size of the external files", [first, file.size.unwrap_or(0)])?;
        }
        writeln!(self.out, "{rule}")?;
        Ok(())
    }

    /// Prints the mappings of a virtual dataset for h5ls: the source datasets.
    fn maps(&mut self, dataset: &Dataset) -> Result<()> {
        let mappings = dataset.virtual_mappings()?;
        self.line("Maps:", &format!("{{{}}} Source {{", mappings.len()))?;
        for mapping in mappings {
            let [file, path] = [&mapping.file, &mapping.dataset].map(in_line);
            writeln!(self.out, "                      {file}   {path}")?;
        }
        writeln!(self.out, "               }}")?;
        Ok(())
    }

    /// Prints the address of a dataset's raw data.
    pub(super) fn address(&mut self, dataset: &Dataset) -> Result<()> {
        match dataset.layout() {
            Layout::Contiguous { address } => self.line("Address:", &address.unwrap_or(u64::MAX).to_string()),
            Layout::Chunked(_) | Layout::Structured => self.chunk_addresses(dataset),
            _ => Ok(()),
        }
    }

    /// Prints the addresses of a dataset's chunk index and of each chunk for h5ls.
    fn chunk_addresses(&mut self, dataset: &Dataset) -> Result<()> {
        let Some(index) = dataset.chunks().index_address() else { return Ok(()) };
        writeln!(self.out, "    Address: {index}")?;
        writeln!(self.out, "           Flags    Bytes     Address          Logical Offset")?;
        writeln!(self.out, "        ========== ======== ========== ==============================")?;
        let mut failed = Ok(());
        let mut row = |mask: u32, size: u64, address: u64, offset: &[u64]| {
            // The last coordinate is the offset within an element.
            let offset: Vec<String> = offset.iter().chain([&0]).map(u64::to_string).collect();
            if failed.is_ok() {
                let offset = offset.join(", ");
                failed = writeln!(self.out, "        0x{mask:08x} {size:>8} {address:>10} [{offset}]");
            }
        };
        if dataset.sparse().chunking().is_some() {
            dataset.sparse().visit_chunks(|chunk| {
                row(0, chunk.size, chunk.address, &chunk.offset);
                ControlFlow::Continue(())
            })?;
        } else {
            dataset.chunks().visit(|chunk| {
                row(chunk.filter_mask, chunk.size, chunk.address, &chunk.offset);
                ControlFlow::Continue(())
            })?;
        }
        Ok(failed?)
    }
}

/// Returns a text with the logical size of a dataset, its size in the file, and the ratio of both.
fn storage(dataset: &Dataset) -> Result<String> {
    match &dataset.datatype().class {
        DatatypeClass::VariableLength(variable) if variable.kind == VariableLengthKind::Sequence => {
            return Ok("information not available".into());
        }
        DatatypeClass::Reference(_) => return Ok("reference information not available".into()),
        _ => {}
    }
    let size = u128::from(dataset.size()?) * u128::from(in_memory(dataset.datatype()).size);
    let stored = if dataset.external_files().is_empty() { dataset.storage_size()?.into() } else { size };
    Ok(shares(size, stored))
}

#[expect(clippy::cast_precision_loss, reason = "four digits are shown")]
fn shares(size: u128, stored: u128) -> String {
    let bytes = |count: u128, word| format!("{count} {word} byte{}", if count == 1 { "" } else { "s" });
    let text = format!("{}, {}", bytes(size, "logical"), bytes(stored, "allocated"));
    if stored == 0 {
        return text;
    }
    format!("{text}, {:.2}% utilization", size as f64 * 100.0 / stored as f64)
}
