//! Writing variable-length data and references: strings, sequences, dynamic values.

use std::sync::Arc;

use hyperslab_engine::ops::elements::WriteSource;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::to_u64;

use super::Dataset;
use crate::datatype::convert::{VariableArena, VariableSink as _, VariableSource};
use crate::dynamic::{DESCRIPTOR_BYTES, Encoder};
use crate::{Datatype, DatatypeClass, H5Type, IntoSelection, ReferenceTarget, Selected, Value};

impl Dataset {
    /// Writes texts to the selected elements of a dataset of strings of fixed or variable length.
    ///
    /// ```
    /// use hyperslab::Ix1;
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let names = file.new_dataset("names").write_strings(&["one", "", "three"])?;
    /// assert_eq!(names.read_strings::<Ix1>(..)?.to_vec(), ["one", "", "three"]);
    /// names.write_strings(.., &["a", "longer than before", "c"])?;
    /// assert_eq!(names.read_strings::<Ix1>(..)?[1], "longer than before");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not strings, if
    /// the number of texts is not the number of selected elements, or if a text is longer than a
    /// string of fixed length. Returns the errors of [`write`](Self::write).
    pub fn write_strings<S: AsRef<str>>(&self, selection: impl IntoSelection, texts: &[S]) -> Result<()> {
        let selection = &self.resolve(selection)?;
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_ref().as_bytes()).collect();
        let texts = selection.packed(&texts).map_err(|error| self.context(error))?;
        match &self.datatype().class {
            DatatypeClass::String(_) => {
                let bytes = fixed_texts(self.datatype().size as usize, &texts);
                let bytes = bytes.map_err(|error| self.context(error))?;
                self.write_from(selection, &WriteSource::stored(&bytes, self.datatype().size as usize))
            }
            DatatypeClass::VariableLength(_) if self.datatype().is_variable_string() => {
                self.check_count(selection, texts.len())?;
                if self.is_structured() {
                    let contents = self.text_elements(&texts)?;
                    return self.write_from(selection, &contents.write_source());
                }
                let file = self.object.file();
                self.replace_variable_length(selection, |edit| file.store_texts(edit, &texts))
            }
            _ => {
                Err(self
                    .context(Error::Misuse(format!("the elements are not strings but {}", self.datatype()))))
            }
        }
    }

    /// Writes vectors or slices to the selected elements of a dataset of variable-length sequences.
    ///
    /// ```
    /// use hyperslab::{Datatype, H5Type, Ix1};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").datatype(Datatype::sequence(i32::datatype(), 8)).shape(&[2]).create()?;
    /// dataset.write_sequences(.., &[vec![1_i64, 2, 3], vec![]])?;
    /// assert_eq!(dataset.read_sequences::<i32, Ix1>(..)?.to_vec(), [vec![1, 2, 3], vec![]]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not sequences or
    /// there is no conversion from `T` to the items. Returns the errors of [`write`](Self::write).
    pub fn write_sequences<T: H5Type, S: AsRef<[T]>>(
        &self,
        selection: impl IntoSelection,
        sequences: &[S],
    ) -> Result<()> {
        let selection = self.resolve(selection)?;
        let arena = VariableArena::default();
        let bytes = self.sequence_descriptors(sequences, &arena)?;
        let memory = Datatype::sequence(T::datatype(), 8);
        self.write_variable_length(&selection, &memory, &bytes, Some(Arc::new(arena)))
    }

    /// Stores variable-length sequences in the heap `arena` in memory. Returns the descriptors of
    /// the sequences, which refer to their data in the heap.
    pub(crate) fn sequence_descriptors<T: H5Type, S: AsRef<[T]>>(
        &self,
        sequences: &[S],
        arena: &VariableArena,
    ) -> Result<Vec<u8>> {
        let bytes = zeroed_elements(sequences.len(), DESCRIPTOR_BYTES);
        let mut bytes = bytes.map_err(|error| self.context(error))?;
        for (sequence, descriptor) in sequences.iter().zip(bytes.chunks_exact_mut(DESCRIPTOR_BYTES)) {
            let items = sequence.as_ref();
            arena
                .store(&T::to_bytes(items), items.len(), descriptor)
                .map_err(|error| self.context(error.into()))?;
        }
        Ok(bytes)
    }

    /// Writes dynamic values of any datatype to the selected elements of the dataset: compounds
    /// with members of variable length, sequences of such compounds, arrays. Members of a compound
    /// are matched by name.
    ///
    /// ```
    /// use hyperslab::{CharacterSet, Datatype, Value, datatype::ByteOrder::LittleEndian};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let run = Datatype::packed([
    ///     ("name", Datatype::variable_string(CharacterSet::Utf8, 8)),
    ///     ("counts", Datatype::sequence(Datatype::u16(LittleEndian), 8)),
    /// ]);
    /// let runs = file.new_dataset("runs").datatype(run).shape(&[1]).create()?;
    /// let counts = Value::Sequence(vec![Value::Integer(3), Value::Integer(4)]);
    /// let record = Value::Compound(vec![("name".into(), Value::Text("first".into())), ("counts".into(), counts)]);
    /// runs.write_values(.., &[record.clone()])?;
    /// assert_eq!(runs.read_dyn(..)?.get(&[0]), Some(record));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if a value does not fit the datatype
    /// of the dataset, or if the number of values is not the number of selected elements. Returns
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for references and times. Returns
    /// the errors of [`write`](Self::write).
    pub fn write_values(&self, selection: impl IntoSelection, values: &[Value]) -> Result<()> {
        let selection = self.resolve(selection)?;
        let arena = VariableArena::default();
        let encoder = Encoder::new(self.datatype()).map_err(|error| self.context(error))?;
        let bytes = encoder.encode(values, &arena).map_err(|error| self.context(error))?;
        self.write_variable_length(&selection, encoder.memory(), &bytes, Some(Arc::new(arena)))
    }

    /// Writes references to the selected elements of a dataset of references. `targets` has one
    /// target for each selected element, in the order of the selection.
    ///
    /// ```
    /// use hyperslab::{Datatype, Ix1, IxDyn, ReferenceTarget, Region, Selection};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let values = file.new_dataset("values").write(&[1, 2, 3, 4])?;
    /// let links = file.new_dataset("links").datatype(Datatype::object_reference(8)).shape(&[2]).create()?;
    /// links.write_references(.., &[ReferenceTarget::object(&values), ReferenceTarget::Null])?;
    /// assert_eq!(links.read_references::<Ix1>(..)?[0].object()?.token(), values.token());
    /// let middle = Selection::region(&Region::new(&[1], &[2])?);
    /// let parts = file.new_dataset("parts").datatype(Datatype::region_reference(8)).shape(&[1]).create()?;
    /// parts.write_references(.., &[ReferenceTarget::Region(values.token(), middle)])?;
    /// let part = parts.read_references::<Ix1>(..)?[0].read::<i32, IxDyn>()?;
    /// assert_eq!(part.into_raw_vec_and_offset().0, [2, 3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the elements are not references,
    /// or if the kind of reference cannot have such a target. Returns the errors of
    /// [`write`](Self::write).
    pub fn write_references(&self, selection: impl IntoSelection, targets: &[ReferenceTarget]) -> Result<()> {
        let selection = &self.resolve(selection)?;
        let DatatypeClass::Reference(kind) = self.datatype().class else {
            let message = format!("the elements are not references but {}", self.datatype());
            return Err(self.context(Error::Misuse(message)));
        };
        let targets: Vec<&ReferenceTarget> = targets.iter().collect();
        let targets = selection.packed(&targets).map_err(|error| self.context(error))?;
        self.check_count(selection, targets.len())?;
        let (file, size) = (self.object.file(), self.datatype().size as usize);
        self.replace_variable_length(selection, |edit| {
            let mut elements = Vec::new();
            for target in &*targets {
                elements.extend(file.store_reference(
                    edit,
                    kind,
                    size,
                    &target.stored(&file.container.store)?,
                )?);
            }
            Ok(elements)
        })
    }

    /// Converts elements with variable-length data from the datatype `memory` to the dataset's
    /// datatype. Writes them to the selected elements, and frees the replaced variable-length data.
    pub(super) fn write_variable_length(
        &self,
        selection: &Selected<'_>,
        memory: &Datatype,
        bytes: &[u8],
        heap: Option<Arc<dyn VariableSource>>,
    ) -> Result<()> {
        let bytes = selection.packed_bytes(bytes, memory.size as usize);
        let bytes = &*bytes.map_err(|error| self.context(error))?;
        if self.is_structured() {
            let contents = self.converted_elements(memory, bytes, heap)?;
            return self.write_from(selection, &contents.write_source());
        }
        let file = self.object.file();
        let mut conversions = (*self.conversions).clone();
        if let Some(heap) = heap {
            conversions = conversions.with_source_heap(heap);
        }
        self.check_count(selection, bytes.len() / (memory.size as usize).max(1))?;
        self.replace_variable_length(selection, |edit| {
            file.store_converted(edit, &conversions, (memory, self.datatype()), bytes)
        })
    }

    /// Replaces the selected elements of the dataset, and frees the variable-length data of the old
    /// elements. `store` puts the new variable-length data into the file's heap and returns the new
    /// elements.
    fn replace_variable_length(
        &self,
        selection: &Selected<'_>,
        store: impl FnOnce(&mut hyperslab_engine::store::Edit<'_>) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let selection = self.written(selection)?;
        let (file, size) = (self.object.file(), self.datatype().size as usize);
        self.change(|edit| file.replace_variable_data(edit, self.write_to(), &selection, size, store))
    }

    /// Returns an error if the number of selected elements of the dataset, each counted once, is
    /// not `count`.
    fn check_count(&self, selection: &Selected<'_>, count: usize) -> Result<()> {
        let selected =
            self.dataspace().selected(selection.selection()).map_err(|error| self.context(error.into()))?;
        if selected == to_u64(count) {
            return Ok(());
        }
        Err(self.context(Error::Misuse(format!("{selected} elements are selected, but {count} are given"))))
    }
}

