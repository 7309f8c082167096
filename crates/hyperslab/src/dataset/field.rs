//! Reading and writing one member of compounds.

use hyperslab_engine::{Error, Result};
use ndarray::ArrayD;

use super::{Dataset, array};
use crate::datatype::Member;
use crate::{Datatype, H5Type, Selection};

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

    /// Writes one member of all elements of a compound datatype. The other members keep their values. Dots separate the
    /// names of nested members.
    ///
    /// ```
    /// use hyperslab::{Datatype, H5Type};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let point = Datatype::packed([("x", f64::datatype()), ("y", f64::datatype())]);
    /// let points = file.new_dataset("points").datatype(point).shape(&[3]).create()?;
    /// points.write_field("y", &[1.0, 2.0, 3.0])?;
    /// points.write_field("x", &[7_u8; 3])?;
    /// assert_eq!(points.read_field::<f64>("y")?.as_slice(), Some(&[1.0, 2.0, 3.0][..]));
    /// assert_eq!(points.read_field::<f64>("x")?.as_slice(), Some(&[7.0; 3][..]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`write_raw`](Self::write_raw), and [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements have
    /// no such member.
    pub fn write_field<T: H5Type>(&self, path: &str, elements: &[T]) -> Result<()> {
        self.write_field_selection(path, &Selection::All, elements)
    }

    /// Writes one member of the selected elements; see [`write_field`](Self::write_field).
    ///
    /// # Errors
    /// The errors of [`write_field`](Self::write_field) and [`write_selection`](Self::write_selection).
    pub fn write_field_selection<T: H5Type>(
        &self,
        path: &str,
        selection: &Selection,
        elements: &[T],
    ) -> Result<()> {
        self.check_member(path)?;
        let memory = path.rsplit('.').fold(T::datatype(), |datatype, name| {
            let member = Member { name: name.as_bytes().to_vec(), offset: 0, datatype };
            Datatype::compound(member.datatype.size, vec![member])
        });
        self.write_bytes(selection, &memory, &T::to_bytes(elements))
    }
}
