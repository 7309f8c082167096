//! The export of a dataset as images: one for each frame, or the pages of a TIFF file.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::DatatypeClass;
use hyperslab::vfd::is_same_file;
use hyperslab::{Column, Dataset, Datatype};
use hyperslab_exact::{product, to_usize};
use tempfile::{NamedTempFile, TempPath};

use super::pattern::Pattern;
use super::{ExportOptions, Kind, Pixels};
use crate::formats::image::Size;
use crate::interrupted::new_file_for;
use crate::output_target::{Content, OutputTarget};
use crate::selection::{Taken, selection};

/// Exports the selected elements as images to `out`. If the name contains a pattern such as `%04d`,
/// each frame becomes a file, and all files appear when the export ends. `source` is the HDF5 file
/// of the dataset.
pub(crate) fn export(
    dataset: &Dataset,
    taken: Vec<Taken>,
    (out, source): (&Path, &Path),
    options: ExportOptions,
) -> Result<()> {
    let frames = Frames::new(dataset, taken, options.pixels)?;
    match Pattern::of(out) {
        Some(pattern) => files(&frames, &pattern, source, options),
        None if options.kind == Kind::Png && frames.count != 1 => bail!(
            "`{}` has {} images, but a PNG file holds only one; with a number in the file name, such as \
             `frame-%04d.png`, each image becomes a file",
            dataset.name(),
            frames.count
        ),
        None => {
            let mut output = OutputTarget::named(out, source, Content::Bytes)?;
            // The writers of images need a file.
            let mut made = NamedTempFile::with_prefix("hyperslab-")?;
            write(&frames, made.reopen()?, 0..frames.count, options)?;
            std::io::copy(&mut made, &mut output)?;
            output.finish()
        }
    }
}

/// Writes an image file for each frame of the exported dataset.
fn files(frames: &Frames<'_>, pattern: &Pattern, source: &Path, options: ExportOptions) -> Result<()> {
    let mut made: Vec<(TempPath, PathBuf)> = Vec::new();
    for number in 0..frames.count {
        let path = pattern.path(number);
        if is_same_file(&path, source) {
            bail!("the output file `{}` is the input file: name another output file", path.display());
        }
        let file = new_file_for(&path, "")?;
        let written = write(frames, file.reopen()?, number..number + 1, options);
        written.with_context(|| format!("cannot write `{}`", path.display()))?;
        made.push((file.into_temp_path(), path));
    }
    for (file, path) in made {
        file.persist(&path).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

/// Writes a range of frames of the exported dataset to one image file.
fn write(frames: &Frames<'_>, out: File, range: std::ops::Range<u64>, options: ExportOptions) -> Result<()> {
    let mut writer = options.kind.writer(out, frames.bytes()?, options.level)?;
    for number in range {
        writer.write(frames.size, &frames.read(number)?)?;
    }
    writer.finish()
}

/// The selected elements of an exported dataset, divided into image frames.
struct Frames<'a> {
    dataset: &'a Dataset,
    /// The dimensions before those of a frame are the numbers of the frames.
    taken: Vec<Taken>,
    /// The positions in `taken` of the dimensions that number the frames.
    numbering: Vec<usize>,
    size: Size,
    count: u64,
}

impl<'a> Frames<'a> {
    fn new(dataset: &'a Dataset, taken: Vec<Taken>, pixels: Option<Pixels>) -> Result<Self> {
        let kept: Vec<usize> =
            taken.iter().enumerate().filter(|(_, dimension)| dimension.kept).map(|(at, _)| at).collect();
        let count = |at: &usize| taken.get(*at).map_or(0, |dimension| dimension.count);
        let last = kept.last().map(count);
        let is_color = match pixels {
            Some(pixels) => pixels == Pixels::Color,
            None => kept.len() > 2 && matches!(last, Some(3 | 4)) && has_colors(dataset.datatype()),
        };
        let rank = if is_color { 3 } else { 2 };
        let Some(numbers) = kept.len().checked_sub(rank) else {
            bail!(
                "the selection of `{}` has {} dimensions, but an image needs {rank}: rows and columns{}",
                dataset.name(),
                kept.len(),
                if is_color { ", and the samples of a pixel" } else { "" }
            );
        };
        let (numbering, frame) = kept.split_at(numbers);
        let size = Size::of(&frame.iter().map(count).collect::<Vec<u64>>())?;
        let count = product("number of images", numbering.iter().map(count))?;
        if count == 0 {
            bail!("`{}` has no images", dataset.name());
        }
        let numbering = numbering.to_vec();
        Ok(Self { dataset, taken, numbering, size, count })
    }

    /// Returns the size of the samples of all image frames, in bytes.
    fn bytes(&self) -> Result<u64> {
        let counts = self.taken.iter().map(|dimension| dimension.count);
        // Samples of 16 bits grow to 32 bits in some formats.
        let size = self.dataset.datatype().size.max(4);
        Ok(product("size of the images", counts.chain([size.into()]))?)
    }

    /// Reads the samples of the image frame with the given number.
    fn read(&self, number: u64) -> Result<Column> {
        let mut taken = self.taken.clone();
        let mut rest = number;
        for at in self.numbering.iter().rev() {
            let dimension = taken.get_mut(*at).context("a dimension of the image is missing")?;
            let count = dimension.count.max(1);
            *dimension = Taken { start: dimension.at(rest % count), count: 1, ..*dimension };
            rest /= count;
        }
        let column = self.dataset.read_stored(selection(&taken))?.column()?;
        if matches!(column, Column::Bool(_)) {
            bail!("truth values cannot be samples of images");
        }
        let size = [self.size.width.into(), self.size.height.into(), self.size.samples];
        if column.len() != to_usize(product("number of samples", size)?)? {
            bail!(
                "image {number} has {} samples, which is not its height x width x samples of a pixel",
                column.len()
            );
        }
        Ok(column)
    }
}

/// Returns true if colour images usually have samples of this datatype: unsigned integers of 8 or
/// 16 bits.
fn has_colors(datatype: &Datatype) -> bool {
    matches!(&datatype.class, DatatypeClass::FixedPoint(integers) if !integers.signed) && datatype.size <= 2
}