/// Returns a buffer of zero bytes for `count` elements of `size` bytes.
///
/// # Errors
/// Returns [`Error::Memory`] if the memory cannot be allocated.
pub(crate) fn zeroed_elements(count: usize, size: usize) -> Result<Vec<u8>> {
    const WHAT: &str = "elements to write";
    let length = count.checked_mul(size).ok_or(Error::Memory { subject: WHAT, bytes: u64::MAX })?;
    filled(length, 0, WHAT)
}

/// Returns a vector with `count` copies of `value`.
///
/// # Errors
/// Returns [`Error::Memory`] if the memory cannot be allocated.
pub(crate) fn filled<T: Clone>(count: usize, value: T, subject: &'static str) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let reserved = values.try_reserve_exact(count);
    reserved.map_err(|_| {
        // Saturates, because the size is only reported.
        let bytes = to_u64(count).saturating_mul(to_u64(size_of::<T>()));
        Error::Memory { subject, bytes }
    })?;
    values.resize(count, value);
    Ok(values)
}

/// Returns the bytes of texts as strings of fixed length, each of `size` bytes and padded with zero
/// bytes.
pub(crate) fn fixed_texts(size: usize, texts: &[&[u8]]) -> Result<Vec<u8>> {
    let mut bytes = zeroed_elements(texts.len(), size)?;
    for (text, element) in texts.iter().zip(bytes.chunks_exact_mut(size.max(1))) {
        let Some(to) = element.get_mut(..text.len()) else {
            let text = String::from_utf8_lossy(text);
            return Err(Error::Misuse(format!(
                "the text `{text}` is longer than the {size} bytes of a string element"
            )));
        };
        to.copy_from_slice(text);
    }
    Ok(bytes)
}
