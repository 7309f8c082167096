//! Writes through a virtual dataset to its source datasets.

use std::cell::RefCell;
use std::sync::Arc;

use hyperslab_dataspace::{Dims, Selection};
use hyperslab_datatype::Datatype;
use hyperslab_datatype::convert::{Conversion, Conversions};
use hyperslab_format::codec::Address;
use hyperslab_format::message::Layout;

use super::virtual_::{MAX_DEPTH, found};
use super::{OpenDataset, OpenFile};
use crate::data::transfer::{WriteSource, byte_count, leaves_parts};
use crate::data::virtual_::{SourceShapes, Steps, VirtualMap};
use crate::error::{Error, Result};
use crate::object::header::ObjectHeader;
use crate::object::kind::ObjectKind;
use crate::object::path::{self, Resolved};
use crate::store::Edit;

/// Elements that go to one dataset.
struct Share {
    file: Arc<OpenFile>,
    dataset: Address,
    selection: Selection,
    /// As elements of the virtual dataset.
    elements: Vec<u8>,
    conversion: Conversion,
    partial: bool,
}

/// A file that another one names.
#[derive(Debug)]
struct Other {
    parent: Arc<OpenFile>,
    name: Vec<u8>,
    file: Arc<OpenFile>,
}

/// The files that one write goes to.
#[derive(Debug)]
struct Targets<'a> {
    /// The one that is being changed already.
    root: &'a Arc<OpenFile>,
    others: RefCell<Vec<Other>>,
    steps: Steps,
}

/// The sources of a dataset in `file`.
#[derive(Debug)]
struct Shapes<'a> {
    targets: &'a Targets<'a>,
    file: &'a Arc<OpenFile>,
}

impl OpenFile {
    /// Writes the selected elements of a virtual dataset to the datasets that it shows. Those in other files are on the
    /// medium then.
    ///
    /// # Errors
    /// [`Error::Misuse`] if an element has no source, or one that may not be changed; nothing is written then. As
    /// [`write_elements_with`](Self::write_elements_with).
    pub(super) fn write_virtual(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        dataset: Address,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        edit.store().check_not_followed("nothing can be written through a virtual dataset")?;
        self.settle_objects(edit)?;
        // What is read below is read from the file.
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
        let targets = Targets::new(self, count);
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

    /// Returns whether [`write_virtual`](Self::write_virtual) finds a place for each of the selected elements.
    ///
    /// # Errors
    /// If it does not.
    pub(super) fn check_virtual(
        self: &Arc<Self>,
        edit: &mut Edit<'_>,
        dataset: Address,
        selection: &Selection,
    ) -> Result<()> {
        let open = self.open_virtual(edit, dataset)?;
        open.close_sources();
        let targets = Targets::new(self, open.selected(selection)?);
        targets.shares(self, &open, selection, None)?;
        targets.close()
    }

    fn open_virtual(self: &Arc<Self>, edit: &mut Edit<'_>, dataset: Address) -> Result<OpenDataset> {
        self.settle_objects(edit)?;
        self.flush_headers(edit)?;
        OpenDataset::open(self, &ObjectHeader::load(&self.container.store, dataset)?)
    }
}

impl<'a> Targets<'a> {
    /// For a write of so many elements.
    fn new(root: &'a Arc<OpenFile>, elements: u64) -> Self {
        let limit = root.container.store.limits().virtual_steps;
        Self { root, others: RefCell::default(), steps: Steps::new(limit, elements) }
    }

