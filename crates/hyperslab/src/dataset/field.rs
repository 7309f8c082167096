//! Reading one member of compounds.

use hyperslab_engine::{Error, Result};
use ndarray::ArrayD;

use super::{Dataset, array};
use crate::{H5Type, Selection};

impl Dataset {
    /// One member of all elements, which are compounds, as an array of the dataset's shape. Members inside members
    /// are named with dots between. Other members are not converted.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/datatypes_compound_latest.h5");
    /// let dataset = hyperslab::File::open(path)?.dataset("nested")?;
    /// let ids = dataset.read_field::<u32>("id")?;
    /// assert_eq!(ids.as_slice(), Some(&[1, 2, 3][..]));
    /// let x = dataset.read_field::<f64>("point.x")?;
    /// assert_eq!(x.as_slice(), Some(&[0.5, 1.5, 2.5][..]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the elements have no such member, and as [`read`](Self::read).
    pub fn read_field<T: H5Type>(&self, path: &str) -> Result<ArrayD<T>> {
        array(self.shape()?, self.read_field_selection(path, &Selection::All)?)
    }

    /// As [`read_field`](Self::read_field), of the selected elements in the order of the selection.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/datatypes_compound_latest.h5");
    /// use hyperslab::{File, Region, Selection};
    /// let dataset = File::open(path)?.dataset("nested")?;
    /// let last = Selection::region(&Region::new(&[1], &[2]).map_err(hyperslab::Error::from)?);
    /// assert_eq!(dataset.read_field_selection::<[[i64; 3]; 2]>("grid", &last)?.len(), 2);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_field`](Self::read_field), and if the selection reaches out of the dataset.
    pub fn read_field_selection<T: H5Type>(&self, path: &str, selection: &Selection) -> Result<Vec<T>> {
        self.check_member(path)?;
        self.read_planned(selection, |conversions| {
            conversions.plan_member(self.datatype(), path, &T::datatype())
        })
    }

    /// As [`read_field_selection`](Self::read_field_selection), into a slice of as many elements as are selected.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/datatypes_compound_latest.h5");
    /// use hyperslab::{File, Selection};
    /// let dataset = File::open(path)?.dataset("nested")?;
    /// let mut ids = [0_u8; 3];
    /// dataset.read_field_into("id", &Selection::All, &mut ids)?;
    /// assert_eq!(ids, [1, 2, 3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_field_selection`](Self::read_field_selection), and if the slice has another length.
    pub fn read_field_into<T: H5Type>(
        &self,
        path: &str,
        selection: &Selection,
        values: &mut [T],
    ) -> Result<()> {
        self.check_member(path)?;
        self.read_planned_into(selection, values, |conversions| {
            conversions.plan_member(self.datatype(), path, &T::datatype())
        })
    }

    pub(super) fn check_member(&self, path: &str) -> Result<()> {
        if self.datatype().member_at(path).is_none() {
            let message = format!("elements of type {} have no member `{path}`", self.datatype());
            return Err(self.context(Error::Misuse(message)));
        }
        Ok(())
    }

    /// The names of the members of the elements; none if they are no compounds. Bytes that are not UTF-8 are
    /// replaced.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/datatypes_compound_latest.h5");
    /// let dataset = hyperslab::File::open(path)?.dataset("padded")?;
    /// assert_eq!(dataset.member_names(), ["a", "b", "c"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn member_names(&self) -> Vec<String> {
        match &self.datatype().class {
            crate::DatatypeClass::Compound(compound) => {
                let names = compound.members.iter().map(|member| String::from_utf8_lossy(&member.name));
                names.map(std::borrow::Cow::into_owned).collect()
            }
            _ => Vec::new(),
        }
    }
}
