//! The conversion of images to and from datasets. Several frames are a stack: the first dimension
//! of the dataset.

#[cfg(not(feature = "images"))]
mod absent;
#[cfg(feature = "images")]
mod export;
#[cfg(feature = "images")]
mod import;
#[cfg(feature = "images")]
mod kind;
#[cfg(feature = "images")]
mod pattern;

use std::path::Path;

#[cfg(not(feature = "images"))]
pub(crate) use self::absent::{Stack, export};
#[cfg(feature = "images")]
pub(crate) use self::export::export;
#[cfg(feature = "images")]
pub(crate) use self::import::Stack;

/// An image file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Png,
    Tiff,
}

impl Kind {
    /// Returns the image format for the extension of a path.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_lowercase().as_str() {
            "png" => Some(Self::Png),
            "tif" | "tiff" => Some(Self::Tiff),
            _ => None,
        }
    }

    /// Returns the image format for the first bytes of a file.
    pub(crate) fn by_bytes(head: &[u8]) -> Option<Self> {
        let starts: [(&[u8], Self); 5] = [
            (b"\x89PNG\r\n\x1a\n", Self::Png),
            (b"II*\0", Self::Tiff),
            (b"MM\0*", Self::Tiff),
            // Offsets of 64 bits.
            (b"II+\0", Self::Tiff),
            (b"MM\0+", Self::Tiff),
        ];
        starts.into_iter().find(|(start, _)| head.starts_with(start)).map(|(_, kind)| kind)
    }
}

/// The meaning of the last dimension of exported images: columns of pixels, or the samples of one
/// pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Pixels {
    /// The columns of gray pixels
    Gray,
    /// The samples of colored pixels: red, green, blue, and opacity
    Color,
}

/// The options of an export of elements as images.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "images"), expect(dead_code, reason = "the writers need the feature"))]
pub(crate) struct ExportOptions {
    pub(crate) kind: Kind,
    /// `None`: the last dimension has samples if it has 3 or 4 elements of unsigned 8 or 16 bits.
    pub(crate) pixels: Option<Pixels>,
    /// The compression level, 0 to 9.
    pub(crate) level: Option<u8>,
}
