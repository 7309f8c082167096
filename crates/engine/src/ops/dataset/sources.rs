//! The source datasets of a virtual dataset. They are looked up by name at the first use, and stay
//! open for the next ones.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hyperslab_dataspace::{Dims, Selection};
use hyperslab_datatype::Datatype;
use hyperslab_datatype::convert::Conversions;
use hyperslab_format::message::Layout;

use super::super::dataset_access::DatasetAccess;
use super::super::{OpenFile, SharedHeap};
use super::OpenDataset;
use crate::data::transfer::ReadTarget;
use crate::data::variable::ForeignHeap;
use crate::data::virtual_::{Mapping, SourceDatasets, SourceShapes, Steps, mappings};
use crate::error::{Error, ErrorKind, Result};
use crate::object::dataset::DatasetDescription;
use crate::object::kind::ObjectKind;
use crate::object::path::{self, Resolved};

/// Largest depth of nested virtual datasets (virtual datasets whose source datasets are virtual).
/// Also the largest number of consecutive external links to a source dataset.
pub(in crate::ops) const MAX_DEPTH: usize = 16;

/// Largest number of source datasets that a virtual dataset keeps open.
const MAX_OPEN_SOURCES: usize = 128;

/// The mappings of a virtual dataset, and its open source datasets.
#[derive(Debug)]
pub(in crate::ops) struct Virtual {
    pub(in crate::ops) mappings: Vec<Mapping>,
    open: Mutex<Vec<Arc<SourceDataset>>>,
    /// The generation of the program's open files when `open` was filled.
    generation: AtomicU64,
    /// The source files that the program has open, with the generations in which they were used.
    shared: Mutex<Vec<(Weak<OpenFile>, u64)>>,
}

#[derive(Debug)]
struct SourceDataset {
    file_name: Vec<u8>,
    name: Vec<u8>,
    file: Arc<OpenFile>,
    dataset: OpenDataset,
}

/// The depth of a read in nested virtual datasets, and the steps that remain in the read's work
/// budget.
#[derive(Debug)]
pub(in crate::ops) struct Nesting<'a> {
    depth: usize,
    pub(in crate::ops) steps: &'a Steps,
    /// The heap that collects variable-length data of other files, if the caller needs the data.
    foreign: Option<&'a Arc<ForeignHeap>>,
}

