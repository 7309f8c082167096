//! The import of images: one image becomes a dataset of its rows and columns; several images, or
//! the pages of a TIFF file, become a stack.

use anyhow::{Context as _, Result, bail};
use hyperslab::filter::FilterSpec;
use hyperslab::{Dataset, FixedText, Region, Scalar};
use hyperslab_exact::sum;

use super::Kind;
use crate::formats::image::{Frame, ImageReader};
use crate::formats::new_object::NewObject;
use crate::formats::storage::Storage;
use crate::input::Input;

/// The size of the largest chunk for imported image frames, in bytes. Larger frames are divided
/// into several chunks.
const MAX_CHUNK_BYTES: u64 = 16 << 20;

/// The compression level of the default deflate filter for imported images.
const LEVEL: u32 = 6;

/// A stack of images to import. All images have the same size and pixel type.
pub(crate) struct Stack {
    inputs: Vec<(Input, Kind)>,
    frame: Frame,
    count: u64,
}

impl Stack {
    /// Opens images and reads their headers. Returns an error if the images have different sizes or
    /// types.
    pub(crate) fn open(inputs: Vec<Input>) -> Result<Self> {
        let mut all = Vec::new();
        let mut first: Option<(Frame, String)> = None;
        let mut count = 0_u64;
        for input in inputs {
            let shown = input.name().display().to_string();
            let named = || format!("`{shown}`");
            let kind = kind(&input).with_context(named)?;
            let mut reader = kind.open(input.path()).with_context(named)?;
            while let Some(frame) = reader.next().with_context(named)? {
                count = sum("number of images", [count, 1])?;
                match &first {
                    None => first = Some((frame, shown.clone())),
                    Some((expected, name)) if *expected != frame => {
                        bail!(
                            "all images must have the same size and type: `{shown}` has {frame}; `{name}` has {expected}"
                        )
                    }
                    Some(_) => {}
                }
            }
            all.push((input, kind));
        }
        let (frame, _) = first.context("the input has no images")?;
        Ok(Self { inputs: all, frame, count })
    }

    /// Returns true if the imported stack has several images. In this case, the dataset has a
    /// dimension for the images.
    fn is_stack(&self) -> bool {
        self.count > 1
    }

    /// Imports the images into a new dataset. Without a chunk shape, each frame is a chunk. If
    /// `is_default` is set, the filters are shuffle and deflate.
    pub(crate) fn write(&self, new: &NewObject<'_>, storage: &Storage<'_>, is_default: bool) -> Result<()> {
        let mut shape = self.frame.shape();
        let mut chunks = self.chunk()?;
        if self.is_stack() {
            shape.insert(0, self.count);
            chunks.insert(0, 1);
        }
        let filters = if is_default { self.filters() } else { storage.filters.clone() };
        let storage = Storage { chunks: storage.chunks.or(Some(&chunks)), filters };
        let builder = new.dataset().datatype(self.frame.datatype.clone()).shape(&shape);
        let dataset = storage.apply(builder, shape.len())?.create()?;
        self.describe(&dataset)?;
        let mut number = 0;
        for (input, kind) in &self.inputs {
            let written = self.write_frames(&dataset, kind.open(input.path())?, &mut number);
            written.with_context(|| format!("`{}`", input.name().display()))?;
        }
        if number != self.count {
            bail!("the input changed during the import: it had {} images, and now has {number}", self.count);
        }
        Ok(())
    }

    /// Writes the frames of an image file to the dataset. `number` is the number of frames from
    /// earlier files.
    fn write_frames(
        &self,
        dataset: &Dataset,
        mut reader: Box<dyn ImageReader>,
        number: &mut u64,
    ) -> Result<()> {
        while let Some(frame) = reader.next()? {
            if frame != self.frame || *number >= self.count {
                bail!("the image file changed during the import");
            }
            let mut start = vec![0; frame.shape().len()];
            let mut count = frame.shape();
            if self.is_stack() {
                start.insert(0, *number);
                count.insert(0, 1);
            }
            dataset.write_stored(&Region::new(&start, &count)?, &reader.read()?)?;
            *number += 1;
        }
        Ok(())
    }

    /// Returns the chunk shape for an image frame: the whole frame, or a part of its rows.
    fn chunk(&self) -> Result<Vec<u64>> {
        let mut chunk = self.frame.shape();
        let rows = self.frame.height.max(1);
        let row_bytes = (self.frame.bytes()? / rows).max(1);
        if let Some(height) = chunk.first_mut() {
            // Parts of about the same number of rows.
            let parts = rows.div_ceil((MAX_CHUNK_BYTES / row_bytes).max(1));
            *height = rows.div_ceil(parts);
        }
        Ok(chunk)
    }

    fn filters(&self) -> Vec<FilterSpec> {
        let shuffle = (self.frame.datatype.size > 1).then(FilterSpec::shuffle);
        shuffle.into_iter().chain([FilterSpec::deflate(LEVEL)]).collect()
    }

    /// Sets the attributes by which other programs recognize an image. The HDF5 Image Specification
    /// covers only single images with samples of 8 and 16 bits.
    fn describe(&self, dataset: &Dataset) -> Result<()> {
        let subclass = match self.frame.samples {
            1 => "IMAGE_GRAYSCALE",
            3 => "IMAGE_TRUECOLOR",
            _ => return Ok(()),
        };
        if self.is_stack() || self.frame.datatype.size > 2 {
            return Ok(());
        }
        let set = |name: &str, value: &str| -> Result<()> {
            let text = FixedText::<20>::new(value).context("the text of an image attribute is too long")?;
            Ok(dataset.set_attribute(name, Scalar(text))?)
        };
        set("CLASS", "IMAGE")?;
        set("IMAGE_VERSION", "1.2")?;
        set("IMAGE_SUBCLASS", subclass)?;
        if self.frame.samples > 1 {
            set("INTERLACE_MODE", "INTERLACE_PIXEL")?;
        }
        Ok(())
    }
}

/// Returns the image format of an input file. Recognizes the format by the first bytes.
fn kind(input: &Input) -> Result<Kind> {
    std::fs::File::open(input.path())?;
    Kind::by_bytes(&input.head()).context("the file is neither a PNG nor a TIFF image")
}
