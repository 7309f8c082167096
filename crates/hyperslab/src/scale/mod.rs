//! Dimension scales: datasets with the coordinates of the dimensions of other datasets.

mod stored;

use hyperslab_engine::ops::objects::ObjectHeader;
use hyperslab_engine::store::Edit;
use hyperslab_engine::{Address, Error, Result};

use crate::{Dataset, Object, Reference, ReferenceTarget};
use stored::Parts;

/// A view of a dataset with its dimension scales and the labels of its dimensions, as the HDF5
/// Dimension Scale Specification defines them; made by [`Dataset::dimensions`].
///
/// A dimension scale is a dataset that describes a dimension of other datasets, for instance the
/// times of a series. Each dimension can have several scales, and a label. A scale cannot have
/// scales. The numbers of dimensions count from 0, slowest first. netCDF-4 and h5py read and write
/// the same scales and labels.
///
/// ```
/// let file = hyperslab::FileOptions::new().create_in_memory()?;
/// let time = file.new_dataset("time").write(&[0.0, 0.5, 1.0])?;
/// let rain = file.new_dataset("rain").of::<f64>().shape(&[3, 2]).create()?;
/// time.dimensions().make_scale("time in hours")?;
/// rain.dimensions().attach(0, &time)?;
/// rain.dimensions().set_label(1, "station")?;
/// let times = rain.dimensions().scales(0)?;
/// assert_eq!(times[0].read_raw::<f64>(..)?, [0.0, 0.5, 1.0]);
/// assert_eq!(times[0].dimensions().scale_name()?.as_deref(), Some("time in hours"));
/// assert_eq!(rain.dimensions().label(1)?, "station");
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Dimensions<'a> {
    dataset: &'a Dataset,
}

impl Dataset {
    /// Returns a view of the dataset with its dimension scales and the labels of its dimensions.
    pub fn dimensions(&self) -> Dimensions<'_> {
        Dimensions { dataset: self }
    }
}