impl Nesting<'_> {
    /// Calls `run` for the outermost read of virtual datasets, which is not part of the read of
    /// another virtual dataset. The nesting depth is 0, and the work budget is for `elements`
    /// elements.
    pub(in crate::ops) fn outermost<R>(
        file: &OpenFile,
        elements: u64,
        run: impl FnOnce(&Nesting<'_>) -> R,
    ) -> R {
        let steps = Steps::new(file.container.store.limits().virtual_steps, elements);
        run(&Nesting { depth: 0, steps: &steps, foreign: None })
    }

    /// Returns the foreign heap of a read of virtual datasets, if the read has one. This heap in
    /// memory collects variable-length data of other files.
    pub(in crate::ops) fn foreign(&self) -> Option<&ForeignHeap> {
        self.foreign.map(|foreign| &**foreign)
    }

    /// Calls `run` for the outermost read of virtual datasets, like [`outermost`](Self::outermost).
    /// In addition, the read collects variable-length data of other files in the heap `foreign`.
    pub(in crate::ops) fn collecting<R>(
        file: &OpenFile,
        elements: u64,
        foreign: &Arc<ForeignHeap>,
        run: impl FnOnce(&Nesting<'_>) -> R,
    ) -> R {
        let steps = Steps::new(file.container.store.limits().virtual_steps, elements);
        run(&Nesting { depth: 0, steps: &steps, foreign: Some(foreign) })
    }
}

impl Virtual {
    /// Reads the mappings of a dataset, if the dataset is virtual.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the mappings are damaged.
    pub(in crate::ops) fn load(file: &OpenFile, description: &DatasetDescription) -> Result<Option<Self>> {
        let Layout::Virtual(layout) = &description.layout.layout else { return Ok(None) };
        let container = &file.container;
        let stored = mappings(&container.store, &container.heap, layout)?;
        let rank = description.dataspace.rank();
        let mappings: Result<Vec<Mapping>> = stored
            .iter()
            .flat_map(|stored| &stored.mappings)
            .map(|mapping| Mapping::new(mapping, rank))
            .collect();
        Ok(Some(Self {
            mappings: mappings?,
            open: Mutex::new(Vec::new()),
            generation: AtomicU64::new(0),
            shared: Mutex::default(),
        }))
    }

    /// Returns whether the source files that the program has open are unchanged since this virtual
    /// dataset was opened. `file` is the file of the virtual dataset.
    pub(in crate::ops) fn is_current(&self, file: &OpenFile) -> bool {
        let Some(resolver) = &file.resolver else { return true };
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        resolver.generation() == self.generation.load(Ordering::Acquire)
            && shared.iter().all(|(file, generation)| {
                file.upgrade().is_some_and(|file| file.container.store.generation() == *generation)
            })
    }

    /// Records the use of a source file that the program has open.
    fn use_shared(&self, file: &Arc<OpenFile>) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if !shared.iter().any(|(other, _)| other.as_ptr() == Arc::as_ptr(file)) {
            shared.push((Arc::downgrade(file), file.container.store.generation()));
        }
    }

    /// Closes the files of a virtual dataset's open source datasets.
    pub(in crate::ops) fn close(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The source datasets of one virtual dataset during one read.
#[derive(Debug)]
pub(in crate::ops) struct Sources<'a> {
    pub(in crate::ops) file: &'a Arc<OpenFile>,
    pub(in crate::ops) datatype: &'a Datatype,
    pub(in crate::ops) virtual_: &'a Virtual,
    /// The choices of the program for the virtual dataset, which also hold for its sources.
    pub(in crate::ops) access: Option<&'a Arc<DatasetAccess>>,
    pub(in crate::ops) nesting: &'a Nesting<'a>,
}

impl SourceShapes for Sources<'_> {
    fn shape(&self, file: &[u8], dataset: &[u8]) -> Result<Option<Dims>> {
        let found = self.find(file, dataset)?;
        Ok(found.map(|source| Dims::from_slice(source.dataset.description.dataspace.dims())))
    }
}

impl SourceDatasets for Sources<'_> {
    fn read(&self, file: &[u8], dataset: &[u8], selection: &Selection, out: &mut [u8]) -> Result<()> {
        let Some(source) = self.find(file, dataset)? else {
            let name = path::lossy(dataset);
            return Err(Error::NotFound { subject: "source dataset", name });
        };
        let datatype = &source.dataset.description.datatype;
        let nesting = self.inside()?;
        let conversion = self.conversions(&source)?.plan(datatype, self.datatype)?;
        if !conversion.is_no_op() {
            // Zeros for the members that the source does not have.
            out.fill(0);
        }
        let mut to = ReadTarget::converted(out, &conversion);
        source.dataset.read_nested(&source.file, selection, &mut to, &nesting)
    }
}

impl<'a> Sources<'a> {
    /// Returns the conversions for elements of a virtual dataset's source dataset. If the source
    /// dataset is in another file, the conversions collect its variable-length data in a heap in
    /// memory.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if elements of another file contain references, or if the
    /// caller collects no variable-length data.
    fn conversions(&self, source: &SourceDataset) -> Result<Conversions> {
        let datatype = &source.dataset.description.datatype;
        let conversions = Conversions::default();
        if Arc::ptr_eq(&source.file, self.file) || !datatype.points_into_file() {
            return Ok(conversions);
        }
        match self.nesting.foreign {
            Some(foreign) if !datatype.contains_reference() => {
                let (file, foreign) = (Arc::clone(&source.file), Arc::clone(foreign));
                let heap = SharedHeap { file, foreign: Arc::clone(&foreign) };
                Ok(conversions.with_source_heap(Arc::new(heap)).with_destination_heap(foreign))
            }
            _ => Err(Error::unsupported(format!("elements of type {datatype} from another file"))),
        }
    }

    /// Returns the choices of the program for the source datasets: those for the virtual dataset,
    /// without its shape.
    fn of_sources(&self) -> Option<Arc<DatasetAccess>> {
        let access = self.access?;
        Some(match access.shape {
            None => Arc::clone(access),
            Some(_) => Arc::new(DatasetAccess { shape: None, ..DatasetAccess::clone(access) }),
        })
    }

