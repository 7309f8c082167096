//! Creation of datasets from C property lists, and the creation properties of existing datasets.

use std::sync::Arc;

use hyperslab::filter::FilterSpec;
use hyperslab::{
    AllocationTime, Dataset, DatasetBuilder, Dataspace, Datatype, FillStatus, FillTime, Group, Layout,
    Section, VirtualMapping,
};

use super::DatasetHandle;
use crate::convert::{Rules, defaults};
use crate::ctypes::{H5S_UNLIMITED, counted, hid_t};
use crate::datatype::{self, form};
use crate::error::{Because, Failure, Outcome, codes};
use crate::file::open::creation_order;
use crate::file::{Location, SharedFile};
use crate::plist::settings::{
    DatasetAccess, DatasetCreate, FillChoice, FilterEntry, LayoutChoice, MappingChoice, StructuredChoice,
};
use crate::space;

/// The chunk option that leaves partial edge chunks unfiltered
/// (`H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS`).
const UNFILTERED_EDGES: u32 = 0x02;
/// The flag of structured chunks that record defined elements (`H5D_SPARSE_CHUNK`).
const SPARSE: u32 = 0x01;

/// The fill time that never writes fill values (`H5D_FILL_TIME_NEVER`).
const FILL_NEVER: std::ffi::c_int = 1;

/// The description of a dataset to create: datatype, dataspace and creation properties.
#[derive(Debug)]
pub struct NewDataset {
    /// The identifier of the new dataset's datatype.
    pub datatype: hid_t,
    /// The identifier of the new dataset's dataspace.
    pub space: hid_t,
    /// The creation properties of the new dataset.
    pub create: DatasetCreate,
}

impl NewDataset {
    /// Remembers the mappings of a new virtual dataset as long as `file` is open. The mappings that
    /// the file stores do not contain the dimensions of the source datasets.
    pub fn remember(&self, made: &Dataset, file: &SharedFile) {
        if self.create.layout == LayoutChoice::Virtual {
            let mappings = self.create.mappings.clone();
            file.created_mappings.write().insert(made.token().address(), mappings);
        }
    }

    /// Returns hyperslab's builder for the new dataset, in the file of the location `place`.
    ///
    /// # Errors
    /// Fails if the description is invalid.
    pub fn builder(&self, group: &Group, place: &Location) -> Outcome<DatasetBuilder> {
        let handle = datatype::find(self.datatype)?;
        let ctype = handle.0.read().clone();
        let width = place.shared.offset_bytes();
        let in_file = form::file(&ctype.datatype, width);
        if ctype.datatype.size == 0 {
            return Err(Failure::new(codes::DATATYPE, codes::BADTYPE, "the datatype has no size"));
        }
        if self.create.fill_time == FILL_NEVER && in_file.is_variable_length() {
            let text = "variable-length elements need a fill value";
            return Err(Failure::new(codes::DATASET, codes::CANTINIT, text));
        }
        crate::filter::provide(&place.shared, self.create.filters.iter().map(|filter| filter.id));
        let mut builder = group.new_dataset("");
        builder = match &ctype.committed {
            Some((committed, at)) if Arc::ptr_eq(&at.shared, &place.shared) => builder.committed(committed),
            _ => builder.datatype(in_file.clone()),
        };
        let extent = space::copy_of(self.space)?.extent;
        space::require_extent(&extent)?;
        builder = with_extent(builder, &extent);
        builder = self.with_layout(builder, &extent)?;
        builder = self.with_fill(builder, place, &ctype.datatype, &in_file)?;
        let object = &self.create.object;
        let small = |count: u32| {
            u16::try_from(count).map_err(|_| Failure::bad_value("the number of attributes exceeds 65535"))
        };
        builder = builder
            .attribute_order(creation_order(object.attribute_order))
            .attribute_phase_change(small(object.max_compact)?, small(object.min_dense)?)
            .track_times(object.track_times);
        Ok(builder)
    }

