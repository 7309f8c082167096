//! Writes through a virtual dataset to its source datasets.

use std::cell::RefCell;
use std::sync::Arc;

use hyperslab_dataspace::{Dims, Selection};
use hyperslab_datatype::Datatype;
use hyperslab_datatype::convert::{Conversion, Conversions};
use hyperslab_format::codec::Address;
use hyperslab_format::message::Layout;

use super::dataset::sources::{MAX_DEPTH, found};
use super::dataset_access::DatasetAccess;
use super::{OpenDataset, OpenFile};
use crate::data::transfer::{WriteSource, byte_count, leaves_parts};
use crate::data::virtual_::{SourceShapes, Steps, VirtualMap};
use crate::error::{Error, Result};
use crate::object::header::ObjectHeader;
use crate::object::kind::ObjectKind;
use crate::object::path::{self, Resolved};
use crate::store::Edit;

/// The address of a virtual dataset that a write changes, and the choices of the program for it.
type VirtualTarget<'a> = (Address, Option<&'a Arc<DatasetAccess>>);

/// The elements that a write to a virtual dataset passes to one source dataset.
struct TargetShare {
    file: Arc<OpenFile>,
    dataset: Address,
    selection: Selection,
    /// The elements, in the type of the virtual dataset.
    elements: Vec<u8>,
    conversion: Conversion,
    partial: bool,
}

/// A file, opened for writing, that a virtual dataset in another file names.
#[derive(Debug)]
struct OtherFile {
    parent: Arc<OpenFile>,
    name: Vec<u8>,
    file: Arc<OpenFile>,
    /// True if the program has the file open. Then the write does not close the file.
    is_shared: bool,
}

/// The source files that one write to a virtual dataset has opened for writing.
#[derive(Debug)]
struct Targets<'a> {
    /// The file whose `Edit` the caller holds.
    root: &'a Arc<OpenFile>,
    others: RefCell<Vec<OtherFile>>,
    /// The choices of the program for the virtual dataset, which also hold for its sources.
    access: Option<&'a Arc<DatasetAccess>>,
    steps: Steps,
}

/// The shapes of source datasets for a write to a virtual dataset. The virtual dataset in the file
/// `file` has mappings that name these source datasets.
#[derive(Debug)]
struct TargetShapes<'a> {
    targets: &'a Targets<'a>,
    file: &'a Arc<OpenFile>,
}

impl OpenFile {
    /// Writes the selected elements of a virtual dataset to its source datasets. Flushes the
    /// changed source files, except the file of the virtual dataset.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if an element has no source, or a source that cannot be changed;
    /// nothing is written then. Otherwise as [`write_elements_with`](Self::write_elements_with).
    pub(super) fn write_virtual(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        dataset: VirtualTarget<'_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        edit.store().check_not_swmr_writer("nothing can be written through a virtual dataset")?;
        self.flush_editors(edit)?;
        // The old elements are read from the file.
        if from.is_partial() {
            self.flush_writers(edit)?;
        }
        let open = self.open_virtual(edit, dataset)?;
        let count = open.selected(selection)?;
        from.check(count)?;
        let mut elements = if from.is_partial() {
            open.read(self, selection)?
        } else {
            vec![0; byte_count(count, open.description.datatype.size as usize, "elements to write")?]
        };
        from.put(0, count, &mut elements)?;
        open.close_sources();
        let targets = Targets::new(self, count, dataset.1);
        let shares = targets.shares(self, &open, selection, Some(&elements))?;
        drop(elements);
        for share in shares {
            let from = WriteSource::converted(&share.elements, &share.conversion).partial(share.partial);
            let (file, dataset) = (&share.file, share.dataset);
            if Arc::ptr_eq(file, self) {
                self.write_own(edit, dataset, &share.selection, &from)?;
            } else {
                let mut edit = file.edit()?;
                file.write_own(&mut edit, dataset, &share.selection, &from)?;
                file.finish(edit)?;
            }
        }
        targets.close()
    }

    /// Checks that a write to a virtual dataset ([`write_virtual`](Self::write_virtual)) finds a
    /// source dataset for each selected element.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if an element has no source.
    pub(super) fn check_virtual(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        dataset: VirtualTarget<'_>,
        selection: &Selection,
    ) -> Result<()> {
        let open = self.open_virtual(edit, dataset)?;
        open.close_sources();
        let targets = Targets::new(self, open.selected(selection)?, dataset.1);
        targets.shares(self, &open, selection, None)?;
        targets.close()
    }

