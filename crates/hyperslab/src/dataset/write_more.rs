//! Writing single members, elements from a part of an array, elements of a type known only when the program runs, text,
//! sequences, and chunks as they are stored; growing at the front.

use hyperslab_engine::ops::elements::{WriteSource, leaves_parts};
use hyperslab_engine::{Error, Result};

use super::Dataset;
use crate::datatype::Member;
use crate::datatype::convert::{VariableArena, VariableSink as _};
use crate::dynamic::Encoder;
use crate::{Datatype, DatatypeClass, H5Type, ReferenceTarget, Selection, Value};

impl Dataset {
    /// Writes one member of all elements, which are compounds; the others stay as they are. Members inside members are
    /// named with dots between.
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
    /// As [`write_raw`](Self::write_raw), and if elements have no such member.
    pub fn write_field<T: H5Type>(&self, path: &str, elements: &[T]) -> Result<()> {
        self.write_field_selection(path, &Selection::All, elements)
    }

    /// As [`write_field`](Self::write_field), of the selected elements.
    ///
    /// # Errors
    /// As [`write_field`](Self::write_field) and [`write_selection`](Self::write_selection).
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

    /// Writes the selected elements, given as the bytes of elements of the type `memory`, which need be known only when
    /// the program runs. Members of compounds that `memory` does not have stay as they are.
    ///
    /// # Errors
    /// As [`write_selection`](Self::write_selection).
    pub fn write_bytes(&self, selection: &Selection, memory: &Datatype, bytes: &[u8]) -> Result<()> {
        if self.datatype().is_variable_length() {
            return self.write_contents(selection, memory, bytes, None);
        }
        let plan = self.conversions.plan(memory, self.datatype());
        let plan = plan.map_err(|error| self.context(error.into()))?;
        let from = WriteSource::converted(bytes, &plan).partial(leaves_parts(memory, self.datatype()));
        self.write_from(selection, &from)
    }

    /// Writes elements that stand in the selected places of an array of the shape `dims` in C order to the selected
    /// elements of the dataset. The two selections have the same number of elements, which go in the order of each.
    ///
    /// ```
    /// use hyperslab::{Region, Selection};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[3]).create()?;
    /// // The middle column.
    /// let column = Selection::region(&Region::new(&[0, 1], &[3, 1]).map_err(hyperslab::Error::from)?);
    /// dataset.write_from_part(&Selection::All, &[1, 2, 3, 4, 5, 6, 7, 8, 9], &[3, 3], &column)?;
    /// assert_eq!(dataset.read_raw::<i32>()?, [2, 5, 8]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`write_selection`](Self::write_selection), and if `values` has another length than an array of that shape.
    pub fn write_from_part<T: H5Type>(
        &self,
        selection: &Selection,
        values: &[T],
        dims: &[u64],
        places: &Selection,
    ) -> Result<()> {
        let elements = dims.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
        if elements != Some(values.len() as u64) {
            let message = format!("a slice of {} for an array of the shape {dims:?}", values.len());
            return Err(self.context(Error::Misuse(message)));
        }
        let places = self.without_overlaps(places)?;
        let mut packed = Vec::new();
        for run in places.linear_runs(dims).map_err(|error| self.context(error.into()))? {
            let start = super::to_usize(run.offset)?;
            let part = values.get(start..).and_then(|rest| rest.get(..super::to_usize(run.length).ok()?));
            packed.extend_from_slice(part.unwrap_or_default());
        }
        self.write_selection(selection, &packed)
    }

    /// Writes text to all elements, which are strings of fixed or of variable length.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let names = file.new_dataset("names").write_strings(&["one", "", "three"])?;
    /// assert_eq!(names.read_strings()?.into_raw_vec_and_offset().0, ["one", "", "three"]);
    /// names.write_strings(&["a", "longer than before", "c"])?;
    /// assert_eq!(names.read_strings()?[1], "longer than before");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if elements are no strings, if there is another number of texts,
    /// or if one is longer than a string of fixed length; as [`write_raw`](Self::write_raw).
    pub fn write_strings<S: AsRef<str>>(&self, texts: &[S]) -> Result<()> {
        self.write_strings_selection(&Selection::All, texts)
    }

