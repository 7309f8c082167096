//! Elements of datatypes that are known only at run time: bytes, dynamic values, references.

use std::sync::Arc;

use hyperslab_engine::ops::elements::{WriteSource, leaves_parts};
use hyperslab_engine::{Error, Result};
#[cfg(feature = "ndarray")]
use ndarray::{Array, Dimension};

use super::Dataset;
use super::elements::Elements;
#[cfg(feature = "ndarray")]
use crate::Reference;
use crate::datatype::convert::{Conversions, VariableSource};
use crate::dynamic::DynArray;
use crate::{Datatype, IntoSelection, Selected, Value, conversion};

impl Dataset {
    /// Returns a handle of the same dataset with other datatype conversions from the file to
    /// memory. For instance, a conversion may return an error for each value that the type in
    /// memory cannot represent. The conversions apply to all reads into Rust types.
    ///
    /// By default hyperslab converts as libhdf5 does, but two cases are errors: an enumeration
    /// value whose name `T` lacks, and text that is not UTF-8. The position in a
    /// conversion error counts from the first element of the batch that was converted, which is not
    /// always the first element of the dataset.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use hyperslab::File;
    /// use hyperslab::datatype::convert::{Conversions, Exceptions};
    /// let temperature = File::open(path)?.dataset("series/temperature")?;
    /// assert!(temperature.read_raw::<i8>(..).is_ok());
    /// let strict = Conversions::default().with_exceptions(Exceptions::error());
    /// let error = temperature.with_conversions(strict).read_raw::<i8>(..).unwrap_err();
    /// println!("{error}"); // A temperature that is not a whole number.
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn with_conversions(&self, conversions: Conversions) -> Self {
        let conversions = conversion::with_heap(conversions, self.object.file());
        Self { conversions: Arc::new(conversions), ..self.clone() }
    }

    /// Reads the selected elements of the dataset into the caller's buffer `bytes`, as elements of
    /// the datatype `memory`.
    ///
    /// This datatype need not correspond to a Rust type. The conversion does not change padding of
    /// compounds in the buffer, nor members that the file does not have.
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
    /// Returns the errors of [`read_into`](Self::read_into), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if `bytes` has another length than the
    /// selected elements need.
    pub fn read_bytes(
        &self,
        selection: impl IntoSelection,
        memory: &Datatype,
        bytes: &mut [u8],
    ) -> Result<()> {
        let wanted = self.prepare(selection, 0).map_err(|error| self.context(error))?;
        let count = wanted.count;
        if count.checked_mul(memory.size as usize) != Some(bytes.len()) {
            let message = format!("{count} elements of {memory} do not have {} bytes", bytes.len());
            return Err(self.context(Error::Misuse(message)));
        }
        let plan = |conversions: &Conversions| conversions.plan(self.datatype(), memory);
        let elements = Elements::new(self, wanted, plan).map_err(|error| self.context(error))?;
        elements.put(bytes, false).map_err(|error| self.context(error))
    }

    /// Reads the selected elements of a dataset of any datatype as an array of dynamic values.
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
    /// Returns the errors of [`read_stored`](Self::read_stored), and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if elements refer to heap data that does
    /// not exist.
    pub fn read_dyn(&self, selection: impl IntoSelection) -> Result<DynArray> {
        let (shape, stored) = self.read_shaped(selection)?;
        Ok(DynArray::new(shape, stored.column().map_err(|error| self.context(error))?))
    }

    /// Reads the element of the dataset at `coordinates` as a dynamic value, whatever the datatype
    /// is.
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
    /// Returns the errors of [`read_dyn`](Self::read_dyn), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no element at
    /// `coordinates`.
    pub fn read_value(&self, coordinates: &[u64]) -> Result<Value> {
        let region = crate::Region::new(coordinates, &vec![1; coordinates.len()])?;
        let column = self.read_stored(&region)?.column().map_err(|error| self.context(error))?;
        column.get(0).ok_or_else(|| self.context(Error::Misuse("the dataset has no elements".into())))
    }