    /// Adds the layout, the chunk shape and the filters of the new dataset to a dataset builder.
    fn with_layout(&self, builder: DatasetBuilder, extent: &Dataspace) -> Outcome<DatasetBuilder> {
        let create = &self.create;
        let mut builder = match create.layout {
            LayoutChoice::Compact => builder.compact(),
            LayoutChoice::Contiguous if create.external.is_empty() => builder.contiguous(),
            LayoutChoice::Contiguous => return self.external(builder),
            LayoutChoice::Chunked => {
                check_chunk(&create.chunk, extent)?;
                let builder = builder.chunks(&create.chunk);
                if create.chunk_options & UNFILTERED_EDGES != 0 {
                    builder.unfiltered_edges()
                } else {
                    builder
                }
            }
            LayoutChoice::Virtual => builder.virtual_sources(&mappings(&create.mappings)),
            LayoutChoice::Structured => return self.structured(builder, extent),
        };
        if create.layout != LayoutChoice::Chunked && !create.filters.is_empty() {
            // The C library ignores optional filters of layouts without chunks, and rejects
            // mandatory filters.
            let mandatory = create.filters.iter().any(|filter| filter.flags & 1 == 0);
            if mandatory && !matches!(extent, Dataspace::Null | Dataspace::Scalar) {
                let text = "filters require a chunked layout";
                return Err(Failure::new(codes::DATASET, codes::BADVALUE, text));
            }
            return Ok(builder);
        }
        for filter in &create.filters {
            builder = builder.filter(spec(filter)?);
        }
        Ok(builder)
    }

    /// Adds the external files of the new dataset's contiguous layout to a dataset builder.
    fn external(&self, builder: DatasetBuilder) -> Outcome<DatasetBuilder> {
        let mut pieces = Vec::new();
        for (name, offset, size) in &self.create.external {
            let name = std::str::from_utf8(name).map_err(|_| {
                Failure::unsupported("external file names that are not UTF-8 are not supported")
            })?;
            let offset = u64::try_from(*offset)
                .map_err(|_| Failure::bad_value("the offset of an external file is negative"))?;
            pieces.push((name, offset, (*size != H5S_UNLIMITED).then_some(*size)));
        }
        Ok(builder.external(&pieces))
    }

    /// Adds the structured chunks of the new dataset and the filters of their sections to a dataset
    /// builder.
    fn structured(&self, builder: DatasetBuilder, extent: &Dataspace) -> Outcome<DatasetBuilder> {
        let structured = &self.create.structured;
        check_chunk(&structured.chunk, extent)?;
        let mut builder = if structured.flags & SPARSE != 0 {
            builder.sparse(&structured.chunk)
        } else {
            builder.variable_chunks(&structured.chunk)
        };
        let sections = [Section::Selection, Section::Values, Section::Heap];
        for (section, filters) in sections.into_iter().zip(&structured.filters) {
            let filters: Vec<FilterSpec> = filters.iter().map(spec).collect::<Outcome<_>>()?;
            if !filters.is_empty() {
                builder = builder.section_filters(section, &filters);
            }
        }
        if self.create.chunk_options & UNFILTERED_EDGES != 0 {
            builder = builder.unfiltered_edges();
        }
        Ok(builder)
    }

    /// Adds the fill value, the fill time and the allocation time of the new dataset to a dataset
    /// builder.
    fn with_fill(
        &self,
        builder: DatasetBuilder,
        place: &Location,
        memory: &Datatype,
        file: &Datatype,
    ) -> Outcome<DatasetBuilder> {
        let mut builder = match &self.create.fill {
            FillChoice::Default => builder,
            FillChoice::Undefined => builder.no_fill(),
            FillChoice::Value(datatype, value) => {
                builder.fill_stored(&fill_element(place, (datatype, value), memory, file)?)
            }
        };
        builder = builder.fill_time(match self.create.fill_time {
            0 => FillTime::Allocation,
            1 => FillTime::Never,
            // Variable-length elements get a fill value that is readable, unless the list states
            // that there is none.
            _ if file.is_variable_length() && !matches!(self.create.fill, FillChoice::Undefined) => {
                FillTime::Allocation
            }
            _ => FillTime::IfSet,
        });
        Ok(match self.create.allocation_time {
            Some(1) => builder.allocation_time(AllocationTime::Early),
            Some(2) => builder.allocation_time(AllocationTime::Late),
            Some(3) => builder.allocation_time(AllocationTime::Incremental),
            _ => builder,
        })
    }
}

/// Converts the fill value of a new dataset to the form in the file. Variable-length data of the
/// value is stored in the file.
fn fill_element(
    place: &Location,
    (datatype, value): (&Datatype, &[u8]),
    memory: &Datatype,
    file: &Datatype,
) -> Outcome<Vec<u8>> {
    let rules = Rules::default();
    if !form::depends_on_form(memory) {
        let plan = rules.plan(datatype, file)?;
        let mut element = vec![0; file.size as usize];
        plan.convert(value, &mut element, 1)?;
        return Ok(element);
    }
    if value.iter().all(|byte| *byte == 0) {
        return Ok(vec![0; file.size as usize]);
    }
    let mut element = vec![0; memory.size as usize];
    rules.plan(datatype, memory)?.convert(value, &mut element, 1)?;
    let conversions = defaults().with_source_heap(rules.heap());
    Ok(place.shared.file.store_elements(memory, file, &element, &conversions)?)
}

