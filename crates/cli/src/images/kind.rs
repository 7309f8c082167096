//! The reader and the writer of each image format.

use std::fs::File;
use std::path::Path;

use anyhow::Result;

use super::Kind;
use crate::formats::image::{ImageReader, ImageWriter};
use crate::formats::{png, tiff};

impl Kind {
    /// Opens an image file for reading.
    pub(super) fn open(self, path: &Path) -> Result<Box<dyn ImageReader>> {
        Ok(match self {
            Self::Png => Box::new(png::Reader::open(path)?),
            Self::Tiff => Box::new(tiff::Reader::open(path)?),
        })
    }

    /// Returns the writer of a new image file. `bytes` is the size of all samples in the file.
    pub(super) fn writer(self, out: File, bytes: u64, level: Option<u8>) -> Result<Box<dyn ImageWriter>> {
        Ok(match self {
            Self::Png => Box::new(png::Writer::new(out, level)),
            Self::Tiff => tiff::writer(out, bytes, level)?,
        })
    }
}