    /// Reads the selected elements of the dataset as references. For the dimension type `D` see
    /// [`read`](Self::read).
    ///
    /// ```
    /// use hyperslab::IxDyn;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/references_latest.h5");
    /// # let file = hyperslab::File::open(path)?;
    /// for reference in file.dataset("objects")?.read_references::<IxDyn>(..)? {
    ///     if !reference.is_null() {
    ///         println!("{:?}", reference.object()?);
    ///     }
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not references
    /// or the selection has another number of dimensions than `D`, and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if an element refers to heap data that
    /// does not exist.
    #[cfg(feature = "ndarray")]
    pub fn read_references<D: Dimension>(
        &self,
        selection: impl IntoSelection,
    ) -> Result<Array<Reference, D>> {
        let (shape, stored) = self.read_shaped(selection)?;
        self.shaped(&shape, stored.references())
    }

    /// Writes bytes of elements of the datatype `memory` to the selected elements of the dataset.
    /// Members of a compound that `memory` lacks keep their values.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// use hyperslab::{Datatype, datatype::ByteOrder::BigEndian};
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[2]).create()?;
    /// dataset.write_bytes(.., &Datatype::u16(BigEndian), &[0, 1, 0, 2])?;
    /// assert_eq!(dataset.read_raw::<i32>(..)?, [1, 2]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub fn write_bytes(&self, selection: impl IntoSelection, memory: &Datatype, bytes: &[u8]) -> Result<()> {
        self.write_converted(&self.resolve(selection)?, memory, bytes)
    }

    /// Writes bytes of elements of the datatype `memory` to the selected elements of the dataset.
    /// `heap` contains the variable-length data of the elements in memory.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// use std::sync::Arc;
    /// use hyperslab::datatype::convert::{VariableArena, VariableSink};
    /// use hyperslab::{CharacterSet, Datatype, Ix1};
    /// let names = file.new_dataset("names").write_strings(&["", ""])?;
    /// let (arena, mut bytes) = (VariableArena::default(), vec![0; 32]);
    /// for (descriptor, text) in bytes.chunks_exact_mut(16).zip(["one", "three"]) {
    ///     arena.store(text.as_bytes(), text.len(), descriptor)?;
    /// }
    /// let memory = Datatype::variable_string(CharacterSet::Utf8, 8);
    /// names.write_bytes_from(.., &memory, &bytes, Arc::new(arena))?;
    /// assert_eq!(names.read_strings::<Ix1>(..)?[1], "three");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write) and of the heap.
    pub fn write_bytes_from(
        &self,
        selection: impl IntoSelection,
        memory: &Datatype,
        bytes: &[u8],
        heap: Arc<dyn VariableSource>,
    ) -> Result<()> {
        let selected = self.resolve(selection)?;
        if self.datatype().is_variable_length() {
            return self.write_variable_length(&selected, memory, bytes, Some(heap));
        }
        let conversions = Conversions::clone(&self.conversions).with_source_heap(heap);
        self.write_planned(&selected, &conversions, memory, bytes)
    }

    /// Writes bytes of elements of the datatype `memory` to the selected elements of the dataset,
    /// after conversion to the dataset's datatype.
    pub(super) fn write_converted(
        &self,
        selected: &Selected<'_>,
        memory: &Datatype,
        bytes: &[u8],
    ) -> Result<()> {
        if self.datatype().is_variable_length() {
            return self.write_variable_length(selected, memory, bytes, None);
        }
        self.write_planned(selected, &self.conversions, memory, bytes)
    }

    /// Writes bytes of elements of the datatype `memory`, without variable-length data in the file,
    /// to the selected elements of the dataset. `conversions` converts the elements.
    fn write_planned(
        &self,
        selected: &Selected<'_>,
        conversions: &Conversions,
        memory: &Datatype,
        bytes: &[u8],
    ) -> Result<()> {
        let plan = conversions.plan(memory, self.datatype());
        let plan = plan.map_err(|error| self.context(error.into()))?;
        let bytes =
            selected.packed_bytes(bytes, memory.size as usize).map_err(|error| self.context(error))?;
        let from = WriteSource::converted(&bytes, &plan).partial(leaves_parts(memory, self.datatype()));
        self.write_from(selected, &from)
    }
}
