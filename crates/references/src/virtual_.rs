//! Virtual datasets whose source datasets have chunks that are chunks of the virtual dataset.

use std::sync::Arc;

use hyperslab::vfd::DriverError;
use hyperslab::{Dataset, Error, ErrorKind, File, Region, Result, Selection, VirtualMapping};

use crate::chunks::{Chunks, Refusal, Storage, decoded_chunk, grid, with_items};
use crate::decoded::Encoder;
use crate::element::Element;
use crate::options::sibling;
use crate::{Chunk, Content, Report};

/// A source dataset and its chunks.
struct Source {
    dataset: Dataset,
    storage: Storage,
}

/// The chunks of a source dataset at their coordinates in the virtual dataset.
struct Moved {
    chunk_shape: Vec<u64>,
    storage: Storage,
    chunks: Vec<(Vec<u64>, Content)>,
}

/// Returns the chunks of a virtual dataset: the chunks of its source datasets.
pub(crate) fn storage(
    chunks: &mut Chunks<'_>,
    dataset: &Dataset,
    element: &Element,
) -> Result<Result<Storage, Refusal>> {
    let mut whole: Option<Storage> = None;
    let mut has_missing = false;
    for mapping in dataset.virtual_mappings()? {
        let moved = match source(chunks, dataset, element, &mapping)? {
            Ok(Some(source)) => moved(dataset, &mapping, source)?,
            Ok(None) => {
                has_missing = true;
                continue;
            }
            Err(reason) => Err(reason),
        };
        let moved = match moved {
            Ok(moved) => moved,
            Err(reason) => return Ok(Err(format!("virtual dataset: {reason}"))),
        };
        let grid = grid(dataset, element, &moved.chunk_shape);
        let codecs = moved.storage.codecs.clone();
        let all =
            whole.get_or_insert_with(|| Storage { grid: grid.clone(), chunks: Vec::new(), ..moved.storage });
        if all.codecs != codecs || all.grid != grid {
            return Ok(Err("virtual dataset: sources with different chunks or filters".to_owned()));
        }
        for (coordinates, content) in moved.chunks {
            if let Some(position) = grid.position(&with_items(&coordinates, element)) {
                all.chunks.push(Chunk { position, content });
            }
        }
    }
    if whole.is_none() && has_missing {
        // All elements have the fill value.
        let grid = grid(dataset, element, &decoded_chunk(dataset, element));
        let encoder = Encoder::of(&[]);
        whole = Some(Storage { grid, codecs: Vec::new(), chunks: Vec::new(), encoder });
    }
    Ok(whole.ok_or_else(|| "virtual dataset without sources".to_owned()))
}

/// Returns whether an error means that a file or a dataset does not exist.
fn is_missing(error: &Error) -> bool {
    let is_no_file = matches!(error, Error::Io { source: DriverError::Io { source, .. }, .. }
        if source.kind() == std::io::ErrorKind::NotFound);
    is_no_file || error.kind() == ErrorKind::NotFound
}

/// Returns the box of elements that a selection is; `None` if it is no box.
fn as_box(selection: &Selection, dims: &[u64]) -> Result<Option<Region>> {
    let Some(region) = selection.bounding_box(dims)? else { return Ok(None) };
    let is_box = selection.element_count(dims)? == region.element_count()?;
    Ok(is_box.then_some(region))
}

/// Returns the chunks of a mapping's source at their coordinates in the virtual dataset. The
/// borders of the chunks must agree.
fn moved(dataset: &Dataset, mapping: &VirtualMapping, source: Source) -> Result<Result<Moved, Refusal>> {
    let (dims, source_dims) = (dataset.shape(), source.dataset.shape());
    let to = as_box(&mapping.selection, &dims)?;
    let from = as_box(&mapping.source_selection, &source_dims)?;
    let (Some(to), Some(from)) = (to, from) else {
        return Ok(Err("a mapping that is no box of elements".to_owned()));
    };
    let Some(chunk) = source.storage.grid.chunk().get(..source_dims.len()) else {
        return Ok(Err("a source with another rank".to_owned()));
    };
    let Some(extra) = dims.len().checked_sub(source_dims.len()) else {
        return Ok(Err("a source of more dimensions".to_owned()));
    };
    let (outer, inner) = (to.count.split_at(extra), to.start.split_at(extra).1);
    let is_aligned = outer.0.iter().all(|count| *count == 1)
        && outer.1 == &from.count[..]
        && (inner.iter().zip(&from.start).zip(chunk).zip(outer.1).zip(dims.iter().skip(extra))).all(
            |((((to, from), chunk), count), size)| {
                let end = to + count;
                to % chunk == 0 && from % chunk == 0 && (end % chunk == 0 || end == *size)
            },
        );
    if !is_aligned {
        return Ok(Err("chunks of a source that are not chunks of the virtual dataset".to_owned()));
    }
    let mut chunks = Vec::with_capacity(source.storage.chunks.len());
    for found in &source.storage.chunks {
        let start = source.storage.grid.region(found.position).start;
        let start = start.get(..source_dims.len()).unwrap_or(&start);
        if from.contains(start) {
            let mut coordinates = to.start.clone();
            let own = coordinates.iter_mut().skip(extra);
            own.zip(start).zip(&from.start).for_each(|((own, start), from)| *own += start - from);
            chunks.push((coordinates.to_vec(), found.content.clone()));
        }
    }
    let chunk_shape = std::iter::repeat_n(1, extra).chain(chunk.iter().copied()).collect();
    Ok(Ok(Moved { chunk_shape, storage: source.storage, chunks }))
}