    /// Returns the folder in which the search for source files begins, if the program chose one.
    fn folder(&self) -> Option<&'a Path> {
        self.access.and_then(|access| access.source_folder.as_deref())
    }

    fn inside(&self) -> Result<Nesting<'_>> {
        let depth = self.nesting.depth + 1;
        if depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} levels of virtual datasets");
            return Err(Error::Misuse(message));
        }
        Ok(Nesting { depth, ..*self.nesting })
    }

    /// Returns the source file with the name `file_name` if the program has it open. If the program
    /// has opened or closed a file since the last call, first closes source datasets in other
    /// files, because the program may have changed them.
    fn find_open(&self, file_name: &[u8]) -> Option<Arc<OpenFile>> {
        let resolver = self.file.resolver.as_ref()?;
        let generation = resolver.generation();
        if self.virtual_.generation.swap(generation, Ordering::AcqRel) != generation {
            self.virtual_.close();
        }
        if file_name == b"." { None } else { resolver.find_open(file_name, self.folder()) }
    }

    fn find(&self, file_name: &[u8], name: &[u8]) -> Result<Option<Arc<SourceDataset>>> {
        let shared = self.find_open(file_name);
        let is_shared = shared.is_some();
        if let Some(file) = &shared {
            self.virtual_.use_shared(file);
        }
        let open = || self.virtual_.open.lock().unwrap_or_else(PoisonError::into_inner);
        let known = open().iter().rev().find(|one| one.file_name == file_name && one.name == name).cloned();
        if known.is_some() && !is_shared {
            return Ok(known);
        }
        self.nesting.steps.look()?;
        let same_file = open().iter().find(|one| one.file_name == file_name).map(|one| Arc::clone(&one.file));
        let file = match same_file {
            _ if file_name == b"." => Some(Arc::clone(self.file)),
            _ if self
                .file
                .resolver
                .as_ref()
                .is_some_and(|resolver| resolver.is_own(file_name, self.folder())) =>
            {
                Some(Arc::clone(self.file))
            }
            _ if is_shared => shared,
            Some(file) => Some(file),
            None => found(self.file.other_in(file_name, self.folder()))
                .map_err(|error| error.context(format!("source file `{}`", path::lossy(file_name))))?,
        };
        let Some(file) = file else { return Ok(None) };
        let opened = found(self.open(&file, name)).map_err(|error| {
            let (name, file) = (path::lossy(name), path::lossy(file_name));
            error.context(format!("source `{name}` in `{file}`"))
        })?;
        let Some((inner, dataset)) = opened else { return Ok(None) };
        // If an external link leads to a third file, the entry must not represent the file
        // `file_name`.
        let file_name = file_name.to_vec();
        let source = Arc::new(SourceDataset { file_name, name: name.to_vec(), file: inner, dataset });
        if Arc::ptr_eq(&source.file, &file) && !is_shared {
            let mut open = open();
            if open.len() >= MAX_OPEN_SOURCES {
                open.remove(0);
            }
            open.push(Arc::clone(&source));
        }
        Ok(Some(source))
    }

    fn open(&self, file: &Arc<OpenFile>, name: &[u8]) -> Result<(Arc<OpenFile>, OpenDataset)> {
        let mut file = Arc::clone(file);
        let mut name = name.to_vec();
        for _ in 0..MAX_DEPTH {
            match path::resolve(&file.container, file.root(), &name)? {
                Resolved::Object(header) => {
                    if ObjectKind::of(&header) != Some(ObjectKind::Dataset) {
                        return Err(Error::Misuse("the object is not a dataset".into()));
                    }
                    let dataset = OpenDataset::open_nested(
                        &file,
                        &header,
                        self.of_sources().as_ref(),
                        &self.inside()?,
                    )?;
                    return Ok((file, dataset));
                }
                Resolved::External { file: other, path, .. } => {
                    file = file.other_in(&other, self.folder())?;
                    name = path;
                }
                Resolved::UserDefined { class, name, .. } => return Err(path::user_defined(class, &name)),
            }
        }
        Err(Error::Misuse(format!("more than {MAX_DEPTH} consecutive external links")))
    }
}

/// Converts the error [`Error::NotFound`] to `None`. Elements of missing source datasets have the
/// fill value.
pub(in crate::ops) fn found<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