    /// As [`write_strings`](Self::write_strings), to the selected elements.
    ///
    /// # Errors
    /// As [`write_strings`](Self::write_strings) and [`write_selection`](Self::write_selection).
    pub fn write_strings_selection<S: AsRef<str>>(&self, selection: &Selection, texts: &[S]) -> Result<()> {
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_ref().as_bytes()).collect();
        match &self.datatype().class {
            DatatypeClass::String(_) => {
                let bytes = fixed_texts(self.datatype().size as usize, &texts);
                self.write_stored(selection, &bytes.map_err(|error| self.context(error))?)
            }
            DatatypeClass::VariableLength(_) if self.datatype().is_variable_string() => {
                self.check_count(selection, texts.len())?;
                if self.is_structured() {
                    let contents = self.foreign_texts(&texts)?;
                    return self.write_from(selection, &contents.origin());
                }
                let file = self.object.file();
                self.replace_contents(selection, |edit| file.store_texts(edit, &texts))
            }
            _ => {
                Err(self
                    .context(Error::Misuse(format!("its elements are no strings but {}", self.datatype()))))
            }
        }
    }

    /// Writes sequences to all elements, which are of variable length.
    ///
    /// ```
    /// use hyperslab::{Datatype, H5Type};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").datatype(Datatype::sequence(i32::datatype(), 8)).shape(&[2]).create()?;
    /// dataset.write_sequences(&[vec![1_i64, 2, 3], vec![]])?;
    /// assert_eq!(dataset.read_sequences::<i32>()?.into_raw_vec_and_offset().0, [vec![1, 2, 3], vec![]]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if elements are no sequences or their items cannot be converted;
    /// as [`write_raw`](Self::write_raw).
    pub fn write_sequences<T: H5Type, S: AsRef<[T]>>(&self, sequences: &[S]) -> Result<()> {
        let arena = VariableArena::default();
        let mut bytes = vec![0; sequences.len().saturating_mul(16)];
        for (sequence, descriptor) in sequences.iter().zip(bytes.chunks_exact_mut(16)) {
            let items = sequence.as_ref();
            arena
                .store(&T::to_bytes(items), items.len(), descriptor)
                .map_err(|error| self.context(error.into()))?;
        }
        let memory = Datatype::sequence(T::datatype(), 8);
        self.write_contents(&Selection::All, &memory, &bytes, Some(arena))
    }

    /// Writes elements of any type from dynamic values: records with members of variable length, sequences of them, arrays.
    /// Members are found by their names.
    ///
    /// ```
    /// use hyperslab::{CharacterSet, Datatype, Selection, Value, datatype::ByteOrder::LittleEndian};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let run = Datatype::packed([
    ///     ("name", Datatype::variable_string(CharacterSet::Utf8, 8)),
    ///     ("counts", Datatype::sequence(Datatype::u16(LittleEndian), 8)),
    /// ]);
    /// let runs = file.new_dataset("runs").datatype(run).shape(&[1]).create()?;
    /// let counts = Value::Sequence(vec![Value::Integer(3), Value::Integer(4)]);
    /// let record = Value::Compound(vec![("name".into(), Value::Text("first".into())), ("counts".into(), counts)]);
    /// runs.write_values(&Selection::All, &[record.clone()])?;
    /// assert_eq!(runs.read_dyn()?.get(&[0]), Some(record));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if a value is none of the dataset's type, or there is another number of
    /// values than of selected elements; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for references and times; as
    /// [`write_selection`](Self::write_selection).
    pub fn write_values(&self, selection: &Selection, values: &[Value]) -> Result<()> {
        let arena = VariableArena::default();
        let encoder = Encoder::new(self.datatype()).map_err(|error| self.context(error))?;
        let bytes = encoder.encode(values, &arena).map_err(|error| self.context(error))?;
        self.write_contents(selection, encoder.memory(), &bytes, Some(arena))
    }

    /// Writes references to all elements, which are references of any kind.
    ///
    /// ```
    /// use hyperslab::{Datatype, ReferenceTarget, Region, Selection};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let values = file.new_dataset("values").write(&[1, 2, 3, 4])?;
    /// let links = file.new_dataset("links").datatype(Datatype::object_reference(8)).shape(&[2]).create()?;
    /// links.write_references(&[ReferenceTarget::object(&values), ReferenceTarget::Null])?;
    /// assert_eq!(links.read_references()?[0].object()?.token(), values.token());
    /// let middle = Selection::region(&Region::new(&[1], &[2]).map_err(hyperslab::Error::from)?);
    /// let parts = file.new_dataset("parts").datatype(Datatype::region_reference(8)).shape(&[1]).create()?;
    /// parts.write_references(&[ReferenceTarget::Region(values.token(), middle)])?;
    /// assert_eq!(parts.read_references()?[0].read::<i32>()?.into_raw_vec_and_offset().0, [2, 3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if elements are no references, or references of that kind cannot
    /// point there; as [`write_raw`](Self::write_raw).
    pub fn write_references(&self, targets: &[ReferenceTarget]) -> Result<()> {
        let DatatypeClass::Reference(kind) = self.datatype().class else {
            let what = format!("its elements are no references but {}", self.datatype());
            return Err(self.context(Error::Misuse(what)));
        };
        self.check_count(&Selection::All, targets.len())?;
        let (file, size) = (self.object.file(), self.datatype().size as usize);
        self.replace_contents(&Selection::All, |edit| {
            let mut elements = Vec::with_capacity(size.saturating_mul(targets.len()));
            for target in targets {
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

    /// Converts elements with contents of variable length and writes them, in place of contents that go.
    fn write_contents(
        &self,
        selection: &Selection,
        memory: &Datatype,
        bytes: &[u8],
        arena: Option<VariableArena>,
    ) -> Result<()> {
        if self.is_structured() {
            let contents = self.foreign_contents(memory, bytes, arena)?;
            return self.write_from(selection, &contents.origin());
        }
        let file = self.object.file();
        let mut conversions = (*self.conversions).clone();
        if let Some(arena) = arena {
            conversions = conversions.with_source_heap(std::sync::Arc::new(arena));
        }
        self.check_count(selection, bytes.len() / (memory.size as usize).max(1))?;
        self.replace_contents(selection, |edit| {
            file.store_converted(edit, &conversions, (memory, self.datatype()), bytes)
        })
    }

    /// Writes elements that `store` puts into the heap; what they replace leaves it.
    fn replace_contents(
        &self,
        selection: &Selection,
        store: impl FnOnce(&mut hyperslab_engine::store::Edit<'_>) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let selection = self.without_overlaps(selection)?;
        let (file, size) = (self.object.file(), self.datatype().size as usize);
        self.change(|edit| file.replace_contents(edit, self.write_to(), &selection, size, store))
    }

    /// An error unless so many elements are selected.
    fn check_count(&self, selection: &Selection, count: usize) -> Result<()> {
        let selected = self.dataspace().selected(selection).map_err(|error| self.context(error.into()))?;
        if selected == count as u64 {
            return Ok(());
        }
        Err(self.context(Error::Misuse(format!("{selected} elements are selected, but {count} are given"))))
    }

    /// Puts the stored bytes of a chunk, behind its filters, in place of the chunk that holds the element with these
    /// coordinates. A bit of `filter_mask` is set for each filter that the bytes have not passed. They are not looked at.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let from = file.new_dataset("a").chunks(&[4]).deflate(6).write(&[1, 2, 3, 4])?;
    /// let to = file.new_dataset("b").of::<i32>().shape(&[8]).chunks(&[4]).deflate(6).create()?;
    /// if let Some(chunk) = from.read_stored_chunk(&[0])? {
    ///     to.write_stored_chunk(&[4], &chunk.bytes, chunk.info.filter_mask)?;
    /// }
    /// assert_eq!(to.read_raw::<i32>()?, [0, 0, 0, 0, 1, 2, 3, 4]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no chunks or no such element.
    pub fn write_stored_chunk(&self, element: &[u64], bytes: &[u8], filter_mask: u32) -> Result<()> {
        let (file, address) = (self.object.file(), self.object.address());
        self.change(|edit| file.write_stored_chunk(edit, address, element, bytes, filter_mask))
    }

    /// Makes the dataset longer at the front of a dimension and writes the new elements there: what was at coordinate
    /// 0 is at the length of the array then. By multiples of the chunk only the index is changed; other lengths move
    /// the elements.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let log = file.new_dataset("log").shape(&[2]).unlimited().chunks(&[2]).write(&[3, 4])?;
    /// log.prepend(0, &[1, 2])?;
    /// log.prepend(0, &[0])?;
    /// assert_eq!(log.read_raw::<i32>()?, [0, 1, 2, 3, 4]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`append`](Self::append). [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the dataset is not in
    /// chunks: one in other files can only be appended to, and a contiguous one cannot grow at all. Make a new one then,
    /// in chunks and `unlimited`, and write the elements of both into it.
    pub fn prepend<A: super::ArrayData + ?Sized>(&self, axis: usize, array: &A) -> Result<()> {
        let memory = <A::Element as H5Type>::datatype();
        let plan = self.conversions.plan(&memory, self.datatype());
        let plan = plan.map_err(|error| self.context(error.into()))?;
        let elements = array.elements();
        let bytes = <A::Element as H5Type>::to_bytes(&elements);
        let from = WriteSource::converted(&bytes, &plan).partial(leaves_parts(&memory, self.datatype()));
        let (file, address) = (self.object.file(), self.object.address());
        self.change(|edit| file.prepend_elements(edit, address, axis, &array.dims(), &from))
    }
}

/// Texts of fixed length, filled with zero bytes.
pub(crate) fn fixed_texts(size: usize, texts: &[&[u8]]) -> Result<Vec<u8>> {
    let mut bytes = vec![0; size.saturating_mul(texts.len())];
    for (text, place) in texts.iter().zip(bytes.chunks_exact_mut(size.max(1))) {
        let Some(to) = place.get_mut(..text.len()) else {
            let text = String::from_utf8_lossy(text);
            return Err(Error::Misuse(format!("`{text}` is longer than the {size} bytes of a string")));
        };
        to.copy_from_slice(text);
    }
    Ok(bytes)
}
