//! The import and the export of images in a build without the feature `images`: errors that name
//! the feature.

use std::path::Path;

use anyhow::Result;
use hyperslab::Dataset;

use super::ExportOptions;
use crate::formats::new_object::NewObject;
use crate::formats::storage::Storage;
use crate::input::Input;
use crate::missing_feature::missing_feature;
use crate::selection::Taken;

/// A stack of images in a build without image support. The type has no values.
pub(crate) enum Stack {}

impl Stack {
    /// Returns the error that this build has no support for images.
    pub(crate) fn open(_: Vec<Input>) -> Result<Self> {
        Err(missing_feature("PNG and TIFF images"))
    }

    /// Writes nothing, because this build opens no images. A value of this type does not exist.
    pub(crate) fn write(&self, _: &NewObject<'_>, _: &Storage<'_>, _: bool) -> Result<()> {
        match *self {}
    }
}

/// Returns the error that this build has no support for images.
pub(crate) fn export(_: &Dataset, _: Vec<Taken>, _: (&Path, &Path), _: ExportOptions) -> Result<()> {
    Err(missing_feature("PNG and TIFF images"))
}
