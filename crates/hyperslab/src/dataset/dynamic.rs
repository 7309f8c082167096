//! Elements of datatypes that are known only at run time: bytes, dynamic values, references.

use std::sync::Arc;

use hyperslab_engine::ops::elements::{WriteSource, leaves_parts};
use hyperslab_engine::{Error, Result};
#[cfg(feature = "ndarray")]
use ndarray::ArrayD;

use super::Dataset;
#[cfg(feature = "ndarray")]
use super::array;
use super::elements::Elements;
#[cfg(feature = "ndarray")]
use crate::Reference;
use crate::datatype::convert::Conversions;
use crate::dynamic::DynArray;
use crate::{Datatype, IntoSelection, Selection, Value, conversion};

impl Dataset {
    /// The same dataset, read with other conversions: with exceptions as errors, or with rules of one's own. They
    /// hold for all reads of Rust types. By default values are converted as libhdf5 does it, but a value of an
    /// enumeration whose name `T` does not have is an error, and so are strings that do not become UTF-8. The
    /// position that such an error names counts from the first element that was converted together with it, which
    /// is not always the first one of the dataset.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::File;
    /// use hyperslab::datatype::convert::{Conversions, Exceptions};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// assert!(temperature.read_raw::<i8>(..).is_ok());
    /// let strict = Conversions::default().with_exceptions(Exceptions::error());
    /// let error = temperature.with_conversions(strict).read_raw::<i8>(..).unwrap_err();
    /// println!("{error}"); // A temperature that is no whole number.
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn with_conversions(&self, conversions: Conversions) -> Self {
        let conversions = conversion::with_heap(conversions, self.object.file());
        Self { conversions: Arc::new(conversions), ..self.clone() }
    }

    /// The selected elements as elements of any type in memory, which need not be one of Rust, into a buffer of
    /// just their bytes. What the conversion does not write (padding of compounds, members that the file does not
    /// have) stays as it was.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::datatype::ByteOrder;
    /// use hyperslab::{Datatype, File};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// let mut year = vec![0; 8760 * 4];
    /// temperature.read_bytes(.., &Datatype::f32(ByteOrder::BigEndian), &mut year)?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn read_bytes(
        &self,
        selection: impl IntoSelection,
        memory: &Datatype,
        bytes: &mut [u8],
    ) -> Result<()> {
        let wanted = self.prepare(selection, 0).map_err(|error| self.context(error))?;
        let count = wanted.count;
        if count.checked_mul(memory.size as usize) != Some(bytes.len()) {
            let message = format!("{count} elements of {memory} are selected for {} bytes", bytes.len());
            return Err(self.context(Error::Misuse(message)));
        }
        let plan = |conversions: &Conversions| conversions.plan(self.datatype(), memory);
        let elements = Elements::new(self, wanted, plan).map_err(|error| self.context(error))?;
        elements.put(bytes, false).map_err(|error| self.context(error))
    }

    /// Reads the selected elements, whatever their type.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/datatypes_compound_latest.h5");
    /// use hyperslab::{Column, File, Value};
    /// let rows = File::open(path)?.dataset("nested")?.read_dyn(..)?;
    /// let Some(Column::U16(ids)) = rows.column().member("id") else { panic!("no ids") };
    /// assert_eq!(ids, &[1, 2, 3]);
    /// let Some(Value::Compound(second)) = rows.get(&[1]) else { panic!("no row") };
    /// assert_eq!(second[2], ("tag".to_owned(), Value::Text("row1".to_owned())));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the elements cannot be read, or what they point at.
    pub fn read_dyn(&self, selection: impl IntoSelection) -> Result<DynArray> {
        let (shape, stored) = self.read_shaped(selection)?;
        Ok(DynArray::new(shape, stored.column().map_err(|error| self.context(error))?))
    }

    /// One element, whatever its type.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::{File, Value};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// assert!(matches!(temperature.read_value(&[700])?, Value::Float(_)));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_dyn`](Self::read_dyn), and if there is no element of these coordinates.
    pub fn read_value(&self, coordinates: &[u64]) -> Result<Value> {
        let region = crate::Region::new(coordinates, &vec![1; coordinates.len()])?;
        let column = self.read_stored(&region)?.column().map_err(|error| self.context(error))?;
        column.get(0).ok_or_else(|| self.context(Error::Misuse("the dataset has no elements".into())))
    }

    /// Reads the selected elements as references, to be followed.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/references_latest.h5");
    /// # let file = hyperslab::File::open(path)?;
    /// for reference in file.dataset("objects")?.read_references(..)? {
    ///     if !reference.is_null() {
    ///         println!("{:?}", reference.object()?);
    ///     }
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// If they are no references, or lead out of their heap.
    #[cfg(feature = "ndarray")]
    pub fn read_references(&self, selection: impl IntoSelection) -> Result<ArrayD<Reference>> {
        let (shape, stored) = self.read_shaped(selection)?;
        array(&shape, stored.references().map_err(|error| self.context(error))?)
    }

    /// Writes the selected elements from the bytes of elements of the datatype `memory`. Members that `memory` does not
    /// have keep their values.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    pub fn write_bytes(&self, selection: impl IntoSelection, memory: &Datatype, bytes: &[u8]) -> Result<()> {
        let selection = self.resolve(selection)?;
        self.write_converted(selection.selection(), memory, bytes)
    }

    /// Writes the selected elements from the bytes of elements of the datatype `memory`.
    pub(super) fn write_converted(
        &self,
        selection: &Selection,
        memory: &Datatype,
        bytes: &[u8],
    ) -> Result<()> {
        if self.datatype().is_variable_length() {
            return self.write_contents(selection, memory, bytes, None);
        }
        let plan = self.conversions.plan(memory, self.datatype());
        let plan = plan.map_err(|error| self.context(error.into()))?;
        let from = WriteSource::converted(bytes, &plan).partial(leaves_parts(memory, self.datatype()));
        self.write_from(selection, &from)
    }
}
