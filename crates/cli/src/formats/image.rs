//! Images as sequences of frames: the common interface of the formats of images.

use anyhow::{Context as _, Result, bail};
use hyperslab::{Column, Datatype};
use hyperslab_exact::{product, to_usize};

/// The largest ratio between the size of an image's pixels and the size of the image file. Deflate
/// compresses at most by a factor of 1032.
const MAX_RATIO: u64 = 1100;

/// The largest size of an image's pixels, in bytes, for which the size of the image file is not
/// checked.
const SMALL_FRAME: u64 = 1 << 20;

/// The size of an image frame and the type of its pixels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) height: u64,
    pub(crate) width: u64,
    /// The number of samples of a pixel: 1 for gray, 3 for red, green and blue; with one more for
    /// the opacity.
    pub(crate) samples: u64,
    /// The datatype of a sample.
    pub(crate) datatype: Datatype,
}

impl Frame {
    /// Returns the shape of an array for the image frame: rows, columns, and samples if a pixel has
    /// several.
    pub(crate) fn shape(&self) -> Vec<u64> {
        let mut shape = vec![self.height, self.width];
        shape.extend((self.samples > 1).then_some(self.samples));
        shape
    }

    /// Returns the size of all samples of the image frame, in bytes.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let size = u64::from(self.datatype.size);
        Ok(product("size of a frame", [self.height, self.width, self.samples, size])?)
    }

    /// Returns an error if the samples of an image are too large for an image file of `file` bytes.
    pub(crate) fn check_size(&self, file: u64) -> Result<()> {
        let largest = largest_frame(file);
        let bytes = self.bytes()?;
        if bytes > largest {
            bail!(
                "the image claims {} × {} pixels, which a file of {file} bytes cannot hold",
                self.width,
                self.height
            );
        }
        Ok(())
    }
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} × {} pixels of {} samples, {}", self.width, self.height, self.samples, self.datatype)
    }
}

/// Returns the size of the largest frame that an image file of `file` bytes can contain, in bytes.
pub(super) fn largest_frame(file: u64) -> u64 {
    // A file of more bytes than this product allows has no limit.
    file.checked_mul(MAX_RATIO).map_or(u64::MAX, |bytes| bytes.max(SMALL_FRAME))
}

/// A reader of the frames of an image file, in order.
pub(crate) trait ImageReader {
    /// Moves to the next frame of the image file and returns its size and type. Returns `None`
    /// after the last frame.
    fn next(&mut self) -> Result<Option<Frame>>;

    /// Reads the samples of the image frame, in C order and in the datatype of the frame.
    fn read(&mut self) -> Result<Vec<u8>>;
}

/// A writer of the frames of an image file, in order.
pub(crate) trait ImageWriter {
    /// Appends a frame to the image file. The samples are in C order.
    fn write(&mut self, size: Size, samples: &Column) -> Result<()>;

    /// Completes the image file.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// The size of a frame that is written to an image file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) samples: u64,
}

impl Size {
    /// Returns the size of an image frame from its dimensions: rows, columns, and samples if there
    /// are three dimensions.
    pub(crate) fn of(dims: &[u64]) -> Result<Self> {
        let (height, width, samples) = match *dims {
            [height, width] => (height, width, 1),
            [height, width, samples] => (height, width, samples),
            _ => bail!(
                "an image must have two dimensions, or three dimensions of which the last one holds the \
                 samples of a pixel"
            ),
        };
        if height == 0 || width == 0 {
            bail!("an image of {width} × {height} pixels is empty");
        }
        let side = |side: u64| {
            u32::try_from(side).ok().with_context(|| format!("an image cannot have {side} rows or columns"))
        };
        Ok(Self { width: side(width)?, height: side(height)?, samples })
    }
}

/// Converts the size of an image in bytes to `usize`.
pub(super) fn in_memory(bytes: u64) -> Result<usize> {
    Ok(to_usize(bytes)?)
}
