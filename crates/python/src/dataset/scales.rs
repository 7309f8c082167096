//! Dimension scales.

use crate::ending::Detached as _;
use pyo3::prelude::*;

use super::Dataset;
use crate::errors::OrRaise;
use crate::object::Object;
use crate::process::in_pool;

#[pymethods]
impl Dataset {
    /// Returns the name of the dimension scale that the dataset is; `None` if it is none.
    fn scale_name(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let facade = self.facade()?;
        py.detached(|| {
            in_pool(|| {
                let dimensions = facade.dimensions();
                if dimensions.is_scale()? {
                    Ok(Some(dimensions.scale_name()?.unwrap_or_default()))
                } else {
                    Ok(None)
                }
            })
        })
        .or_raise()
    }

    /// Makes the dataset a dimension scale.
    fn make_scale(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let facade = self.facade()?;
        py.detached(|| in_pool(|| facade.dimensions().make_scale(name))).or_raise()
    }

    /// Returns the label of a dimension.
    fn dimension_label(&self, py: Python<'_>, axis: usize) -> PyResult<String> {
        let facade = self.facade()?;
        py.detached(|| in_pool(|| facade.dimensions().label(axis))).or_raise()
    }

    /// Sets the label of a dimension.
    fn set_dimension_label(&self, py: Python<'_>, axis: usize, label: &str) -> PyResult<()> {
        let facade = self.facade()?;
        py.detached(|| in_pool(|| facade.dimensions().set_label(axis, label))).or_raise()
    }

    /// Returns the scales of a dimension.
    fn scales(&self, py: Python<'_>, axis: usize) -> PyResult<Vec<Py<Self>>> {
        let facade = self.facade()?;
        let scales = py.detached(|| in_pool(|| facade.dimensions().scales(axis))).or_raise()?;
        scales.into_iter().map(|scale| Self::create(self.session(), scale, py)).collect()
    }

    /// Attaches a dimension scale to a dimension.
    fn attach_scale(&self, py: Python<'_>, axis: usize, scale: &Bound<'_, Object>) -> PyResult<()> {
        let (facade, scale) = (self.facade()?, scale.get().facade()?.into_dataset().or_raise()?);
        py.detached(|| in_pool(|| facade.dimensions().attach(axis, &scale))).or_raise()
    }

    /// Detaches a dimension scale from a dimension.
    fn detach_scale(&self, py: Python<'_>, axis: usize, scale: &Bound<'_, Object>) -> PyResult<()> {
        let (facade, scale) = (self.facade()?, scale.get().facade()?.into_dataset().or_raise()?);
        py.detached(|| in_pool(|| facade.dimensions().detach(axis, &scale))).or_raise()
    }

    /// Returns whether a scale is attached to a dimension.
    fn is_scale_attached(&self, py: Python<'_>, axis: usize, scale: &Bound<'_, Object>) -> PyResult<bool> {
        let (facade, scale) = (self.facade()?, scale.get().facade()?.into_dataset().or_raise()?);
        py.detached(|| in_pool(|| facade.dimensions().is_attached(axis, &scale))).or_raise()
    }
}