    /// What goes where, of datasets that are not virtual themselves. Without elements they are only checked.
    fn shares(
        &self,
        file: &Arc<OpenFile>,
        open: &OpenDataset,
        selection: &Selection,
        elements: Option<&[u8]>,
    ) -> Result<Vec<Share>> {
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
        shares: &mut Vec<Share>,
    ) -> Result<()> {
        if depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} virtual datasets show each other");
            return Err(Error::Misuse(message));
        }
        let count = open.selected(selection)?;
        if count == 0 {
            return Ok(());
        }
        let datatype = &open.description.datatype;
        let size = datatype.size as usize;
        let mut covered = vec![false; byte_count(count, 1, "elements to write")?];
        let shapes = &Shapes { targets: self, file };
        let (mappings, dims) = (open.mappings(), open.description.dataspace.dims());
        let map = VirtualMap { mappings, dims, shapes, steps: &self.steps };
        let mut inner = Vec::new();
        map.parts(selection, &mut |part| {
            self.steps.copy(part.places.count())?;
            part.places.set_covered(&mut covered)?;
            let Some((file, source)) = self.find(file, part.file, part.dataset)? else { return Ok(()) };
            let (conversion, partial) = self.conversion(&file, datatype, &source.description.datatype)?;
            let elements = match elements {
                Some(elements) => part.places.pack(elements, size)?,
                None => Vec::new(),
            };
            let (dataset, selection) = (source.address(), part.selection);
            let share = Share { file, dataset, selection, elements, conversion, partial };
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
                "{missing} of {count} elements have no source, or one that is not there: nothing is written"
            )));
        }
        inner.iter().try_for_each(|(share, source)| {
            if share.partial {
                return Err(Error::unsupported(
                    "writing members of what a virtual dataset within another shows",
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
            self.divide(&share.file, source, &share.selection, elements, depth.saturating_add(1), shares)
        })
    }

    /// How elements become those of a source in `file`, and whether parts of those stay.
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
                "writing elements of type {shown} to another file or as other ones"
            )));
        }
        Ok((Conversions::default().plan(shown, stored)?, leaves_parts(shown, stored)))
    }

    /// A source that `parent` names.
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
                    let open = OpenDataset::open(&file, &header)?;
                    open.close_sources();
                    return Ok((file, open));
                }
                Resolved::Object(_) => return Err(Error::Misuse("the object is no dataset".into())),
                Resolved::External { file: other, path } => {
                    file = self.file(&file, &other)?;
                    name = path;
                }
            }
        }
        Err(Error::Misuse(format!("more than {MAX_DEPTH} external links lead on to each other")))
    }

    /// A file that `parent` names, open for writing; each is open once.
    fn file(&self, parent: &Arc<OpenFile>, name: &[u8]) -> Result<Arc<OpenFile>> {
        if name == b"." {
            return Ok(Arc::clone(parent));
        }
        let Some(resolver) = &parent.resolver else {
            return Err(Error::Misuse("links to other files are not followed".into()));
        };
        if resolver.is_own(name) {
            return Ok(Arc::clone(parent));
        }
        let mut others = self.others.borrow_mut();
        let known = others.iter().find(|other| Arc::ptr_eq(&other.parent, parent) && other.name == name);
        if let Some(other) = known {
            return Ok(Arc::clone(&other.file));
        }
        let opened = resolver.open_to_write(name)?;
        let identity = |file: &OpenFile| file.container.store.driver().identity();
        let this = identity(&opened);
        let same = |file: &&Arc<OpenFile>| this.is_some() && identity(file) == this;
        let known = others.iter().map(|other| &other.file).find(same).cloned();
        let same = known.or_else(|| Some(self.root).filter(same).map(Arc::clone));
        let file = same.unwrap_or(opened);
        others.push(Other { parent: Arc::clone(parent), name: name.to_vec(), file: Arc::clone(&file) });
        Ok(file)
    }

    /// Writes what was changed in other files.
    fn close(self) -> Result<()> {
        let others = self.others.into_inner();
        let mut closed: Vec<Arc<OpenFile>> = vec![Arc::clone(self.root)];
        for Other { file, .. } in others {
            if !closed.iter().any(|other| Arc::ptr_eq(other, &file)) {
                file.close().map_err(|error| error.context(format!("`{}`", file.container.store.name())))?;
                closed.push(file);
            }
        }
        Ok(())
    }
}

impl SourceShapes for Shapes<'_> {
    fn shape(&self, file: &[u8], dataset: &[u8]) -> Result<Option<Dims>> {
        let found = self.targets.find(self.file, file, dataset)?;
        Ok(found.map(|(_, open)| Dims::from_slice(open.description.dataspace.dims())))
    }
}