/// Adds the dimensions and maximum dimensions of a dataspace to a dataset builder.
fn with_extent(builder: DatasetBuilder, extent: &Dataspace) -> DatasetBuilder {
    match extent {
        Dataspace::Null => builder.null(),
        Dataspace::Scalar => builder.shape(&[]),
        Dataspace::Simple(simple) => {
            let builder = builder.shape(&simple.dims);
            match &simple.max_dims {
                Some(max_dims) => builder.max_shape(max_dims),
                None => builder,
            }
        }
    }
}

/// Checks that a chunk shape fits the dimensions of a new dataset.
fn check_chunk(chunk: &[u64], extent: &Dataspace) -> Outcome<()> {
    if chunk.is_empty() {
        return Err(Failure::new(codes::DATASET, codes::CANTINIT, "no chunk dimensions are set"));
    }
    let Dataspace::Simple(simple) = extent else {
        return Err(Failure::new(
            codes::DATASET,
            codes::CANTINIT,
            "scalar and null dataspaces have no chunks",
        ));
    };
    if chunk.len() != simple.dims.len() {
        let text = "dimensionality of chunks doesn't match the dataspace";
        return Err(Failure::new(codes::DATASET, codes::BADVALUE, text));
    }
    let maximum = extent.max_dims();
    for ((size, dim), max) in chunk.iter().zip(&simple.dims).zip(maximum.iter()) {
        if *max == Some(*dim) && size > dim && *dim != 0 {
            let text = "chunk size must be <= maximum dimension size for fixed-sized dimensions";
            return Err(Failure::new(codes::DATASET, codes::BADVALUE, text));
        }
    }
    Ok(())
}

/// Converts a filter entry of a property list to a filter specification of hyperslab.
fn spec(filter: &FilterEntry) -> Outcome<FilterSpec> {
    filter.spec().because(codes::PLINE, codes::BADVALUE, "not a filter identifier")
}

/// Converts the mappings of a new virtual dataset from a property list to the form of hyperslab.
/// The dataspaces lose their dimensions, because the virtual dataset and the sources have their
/// own.
fn mappings(choices: &[MappingChoice]) -> Vec<VirtualMapping> {
    let mapping = |choice: &MappingChoice| VirtualMapping {
        file: choice.file.clone(),
        dataset: choice.dataset.clone(),
        selection: choice.space.1.clone(),
        source_selection: choice.source.1.clone(),
    };
    choices.iter().map(mapping).collect()
}

/// Returns a dataset handle of the C interface with the given location and access properties.
pub fn handle(dataset: &Dataset, location: Location, access: DatasetAccess) -> DatasetHandle {
    let heap = Arc::new(crate::convert::heap::Heap::default());
    let memory = form::memory(dataset.datatype());
    let dataset = dataset.with_conversions(defaults().with_destination_heap(heap));
    DatasetHandle {
        dataset,
        memory,
        location,
        access,
        set_shape: Default::default(),
        chunks: Default::default(),
        sieved: Default::default(),
    }
}

/// Returns the creation properties of an existing dataset.
///
/// # Errors
/// Returns the errors of reading the object header.
pub fn properties(handle: &DatasetHandle) -> Outcome<DatasetCreate> {
    let dataset = &handle.dataset;
    let mut create = DatasetCreate {
        object: crate::h5g::object_creation_of(dataset)?,
        filters: dataset.filters().into_iter().map(entry).collect(),
        ..DatasetCreate::default()
    };
    let external = dataset.external_files();
    create.external = external
        .into_iter()
        .map(|piece| Ok((piece.name, counted(piece.offset)?, piece.size.unwrap_or(H5S_UNLIMITED))))
        .collect::<Outcome<_>>()?;
    match dataset.layout() {
        Layout::Compact => create.layout = LayoutChoice::Compact,
        Layout::Chunked(chunking) => {
            create.layout = LayoutChoice::Chunked;
            create.chunk = chunking.shape;
            create.chunk_options = if chunking.edges_unfiltered { UNFILTERED_EDGES } else { 0 };
        }
        Layout::Virtual => {
            create.layout = LayoutChoice::Virtual;
            create.mappings = mapping_choices(handle)?;
        }
        Layout::Structured => {
            create.layout = LayoutChoice::Structured;
            create.structured = structured_choice(dataset);
        }
        _ => {}
    }
    let fill = dataset.fill_value();
    create.fill = match fill.status {
        FillStatus::Undefined => FillChoice::Undefined,
        FillStatus::Default => FillChoice::Default,
        FillStatus::User(bytes) => fill_in_memory(handle, bytes)?,
    };
    create.fill_time = match fill.time {
        FillTime::Allocation => 0,
        FillTime::Never => 1,
        _ => 2,
    };
    create.allocation_time = match fill.allocation {
        AllocationTime::Early => Some(1),
        AllocationTime::Late => Some(2),
        AllocationTime::Incremental => Some(3),
        _ => None,
    };
    Ok(create)
}

