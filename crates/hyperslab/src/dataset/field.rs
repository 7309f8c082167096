//! Views of one member of compound elements.

use hyperslab_engine::{Error, Result};
#[cfg(feature = "ndarray")]
use ndarray::{Array, Dimension};

use super::data::{ArrayData, ArrayDataMut};
use super::{Dataset, Planned};
use crate::datatype::Member;
use crate::datatype::convert::Conversions;
use crate::{Datatype, H5Type, IntoSelection};

/// A view of one member of a dataset with compound elements; made by [`Dataset::field`].
///
/// Reads convert this member only. Writes keep the other members of an element.
///
/// ```
/// use hyperslab::{Datatype, H5Type, Ix1};
/// # let file = hyperslab::FileOptions::new().create_in_memory()?;
/// let point = Datatype::packed([("x", f64::datatype()), ("y", f64::datatype())]);
/// let points = file.new_dataset("points").datatype(point).shape(&[3]).create()?;
/// points.field("y")?.write(.., &[1.0, 2.0, 3.0])?;
/// points.field("x")?.write(1.., &[7_u8; 2])?;
/// assert_eq!(points.field("y")?.read::<f64, Ix1>(..)?, ndarray::arr1(&[1.0, 2.0, 3.0]));
/// assert_eq!(points.field("x")?.read_raw::<f64>(..2)?, [0.0, 7.0]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Field<'a> {
    dataset: &'a Dataset,
    path: String,
}

impl Dataset {
    /// Returns a view of one member of the dataset's compound elements. Dots separate the names of
    /// nested members.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/datatypes_compound_latest.h5");
    /// let dataset = hyperslab::File::open(path)?.dataset("nested")?;
    /// assert_eq!(dataset.field("id")?.read_raw::<u32>(..)?, [1, 2, 3]);
    /// assert_eq!(dataset.field("point.x")?.read_raw::<f64>(1..)?, [1.5, 2.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements have no such member.
    pub fn field(&self, path: &str) -> Result<Field<'_>> {
        if self.datatype().member_at(path).is_none() {
            let message = format!("elements of type {} have no member `{path}`", self.datatype());
            return Err(self.context(Error::Misuse(message)));
        }
        Ok(Field { dataset: self, path: path.to_owned() })
    }
}

impl Field<'_> {
    /// Returns the path of the compound member that the view shows: names separated by dots.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Reads one member of the selected compound elements into an array; see [`Dataset::read`].
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::read`].
    #[cfg(feature = "ndarray")]
    pub fn read<T: H5Type, D: Dimension>(&self, selection: impl IntoSelection) -> Result<Array<T, D>> {
        self.dataset.read_planned(selection, |conversions| self.plan(conversions, &T::datatype()))
    }

    /// Reads one member of the selected compound elements into a vector; see [`Dataset::read_raw`].
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::read_raw`].
    pub fn read_raw<T: H5Type>(&self, selection: impl IntoSelection) -> Result<Vec<T>> {
        self.dataset.read_raw_planned(selection, |conversions| self.plan(conversions, &T::datatype()))
    }

    /// Reads one member of the selected compound elements into memory of the caller; see
    /// [`Dataset::read_into`].
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/datatypes_compound_latest.h5");
    /// let dataset = hyperslab::File::open(path)?.dataset("nested")?;
    /// let mut ids = [0_u8; 3];
    /// dataset.field("id")?.read_into(.., &mut ids)?;
    /// assert_eq!(ids, [1, 2, 3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::read_into`].
    pub fn read_into<A: ArrayDataMut + ?Sized>(
        &self,
        selection: impl IntoSelection,
        values: &mut A,
    ) -> Result<()> {
        let memory = <A::Element as H5Type>::datatype();
        self.dataset.read_into_planned(selection, values, |conversions| self.plan(conversions, &memory))
    }

    fn plan(&self, conversions: &Conversions, memory: &Datatype) -> Planned {
        conversions.clone().with_every_member().plan_member(self.dataset.datatype(), &self.path, memory)
    }

    /// Writes an array to one member of the selected compound elements; see [`Dataset::write`].
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::write`].
    pub fn write<A: ArrayData + ?Sized>(&self, selection: impl IntoSelection, array: &A) -> Result<()> {
        let memory = self.path.rsplit('.').fold(<A::Element as H5Type>::datatype(), |datatype, name| {
            let member = Member { name: name.as_bytes().to_vec(), offset: 0, datatype };
            Datatype::compound(member.datatype.size, vec![member])
        });
        self.dataset.write_array(selection, array, &memory)
    }
}