/// Opens the source dataset of a mapping. Returns `None` if it does not exist: the elements then
/// have the fill value. A name with a pattern stands for several sources.
fn source(
    chunks: &mut Chunks<'_>,
    dataset: &Dataset,
    element: &Element,
    mapping: &VirtualMapping,
) -> Result<Result<Option<Source>, Refusal>> {
    let is_pattern = mapping.file.contains(&b'%') || mapping.dataset.contains(&b'%');
    let name = String::from_utf8_lossy(&mapping.file).into_owned();
    let (file, url): (File, Arc<str>) = if name == "." {
        (dataset.containing_file()?, Arc::clone(&chunks.url))
    } else {
        let (Some(url), Some(open)) = (sibling(&chunks.url, &name), &chunks.open) else {
            return Ok(Err(format!("source file `{name}` cannot be opened")));
        };
        match open(&name) {
            Ok(file) => (file, url.into()),
            Err(error) if is_missing(&error) && !is_pattern => return Ok(Ok(None)),
            Err(error) => return Ok(Err(format!("source file `{name}`: {error}"))),
        }
    };
    let path = String::from_utf8_lossy(&mapping.dataset).into_owned();
    let found = match file.dataset(path.trim_matches('/')) {
        Ok(found) => found,
        Err(error) if is_missing(&error) && !is_pattern => return Ok(Ok(None)),
        Err(error) => return Ok(Err(format!("source dataset `{path}`: {error}"))),
    };
    if found.datatype() != dataset.datatype() {
        return Ok(Err(format!("source dataset `{path}` has another datatype")));
    }
    if found.fill_value().status != dataset.fill_value().status {
        return Ok(Err(format!("source dataset `{path}` has another fill value")));
    }
    let mut of_source = Chunks {
        url: Arc::clone(&url),
        inline: 0,
        user_block: file.info().user_block,
        recode: None,
        open: None,
        report: Report::default(),
    };
    let storage = match found.layout() {
        hyperslab::Layout::Virtual => Err("a source is virtual".to_owned()),
        _ => of_source.of(&found, element)?,
    };
    Ok(storage.map(|storage| Some(Source { dataset: found, storage })))
}

#[cfg(test)]
mod tests {
    use hyperslab::FileOptions;

    use super::*;
    use crate::{Array, Json, ReferenceOptions, Visitor};

    struct Last(Option<Array>);

    impl Visitor for Last {
        fn group(&mut self, _: &str, _: &Json) -> Result<()> {
            Ok(())
        }

        fn array(&mut self, array: Array) -> Result<()> {
            self.0 = Some(array);
            Ok(())
        }
    }

    /// Returns the array of a virtual dataset of very many elements with one source.
    fn array_of(file: &str, dataset: &str) -> Result<Option<Array>> {
        let virtual_file = FileOptions::new().create_in_memory()?;
        let rows = Selection::region(&Region::new(&[0, 0], &[1, 1_000_000])?);
        let mapping = VirtualMapping {
            file: file.into(),
            dataset: dataset.into(),
            selection: rows,
            source_selection: Selection::All,
        };
        let new = virtual_file.new_dataset("x").of::<f64>().shape(&[1_000_000, 1_000_000]);
        new.fill(2.5).virtual_sources(&[mapping]).create()?;
        virtual_file.flush()?;
        let mut last = Last(None);
        let open = |name: &str| match name {
            "there.h5" => FileOptions::new().create_in_memory(),
            _ => File::open("does/not/exist.h5"),
        };
        let options = ReferenceOptions::new("a.h5").open_others(open);
        options.visit(virtual_file.root(), &mut last)?;
        Ok(last.0)
    }

    #[test]
    fn elements_of_missing_sources_have_the_fill_value() {
        for (file, dataset) in [("missing.h5", "x"), ("there.h5", "missing")] {
            let array = array_of(file, dataset).unwrap().unwrap();
            assert_eq!((array.chunks.len(), array.fill_value), (0, Json::Float(2.5)), "{file}");
        }
        assert!(array_of("missing-%b.h5", "x").is_err());
    }
}
