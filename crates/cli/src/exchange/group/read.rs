//! The reader of sparse matrices in groups: compressed rows and columns.

use anyhow::{Context as _, Result, bail};
use hyperslab::{Attribute, Dataset, Datatype, Group, ObjectKind, Region};
use hyperslab_exact::{product, sum, to_u64, to_usize};

use crate::entries::{Column, Compressed, Compression, Element, Indices, Source};

/// The name of the dataset that contains the matrix shape in files of 10x Genomics.
const SHAPE: &str = "shape";

/// Returns true if a group has the members of a compressed sparse matrix.
pub(crate) fn is_matrix(group: &Group) -> Result<bool> {
    for name in ["data", "indices", "indptr"] {
        if !group.link_exists(name)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Opens the sparse matrix in a group as a source of entries.
pub(crate) fn open(group: &Group) -> Result<Box<dyn Source>> {
    let (compression, shape) = described(group)?;
    let data = line(group, "data")?;
    let element = Element::of(data.datatype()).context("`data`")?;
    let columns = (indices(group, "indptr")?, indices(group, "indices")?);
    let data: Box<dyn Column> = Box::new(DatasetColumn::new(data, element.datatype()));
    Ok(Box::new(Compressed::new(shape, element, compression, (columns.0, columns.1, data))?))
}

/// Returns the compression direction and the matrix shape according to the attributes and members
/// of the group.
fn described(group: &Group) -> Result<(Compression, [u64; 2])> {
    if let Some(encoding) = attribute(group, "encoding-type")? {
        let compression = match text(&encoding)?.as_str() {
            "csr_matrix" => Compression::Rows,
            "csc_matrix" => Compression::Columns,
            other => bail!("the encoding `{other}` of the group is neither csr_matrix nor csc_matrix"),
        };
        return Ok((compression, shape_attribute(group, "shape")?));
    }
    if let Some(format) = attribute(group, "h5sparse_format")? {
        let compression = match text(&format)?.as_str() {
            "csr" => Compression::Rows,
            "csc" => Compression::Columns,
            other => bail!("the matrix format `{other}` of the group is neither csr nor csc"),
        };
        return Ok((compression, shape_attribute(group, "h5sparse_shape")?));
    }
    // In files of 10x, rows are features and columns are barcodes. The columns are compressed.
    if group.link_exists(SHAPE)? && group.link_exists("barcodes")? {
        let shape = group.dataset(SHAPE)?;
        if shape.dataspace().dims() != [2] {
            bail!("the member `shape` does not have the two sizes of a matrix");
        }
        Indices::check_type(SHAPE, shape.datatype())?;
        return Ok((Compression::Columns, sizes(&shape.read_raw::<i64>(..)?)?));
    }
    bail!(
        "the group has neither an attribute `encoding-type` or `h5sparse_format`, nor the members `barcodes` and `shape`, \
         so it is unknown whether rows or columns are compressed"
    )
}

fn attribute(group: &Group, name: &str) -> Result<Option<Attribute>> {
    Ok(group.attributes()?.into_iter().find(|attribute| attribute.name() == name))
}

fn text(attribute: &Attribute) -> Result<String> {
    let text = attribute.read_string();
    text.with_context(|| format!("the attribute `{}` is not text", attribute.name()))
}

fn shape_attribute(group: &Group, name: &str) -> Result<[u64; 2]> {
    let attribute = attribute(group, name)?.with_context(|| format!("the attribute `{name}` is missing"))?;
    let of_two = attribute.dataspace()?.dims() == [2];
    if !of_two {
        bail!("the attribute `{name}` does not have the two sizes of a matrix");
    }
    Indices::check_type(name, &attribute.datatype()?)?;
    sizes(&attribute.read_stored()?.convert::<i64>()?)
}

fn sizes(read: &[i64]) -> Result<[u64; 2]> {
    let [rows, columns] = read else { bail!("the shape of the matrix does not have two sizes") };
    let size = |size: i64| {
        u64::try_from(size).ok().with_context(|| format!("the size {size} of a dimension is negative"))
    };
    Ok([size(*rows)?, size(*columns)?])
}

/// Opens a member of the matrix group as a one-dimensional dataset.
fn line(group: &Group, name: &str) -> Result<Dataset> {
    let object = group.object(name)?;
    if object.kind() != Some(ObjectKind::Dataset) {
        bail!("the member `{name}` of the matrix group is not a dataset");
    }
    let dataset = object.into_dataset()?;
    let rank = dataset.dataspace().dims().len();
    if rank != 1 {
        bail!("the dataset `{name}` has {rank} dimensions instead of one");
    }
    Ok(dataset)
}

fn indices(group: &Group, name: &'static str) -> Result<Indices> {
    let dataset = line(group, name)?;
    Indices::check_type(name, dataset.datatype())?;
    Ok(Indices::new(name, Box::new(DatasetColumn::new(dataset, Indices::datatype()))))
}

/// A column of the elements of a one-dimensional dataset.
struct DatasetColumn {
    dataset: Dataset,
    memory: Datatype,
    len: u64,
    at: u64,
}

impl DatasetColumn {
    fn new(dataset: Dataset, memory: Datatype) -> Self {
        // `line` has checked that there is one dimension.
        let len = dataset.dataspace().dims().iter().product();
        Self { dataset, memory, len, at: 0 }
    }
}

impl Column for DatasetColumn {
    fn len(&self) -> u64 {
        self.len
    }

    fn next(&mut self, count: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let end = sum("end of the elements", [self.at, to_u64(count)])?;
        if end > self.len {
            bail!("the dataset has fewer than {count} elements after those that were read");
        }
        if count == 0 {
            return Ok(());
        }
        let size = product("size of the elements", [to_u64(count), u64::from(self.memory.size)])?;
        bytes.resize(to_usize(size)?, 0);
        let region = Region::new(&[self.at], &[to_u64(count)])?;
        self.dataset.read_bytes(&region, &self.memory, bytes)?;
        self.at = end;
        Ok(())
    }
}