    fn open_virtual(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        (dataset, access): VirtualTarget<'_>,
    ) -> Result<OpenDataset> {
        self.flush_editors(edit)?;
        self.flush_headers(edit)?;
        OpenDataset::open_with(self, &ObjectHeader::load(&self.container.store, dataset)?, access)
    }
}

impl<'a> Targets<'a> {
    /// Creates an empty list of source files for a write of `elements` elements to a virtual
    /// dataset.
    fn new(root: &'a Arc<OpenFile>, elements: u64, access: Option<&'a Arc<DatasetAccess>>) -> Self {
        let limit = root.container.store.limits().virtual_steps;
        Self { root, others: RefCell::default(), access, steps: Steps::new(limit, elements) }
    }

    /// Assigns each selected element of a virtual dataset to a source dataset, through nested
    /// virtual datasets down to datasets that are not virtual. Without `elements`, only checks the
    /// source datasets.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if an element has no source, or a source that cannot be changed.
    fn shares(
        &self,
        file: &Arc<OpenFile>,
        open: &OpenDataset,
        selection: &Selection,
        elements: Option<&[u8]>,
    ) -> Result<Vec<TargetShare>> {
        let mut shares = Vec::new();
        self.divide(file, open, selection, elements, 0, &mut shares)?;
        Ok(shares)
    }