/// Returns the fill value of an existing dataset in memory form. Its variable-length data is never
/// freed, because property lists copy only the pointers.
fn fill_in_memory(handle: &DatasetHandle, bytes: Vec<u8>) -> Outcome<FillChoice> {
    if !form::depends_on_form(&handle.memory) {
        return Ok(FillChoice::Value(handle.memory.clone(), bytes));
    }
    let stored = handle.dataset.stored_fill_value()?;
    let heap = Rules::default().heap();
    let plan = stored.plan(&handle.memory, &defaults().with_destination_heap(heap))?;
    let mut element = vec![0; handle.memory.size as usize];
    plan.convert(stored.bytes(), &mut element, 1)?;
    Ok(FillChoice::Value(handle.memory.clone(), element))
}

/// Converts a filter of an existing dataset to a filter entry of a property list.
fn entry(filter: hyperslab::FilterInfo) -> FilterEntry {
    FilterEntry {
        id: filter.id.into(),
        flags: filter.flags.into(),
        data: filter.client_data,
        name: filter.name.map(String::into_bytes),
    }
}

/// Converts the mappings of an existing virtual dataset to the form of a property list.
fn mapping_choices(handle: &DatasetHandle) -> Outcome<Vec<MappingChoice>> {
    let dataset = &handle.dataset;
    let created = handle.location.shared.created_mappings.read().get(&dataset.token().address()).cloned();
    if let Some(created) = created {
        return Ok(created);
    }
    let extent = dataset.dataspace();
    let choice = |mapping: VirtualMapping| {
        let source = source_extent(&mapping, &extent);
        MappingChoice {
            space: (extent.clone(), mapping.selection),
            file: mapping.file,
            dataset: mapping.dataset,
            source: (source, mapping.source_selection),
        }
    };
    Ok(dataset.virtual_mappings()?.into_iter().map(choice).collect())
}

/// Returns dimensions that are large enough for the source selection of a virtual dataset mapping.
/// The file does not store the real dimensions of the source dataset.
fn source_extent(mapping: &VirtualMapping, virtual_extent: &Dataspace) -> Dataspace {
    use hyperslab::{Hyperslab, Selection};
    match &mapping.source_selection {
        Selection::Hyperslab(Hyperslab::Regular(regular)) => {
            let end = |((start, stride), (count, block)): ((&u64, &u64), (&u64, &u64))| {
                if *count == H5S_UNLIMITED || *block == H5S_UNLIMITED {
                    return start.saturating_add(1); // An unlimited dimension, of which one step is known.
                }
                // Saturates, because programs only read the extent and never use it to access
                // elements.
                start.saturating_add(count.saturating_sub(1).saturating_mul(*stride)).saturating_add(*block)
            };
            let axes =
                regular.start.iter().zip(&regular.stride).zip(regular.count.iter().zip(&regular.block));
            Dataspace::simple(&axes.map(end).collect::<Vec<u64>>())
        }
        Selection::Hyperslab(Hyperslab::Irregular { rank, blocks }) => {
            let mut dims = vec![0; *rank];
            for block in blocks {
                for (dim, end) in dims.iter_mut().zip(&block.end) {
                    *dim = (*dim).max(end.saturating_add(1)); // Only reported.
                }
            }
            Dataspace::simple(&dims)
        }
        Selection::Points(points) => {
            let mut dims = vec![0; points.rank];
            for point in points.points() {
                for (dim, at) in dims.iter_mut().zip(point) {
                    *dim = (*dim).max(at.saturating_add(1)); // Only reported.
                }
            }
            Dataspace::simple(&dims)
        }
        _ => match mapping.selection.bounding_box(virtual_extent.dims()) {
            Ok(Some(region)) => Dataspace::simple(&region.count),
            _ => virtual_extent.clone(),
        },
    }
}

/// Converts the structured chunks of an existing dataset to the form of a property list.
fn structured_choice(dataset: &Dataset) -> StructuredChoice {
    let Some(chunking) = dataset.sparse().chunking() else { return StructuredChoice::default() };
    let mut filters: [Vec<FilterEntry>; 3] = Default::default();
    for (section, list) in chunking.sections {
        let number = match section {
            Section::Selection => 0,
            Section::Values => 1,
            Section::Heap => 2,
        };
        if let Some(to) = filters.get_mut(number) {
            *to = list.into_iter().map(entry).collect();
        }
    }
    StructuredChoice { chunk: chunking.shape, flags: if chunking.sparse { SPARSE } else { 2 }, filters }
}
