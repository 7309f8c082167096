//! Reading groups of compressed rows and columns, block by block.

use anyhow::{Context as _, Result, bail};
use hyperslab::{Attribute, Dataset, Datatype, Group, IxDyn, ObjectKind, Region};

use crate::entries::{Column, Compressed, Compression, Element, Indices, Source};

/// The name of the dataset with the shape, if no attribute has the shape.
const SHAPE: &str = "shape";

/// Returns true if a group has the members of a matrix.
pub(crate) fn is_matrix(group: &Group) -> Result<bool> {
    for name in ["data", "indices", "indptr"] {
        if !group.link_exists(name)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Opens the matrix in a group.
pub(crate) fn open(group: &Group) -> Result<Box<dyn Source>> {
    let (compression, shape) = described(group)?;
    let data = line(group, "data")?;
    let element = Element::of(data.datatype()).context("`data`")?;
    let columns = (indices(group, "indptr")?, indices(group, "indices")?);
    let data: Box<dyn Column> = Box::new(DatasetColumn::new(data, element.datatype()));
    Ok(Box::new(Compressed::new(shape, element, compression, (columns.0, columns.1, data))?))
}

/// Returns the kind of compression and the shape of the matrix.
fn described(group: &Group) -> Result<(Compression, [u64; 2])> {
    if let Some(encoding) = attribute(group, "encoding-type")? {
        let compression = match text(&encoding)?.as_str() {
            "csr_matrix" => Compression::Rows,
            "csc_matrix" => Compression::Columns,
            other => bail!("the encoding `{other}` is neither csr_matrix nor csc_matrix"),
        };
        return Ok((compression, shape_attribute(group, "shape")?));
    }
    if let Some(format) = attribute(group, "h5sparse_format")? {
        let compression = match text(&format)?.as_str() {
            "csr" => Compression::Rows,
            "csc" => Compression::Columns,
            other => bail!("the format `{other}` is neither csr nor csc"),
        };
        return Ok((compression, shape_attribute(group, "h5sparse_shape")?));
    }
    // 10x counts features along the first dimension and barcodes, which are compressed, along the second.
    if group.link_exists(SHAPE)? && group.link_exists("barcodes")? {
        let shape = group.dataset(SHAPE)?;
        if shape.dataspace().dims() != [2] {
            bail!("`shape` does not have the two sizes of a matrix");
        }
        Indices::check_type(SHAPE, shape.datatype())?;
        return Ok((Compression::Columns, sizes(&shape.read_raw::<i64>(..)?)?));
    }
    bail!(
        "the group has neither an attribute `encoding-type` or `h5sparse_format`, nor the members `barcodes` and `shape`, \
         and so does not say whether rows or columns are compressed"
    )
}

fn attribute(group: &Group, name: &str) -> Result<Option<Attribute>> {
    Ok(group.attributes()?.into_iter().find(|attribute| attribute.name() == name))
}

fn text(attribute: &Attribute) -> Result<String> {
    let text = attribute.read_string();
    text.with_context(|| format!("the attribute `{}` is no text", attribute.name()))
}

fn shape_attribute(group: &Group, name: &str) -> Result<[u64; 2]> {
    let attribute = attribute(group, name)?.with_context(|| format!("the attribute `{name}` is missing"))?;
    let of_two = attribute.dataspace()?.dims() == [2];
    if !of_two {
        bail!("the attribute `{name}` does not have the two sizes of a matrix");
    }
    Indices::check_type(name, &attribute.datatype()?)?;
    sizes(&attribute.read::<i64, IxDyn>()?.into_raw_vec_and_offset().0)
}

fn sizes(read: &[i64]) -> Result<[u64; 2]> {
    let [rows, columns] = read else { bail!("the shape does not have two sizes") };
    let size = |size: i64| u64::try_from(size).ok().with_context(|| format!("a size of {size}"));
    Ok([size(*rows)?, size(*columns)?])
}

/// A dataset of one dimension.
fn line(group: &Group, name: &str) -> Result<Dataset> {
    let object = group.object(name)?;
    if object.kind() != Some(ObjectKind::Dataset) {
        bail!("`{name}` is no dataset");
    }
    let dataset = object.into_dataset()?;
    let rank = dataset.dataspace().dims().len();
    if rank != 1 {
        bail!("`{name}` has {rank} dimensions, where one is expected");
    }
    Ok(dataset)
}

fn indices(group: &Group, name: &'static str) -> Result<Indices> {
    let dataset = line(group, name)?;
    Indices::check_type(name, dataset.datatype())?;
    Ok(Indices::new(name, Box::new(DatasetColumn::new(dataset, Indices::datatype()))))
}

/// The elements of a dataset of one dimension.
struct DatasetColumn {
    dataset: Dataset,
    memory: Datatype,
    len: u64,
    at: u64,
}

impl DatasetColumn {
    fn new(dataset: Dataset, memory: Datatype) -> Self {
        let len = dataset.dataspace().dims().first().copied().unwrap_or(0);
        Self { dataset, memory, len, at: 0 }
    }
}

impl Column for DatasetColumn {
    fn len(&self) -> u64 {
        self.len
    }

    fn next(&mut self, count: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let end = self.at.checked_add(count as u64).filter(|end| *end <= self.len);
        let end = end.with_context(|| format!("there are no {count} more elements"))?;
        if count == 0 {
            return Ok(());
        }
        bytes.resize(count.saturating_mul(self.memory.size as usize), 0);
        let region = Region::new(&[self.at], &[count as u64])?;
        self.dataset.read_bytes(&region, &self.memory, bytes)?;
        self.at = end;
        Ok(())
    }
}