    fn divide(
        &self,
        file: &Arc<OpenFile>,
        open: &OpenDataset,
        selection: &Selection,
        elements: Option<&[u8]>,
        depth: usize,
        shares: &mut Vec<TargetShare>,
    ) -> Result<()> {
        if depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} levels of virtual datasets");
            return Err(Error::Misuse(message));
        }
        let count = open.selected(selection)?;
        if count == 0 {
            return Ok(());
        }
        let datatype = &open.description.datatype;
        let size = datatype.size as usize;
        let mut covered = vec![false; byte_count(count, 1, "elements to write")?];
        let shapes = &TargetShapes { targets: self, file };
        let (mappings, dims) = (open.mappings(), open.description.dataspace.dims());
        let map = VirtualMap { mappings, dims, shapes, steps: &self.steps };
        let mut inner = Vec::new();
        map.parts(selection, &mut |part| {
            self.steps.copy(part.places.count())?;
            let Some((file, source)) = self.find(file, part.file, part.dataset)? else { return Ok(()) };
            part.places.set_covered(&mut covered)?;
            let (conversion, partial) = self.conversion(&file, datatype, &source.description.datatype)?;
            let elements = match elements {
                Some(elements) => part.places.pack(elements, size)?,
                None => Vec::new(),
            };
            let (dataset, selection) = (source.address(), part.selection);
            let share = TargetShare { file, dataset, selection, elements, conversion, partial };
            if matches!(source.description.layout.layout, Layout::Virtual(_)) {
                inner.push((share, source));
            } else {
                shares.push(share);
            }
            Ok(())
        })?;
        let missing = covered.iter().filter(|covered| !**covered).count();
        if missing > 0 {
            return Err(Error::Misuse(format!(
                "{missing} of {count} elements have no source dataset, or their source dataset does not exist: nothing is written"
            )));
        }
        inner.iter().try_for_each(|(share, source)| {
            if share.partial {
                return Err(Error::unsupported(
                    "writing single members of compounds through a virtual dataset whose source is a virtual \
                     dataset",
                ));
            }
            let mut converted = None;
            if elements.is_some() {
                let count = source.selected(&share.selection)?;
                let size = source.description.datatype.size as usize;
                let mut inside = vec![0; byte_count(count, size, "elements to write")?];
                WriteSource::converted(&share.elements, &share.conversion).put(0, count, &mut inside)?;
                converted = Some(inside);
            }
            let elements = converted.as_deref();
            self.divide(&share.file, source, &share.selection, elements, depth + 1, shares)
        })
    }

    /// Returns the conversion from elements of a virtual dataset to elements of a source dataset in
    /// `file`, and whether the write changes only some members of the elements.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the file is read-only, and [`Error::Unsupported`] if the
    /// elements refer into a file and would need relocation.
    fn conversion(
        &self,
        file: &Arc<OpenFile>,
        shown: &Datatype,
        stored: &Datatype,
    ) -> Result<(Conversion, bool)> {
        if !file.container.store.is_writable() {
            let message = format!("`{}` is open for reading only", file.container.store.name());
            return Err(Error::Misuse(message));
        }
        let own = Arc::ptr_eq(file, self.root) && shown == stored;
        if !own && (shown.points_into_file() || stored.points_into_file()) {
            return Err(Error::unsupported(format!(
                "writing elements of type {shown} to another file or with another type"
            )));
        }
        Ok((Conversions::default().plan(shown, stored)?, leaves_parts(shown, stored)))
    }

    /// Opens a virtual dataset's source dataset that the file `parent` names. Returns the file and
    /// the dataset, or `None` if the dataset does not exist.
    ///
    /// # Errors
    /// Returns the errors of opening the file and the dataset.
    fn find(
        &self,
        parent: &Arc<OpenFile>,
        file: &[u8],
        dataset: &[u8],
    ) -> Result<Option<(Arc<OpenFile>, OpenDataset)>> {
        let opened = found(self.file(parent, file)).and_then(|file| match file {
            Some(file) => found(self.open(&file, dataset)),
            None => Ok(None),
        });
        opened.map_err(|error| {
            error.context(format!("source `{}` in `{}`", path::lossy(dataset), path::lossy(file)))
        })
    }

    fn open(&self, file: &Arc<OpenFile>, name: &[u8]) -> Result<(Arc<OpenFile>, OpenDataset)> {
        let (mut file, mut name) = (Arc::clone(file), name.to_vec());
        for _ in 0..MAX_DEPTH {
            match path::resolve(&file.container, file.root(), &name)? {
                Resolved::Object(header) if ObjectKind::of(&header) == Some(ObjectKind::Dataset) => {
                    let open = OpenDataset::open_with(&file, &header, self.access)?;
                    open.close_sources();
                    return Ok((file, open));
                }
                Resolved::Object(_) => return Err(Error::Misuse("the object is not a dataset".into())),
                Resolved::External { file: other, path, .. } => {
                    file = self.file(&file, &other)?;
                    name = path;
                }
                Resolved::UserDefined { class, name, .. } => return Err(path::user_defined(class, &name)),
            }
        }
        Err(Error::Misuse(format!("more than {MAX_DEPTH} consecutive external links")))
    }

    /// Opens a source file that the file `parent` names, for writing. Opens each file once.
    ///
    /// # Errors
    /// Returns the errors of the resolver.
    fn file(&self, parent: &Arc<OpenFile>, name: &[u8]) -> Result<Arc<OpenFile>> {
        if name == b"." {
            return Ok(Arc::clone(parent));
        }
        let Some(resolver) = &parent.resolver else {
            return Err(Error::Misuse("this file was opened without a way to open other files, so its virtual sources cannot be found".into()));
        };
        let folder = self.access.and_then(|access| access.source_folder.as_deref());
        if resolver.is_own(name, folder) {
            return Ok(Arc::clone(parent));
        }
        let mut others = self.others.borrow_mut();
        let known = others.iter().find(|other| Arc::ptr_eq(&other.parent, parent) && other.name == name);
        if let Some(other) = known {
            return Ok(Arc::clone(&other.file));
        }
        let shared = resolver.find_open(name, folder).filter(|file| file.container.store.is_writable());
        let is_shared = shared.is_some();
        let opened = shared.map_or_else(|| resolver.open_to_write(name, folder), Ok)?;
        let identity = |file: &OpenFile| file.container.store.driver().identity();
        let this = identity(&opened);
        let same = |file: &&Arc<OpenFile>| this.is_some() && identity(file) == this;
        let known = others.iter().map(|other| &other.file).find(same).cloned();
        let same = known.or_else(|| Some(self.root).filter(same).map(Arc::clone));
        let file = same.unwrap_or(opened);
        let entry =
            OtherFile { parent: Arc::clone(parent), name: name.to_vec(), file: Arc::clone(&file), is_shared };
        others.push(entry);
        Ok(file)
    }

    /// Closes the source files of a write to a virtual dataset, which commits their changes.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    fn close(self) -> Result<()> {
        let others = self.others.into_inner();
        let mut closed: Vec<Arc<OpenFile>> = vec![Arc::clone(self.root)];
        for OtherFile { file, is_shared, .. } in others {
            if !is_shared && !closed.iter().any(|other| Arc::ptr_eq(other, &file)) {
                file.close().map_err(|error| error.context(format!("`{}`", file.container.store.name())))?;
                closed.push(file);
            }
        }
        Ok(())
    }
}

impl SourceShapes for TargetShapes<'_> {
    fn shape(&self, file: &[u8], dataset: &[u8]) -> Result<Option<Dims>> {
        let found = self.targets.find(self.file, file, dataset)?;
        Ok(found.map(|(_, open)| Dims::from_slice(open.description.dataspace.dims())))
    }
}
