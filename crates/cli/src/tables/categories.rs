//! The categories of table columns in the formats of older versions of AnnData. The format of
//! AnnData 0.8 and later, a group for each column, is in `source.rs`.
//!
//! | version | columns | categories of the column `kind` of `obs` |
//! |---|---|---|
//! | 0.7 | datasets of a group | `obs/__categories/kind`, to which an attribute of the column refers |
//! | 0.6 | members of a compound | `uns/kind_categories` |

use anyhow::{Context as _, Result, bail};
use arrow_array::ArrayRef;
use hyperslab::datatype::DatatypeClass;
use hyperslab::{Column, Dataset, File, ObjectKind, Reference, ReferenceTarget, Selection};

use super::arrays::array;
use crate::values::paths::Paths;

/// The group that contains the categories of a data frame in files of AnnData 0.7.
pub(super) const GROUP: &str = "__categories";

/// The attribute of an AnnData column that refers to the dataset of the column's categories.
const ATTRIBUTE: &str = "categories";

/// The names of the datasets that are data frames in AnnData 0.6.
const FRAMES: [&str; 2] = ["obs", "var"];

/// Returns the categories to which an attribute of an AnnData column refers. Returns `None` without
/// such an attribute.
pub(super) fn of_column(file: &File, column: &Dataset, paths: &Paths) -> Result<Option<ArrayRef>> {
    let found = column.attributes()?.into_iter().find(|attribute| attribute.name() == ATTRIBUTE);
    let Some(attribute) = found else { return Ok(None) };
    let Column::Reference(targets) = attribute.read_stored()?.column()? else {
        bail!("the attribute `{ATTRIBUTE}` is not a reference to the categories");
    };
    let target = targets.first().map(Reference::target);
    let Some(ReferenceTarget::Object(token)) = target else {
        bail!("the attribute `{ATTRIBUTE}` does not refer to the categories");
    };
    let categories = file.object_at(*token).context("the categories")?.into_dataset()?;
    read(&categories, paths).map(Some)
}

/// Returns the categories of the members of a data frame of AnnData 0.6, with the names of the
/// members. Other datasets have none.
pub(super) fn of_records(file: &File, frame: &Dataset, paths: &Paths) -> Result<Vec<(String, ArrayRef)>> {
    let DatatypeClass::Compound(compound) = &frame.datatype().class else { return Ok(Vec::new()) };
    if !FRAMES.contains(&frame.name().trim_start_matches('/')) || !file.link_exists("uns")? {
        return Ok(Vec::new());
    }
    let Ok(uns) = file.object("uns")?.into_group() else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for member in &compound.members {
        let is_integer = matches!(&member.datatype.class, DatatypeClass::FixedPoint(_));
        let name = String::from_utf8_lossy(&member.name).into_owned();
        let categories = format!("{name}_categories");
        if !is_integer || !uns.link_exists(&categories)? {
            continue;
        }
        let object = uns.object(&categories)?;
        if object.kind() == Some(ObjectKind::Dataset) {
            let categories = read(&object.into_dataset()?, paths).with_context(|| format!("`{name}`"))?;
            found.push((name, categories));
        }
    }
    Ok(found)
}

fn read(categories: &Dataset, paths: &Paths) -> Result<ArrayRef> {
    array(categories.read_stored(Selection::All)?.column()?, paths)
}