impl Dimensions<'_> {
    /// Returns `true` if the dataset is a dimension scale.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let time = file.new_dataset("time").write(&[0, 1])?;
    /// assert!(!time.dimensions().is_scale()?);
    /// time.dimensions().make_scale("time")?;
    /// assert!(time.dimensions().is_scale()?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the attributes are damaged.
    pub fn is_scale(&self) -> Result<bool> {
        self.read(|parts: &Parts<'_>| parts.is_scale())
    }

    /// Returns the name of the dimension scale. Returns `None` if the dataset is no scale, or a
    /// scale without a name. For a dimension without coordinates, netCDF-4 writes a name that
    /// begins with `This is a netCDF dimension but not a netCDF variable`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the name is not UTF-8, and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the attributes are damaged.
    pub fn scale_name(&self) -> Result<Option<String>> {
        self.read(|parts| if parts.is_scale()? { parts.name() } else { Ok(None) })
    }

    /// Makes the dataset a dimension scale with the name `name`. If the dataset is a scale already,
    /// replaces the name.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let time = file.new_dataset("time").write(&[0, 1])?;
    /// time.dimensions().make_scale("hours")?;
    /// assert_eq!(time.dimensions().scale_name()?.as_deref(), Some("hours"));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has scales, if it has
    /// an attribute `CLASS` with another value, or if the file is open for reading only.
    pub fn make_scale(&self, name: &str) -> Result<()> {
        self.change("cannot make a dimension scale", |parts, edit| {
            if parts.has_scales()? {
                return Err(Error::Misuse("the dataset has dimension scales, so it cannot be one".into()));
            }
            parts.set_class(edit)?;
            parts.set_name(edit, name)
        })
    }

    /// Returns the label of the dimension `axis`. The label is empty if none was set.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let rain = file.new_dataset("rain").write(&[0.5, 1.5])?;
    /// assert_eq!(rain.dimensions().label(0)?, "");
    /// rain.dimensions().set_label(0, "time")?;
    /// assert_eq!(rain.dimensions().label(0)?, "time");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no dimension
    /// `axis` or the label is not UTF-8, and [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if
    /// the attributes are damaged.
    pub fn label(&self, axis: usize) -> Result<String> {
        self.check_axis(axis)?;
        self.read(|parts| {
            let label = parts.labels()?.into_iter().nth(axis).ok_or_else(lacks_axis)?;
            String::from_utf8(label).map_err(|error| {
                Error::Misuse(format!("the label \"{}\" is not UTF-8", error.as_bytes().escape_ascii()))
            })
        })
    }

    /// Sets the label of the dimension `axis`. An empty text removes the label.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no dimension
    /// `axis`, or if the file is open for reading only.
    pub fn set_label(&self, axis: usize, label: &str) -> Result<()> {
        self.check_axis(axis)?;
        self.change("cannot set the label of a dimension", |parts, edit| {
            let mut labels = parts.labels()?;
            *labels.get_mut(axis).ok_or_else(lacks_axis)? = label.as_bytes().to_vec();
            parts.set_labels(edit, &labels)
        })
    }

    /// Returns the dimension scales that are attached to the dimension `axis`, in the order of
    /// their attachment.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no dimension
    /// `axis`. Returns an error if the attributes are damaged or a scale was deleted.
    pub fn scales(&self, axis: usize) -> Result<Vec<Dataset>> {
        self.check_axis(axis)?;
        let object = self.object();
        let targets = self.read(|parts| parts.scales()?.into_iter().nth(axis).ok_or_else(lacks_axis))?;
        let open = |target| {
            let target = ReferenceTarget::new(&object.file().container.store, target);
            Reference::new(object.file().clone(), target).object()?.into_dataset()
        };
        let scales = targets.into_iter().map(open).collect::<Result<Vec<Dataset>>>();
        scales.map_err(|error| self.context("cannot open a dimension scale", error))
    }

    /// Attaches the dimension scale `scale` to the dimension `axis` of the dataset. If it is
    /// attached to this dimension already, changes nothing. If `scale` is no dimension scale, it
    /// becomes one without a name.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let time = file.new_dataset("time").write(&[0, 1])?;
    /// let rain = file.new_dataset("rain").write(&[0.5, 1.5])?;
    /// rain.dimensions().attach(0, &time)?;
    /// assert!(rain.dimensions().is_attached(0, &time)?);
    /// rain.dimensions().detach(0, &time)?;
    /// assert!(rain.dimensions().scales(0)?.is_empty());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// The attributes of both datasets change in the same commit. The length of the scale may
    /// differ from the size of the dimension.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no dimension
    /// `axis`, if the dataset is itself a scale, if `scale` has scales or is in another file, or if
    /// the file is open for reading only.
    pub fn attach(&self, axis: usize, scale: &Dataset) -> Result<()> {
        self.check_axis(axis)?;
        self.check_file(scale)?;
        self.change("cannot attach a dimension scale", |parts, edit| {
            if parts.is_scale()? {
                return Err(Error::Misuse(
                    "the dataset is a dimension scale, so it cannot have scales".into(),
                ));
            }
            let (scale, dataset) = (scale.object().address(), self.object().address());
            let header = self.header_at(scale)?;
            let of_scale = self.parts(&header);
            if scale == dataset || of_scale.has_scales()? {
                return Err(Error::Misuse("a dataset with scales cannot be a dimension scale".into()));
            }
            let mut scales = parts.scales()?;
            let mut users = of_scale.users()?;
            let list = scales.get_mut(axis).ok_or_else(lacks_axis)?;
            if stored::position(list, scale).is_some() {
                return Ok(());
            }
            list.push(stored::object(scale));
            users.push(stored::user(dataset, axis)?);
            if !of_scale.is_scale()? {
                of_scale.set_class(edit)?;
            }
            parts.set_scales(edit, &scales)?;
            of_scale.set_users(edit, &users)
        })
    }

    /// Detaches the dimension scale `scale` from the dimension `axis` of the dataset. Without its
    /// last scale, the dataset loses the attribute `DIMENSION_LIST`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the scale is not attached to
    /// this dimension. Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has
    /// no dimension `axis`, if `scale` is in another file, or if the file is open for reading only.
    pub fn detach(&self, axis: usize, scale: &Dataset) -> Result<()> {
        self.check_axis(axis)?;
        self.check_file(scale)?;
        let name = scale.name().to_owned();
        self.change("cannot detach a dimension scale", |parts, edit| {
            let (scale, dataset) = (scale.object().address(), self.object().address());
            let header = self.header_at(scale)?;
            let of_scale = self.parts(&header);
            let mut scales = parts.scales()?;
            let list = scales.get_mut(axis);
            let found = list.and_then(|list| stored::position(list, scale).map(|at| list.remove(at)));
            found.ok_or(Error::NotFound { subject: "attached dimension scale", name })?;
            let mut users = of_scale.users()?;
            let gone = stored::user(dataset, axis)?;
            users.retain(|user| *user != gone);
            parts.set_scales(edit, &scales)?;
            of_scale.set_users(edit, &users)
        })
    }

    /// Returns `true` if the dimension scale `scale` is attached to the dimension `axis` of the
    /// dataset.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no dimension
    /// `axis`, and [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the attributes are damaged.
    pub fn is_attached(&self, axis: usize, scale: &Dataset) -> Result<bool> {
        self.check_axis(axis)?;
        if !self.is_in_file(scale) {
            return Ok(false);
        }
        let scale = scale.object().address();
        self.read(|parts| {
            Ok(parts.scales()?.get(axis).is_some_and(|list| stored::position(list, scale).is_some()))
        })
    }

    fn object(&self) -> &Object {
        self.dataset.object()
    }

    /// Returns the number of dimensions of the dataset, which never changes.
    fn rank(&self) -> usize {
        self.dataset.description().dataspace.rank()
    }

    fn context(&self, subject: &str, error: Error) -> Error {
        error.context(format!("{subject}: dataset `{}`", self.dataset.name()))
    }

    /// Returns an error unless the dataset has a dimension `axis`.
    fn check_axis(&self, axis: usize) -> Result<()> {
        let rank = self.rank();
        if axis < rank {
            return Ok(());
        }
        Err(self
            .dataset
            .context(Error::Misuse(format!("the dataset has {rank} dimensions, but no dimension {axis}"))))
    }

    /// Returns `true` if the dimension scale `scale` is in the file of the dataset.
    fn is_in_file(&self, scale: &Dataset) -> bool {
        std::sync::Arc::ptr_eq(self.object().file(), scale.object().file())
    }

    fn check_file(&self, scale: &Dataset) -> Result<()> {
        if self.is_in_file(scale) {
            return Ok(());
        }
        let message = format!("the dimension scale `{}` is in another open file", scale.name());
        Err(self.dataset.context(Error::Misuse(message)))
    }

    fn parts<'a>(&'a self, header: &'a ObjectHeader) -> Parts<'a> {
        Parts { file: self.object().file(), rank: self.rank(), header }
    }

    fn header_at(&self, address: Address) -> Result<ObjectHeader> {
        ObjectHeader::load(&self.object().file().container.store, address)
    }

    /// Calls `work` with the attributes of the dataset that describe dimension scales.
    fn read<T>(&self, work: impl FnOnce(&Parts<'_>) -> Result<T>) -> Result<T> {
        let (header, _reading) = self.object().header_held()?;
        work(&self.parts(&header)).map_err(|error| self.context("dimension scales", error))
    }

    /// Changes the file: calls `work` with exclusive access, and with the attributes of the dataset
    /// that describe dimension scales.
    fn change(
        &self,
        subject: &str,
        work: impl FnOnce(&Parts<'_>, &mut Edit<'_>) -> Result<()>,
    ) -> Result<()> {
        let context = || format!("{subject}: dataset `{}`", self.dataset.name());
        self.object().change(context, |edit| {
            let header = self.header_at(self.object().address())?;
            work(&self.parts(&header), edit)
        })
    }
}

/// Returns the error that an attribute has no element for a checked dimension.
fn lacks_axis() -> Error {
    Error::internal("dimension scales", "an attribute has one element for each dimension")
}
