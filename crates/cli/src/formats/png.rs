//! The reader and the writer of PNG images, which have one frame.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::ByteOrder;
use hyperslab::{Column, Datatype};
use png::{
    BitDepth, ColorType, DecodeOptions, Decoder, DeflateCompression, Encoder, Info, Limits, Transformations,
};

use super::image::{Frame, ImageReader, ImageWriter, Size, in_memory, largest_frame};

/// A reader of an open PNG image.
pub(crate) struct Reader {
    image: png::Reader<BufReader<File>>,
    frame: Frame,
    /// True until the first call of `next`.
    is_new: bool,
}

impl Reader {
    /// Opens a PNG image and reads its header. Palette indexes become colors, and grays of less
    /// than 8 bits become grays of 8 bits.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let size = fs::metadata(path)?.len();
        let mut options = DecodeOptions::default();
        options.set_ignore_adler32(false);
        let mut decoder = Decoder::new_with_options(BufReader::new(File::open(path)?), options);
        decoder.set_limits(Limits { bytes: in_memory(largest_frame(size))? });
        decoder.set_transformations(Transformations::EXPAND);
        let header = decoder.read_header_info()?;
        // The reader allocates memory for rows, so that the size is checked first.
        frame(header, (header.color_type, header.bit_depth)).check_size(size)?;
        let image = decoder.read_info()?;
        if let Some(animation) = image.info().animation_control() {
            bail!("the PNG image is an animation of {} frames, which is not supported", animation.num_frames);
        }
        let frame = frame(image.info(), image.output_color_type());
        frame.check_size(size)?;
        Ok(Self { image, frame, is_new: true })
    }
}

/// Returns the frame size and pixel type that a PNG header states.
fn frame(info: &Info<'_>, (color, depth): (ColorType, BitDepth)) -> Frame {
    let samples = match color {
        ColorType::Grayscale | ColorType::Indexed => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
    };
    let datatype = match depth {
        BitDepth::Sixteen => Datatype::u16(ByteOrder::LittleEndian),
        _ => Datatype::u8(),
    };
    Frame { height: info.height.into(), width: info.width.into(), samples, datatype }
}

impl ImageReader for Reader {
    fn next(&mut self) -> Result<Option<Frame>> {
        let is_new = std::mem::replace(&mut self.is_new, false);
        Ok(is_new.then(|| self.frame.clone()))
    }

    fn read(&mut self) -> Result<Vec<u8>> {
        let mut samples = vec![0; in_memory(self.frame.bytes()?)?];
        let size = self.image.output_buffer_size().context("the image does not fit in memory")?;
        if size != samples.len() {
            bail!("the PNG image has {size} bytes of samples instead of {}", samples.len());
        }
        self.image.next_frame(&mut samples)?;
        self.image.finish()?;
        if self.frame.datatype.size == 2 {
            let (pairs, _) = samples.as_chunks_mut::<2>();
            pairs.iter_mut().for_each(|pair| pair.reverse());
        }
        Ok(samples)
    }
}

/// A writer of a new PNG image.
pub(crate) struct Writer {
    out: Option<BufWriter<File>>,
    level: Option<u8>,
}

impl Writer {
    /// Returns the writer of a PNG file. `level` is the compression level, 0 to 9.
    pub(crate) fn new(out: File, level: Option<u8>) -> Self {
        Self { out: Some(BufWriter::new(out)), level }
    }
}

impl ImageWriter for Writer {
    fn write(&mut self, size: Size, samples: &Column) -> Result<()> {
        let mut out = self.out.take().context("a PNG image cannot hold more than one frame")?;
        let mut encoder = Encoder::new(&mut out, size.width, size.height);
        encoder.set_color(match size.samples {
            1 => ColorType::Grayscale,
            2 => ColorType::GrayscaleAlpha,
            3 => ColorType::Rgb,
            4 => ColorType::Rgba,
            other => bail!("a pixel of a PNG image must have 1 to 4 samples, not {other}"),
        });
        match self.level {
            None => {}
            Some(0) => encoder.set_deflate_compression(DeflateCompression::NoCompression),
            Some(level) => encoder.set_deflate_compression(DeflateCompression::Level(level)),
        }
        let swapped: Vec<u8>;
        let (depth, bytes) = match samples {
            Column::U8(samples) => (BitDepth::Eight, samples.as_slice()),
            Column::U16(samples) => {
                swapped = samples.iter().flat_map(|sample| sample.to_be_bytes()).collect();
                (BitDepth::Sixteen, swapped.as_slice())
            }
            _ => bail!(
                "PNG images can store only unsigned integers of 8 or 16 bits; TIFF images can store other \
                 numbers too, and `hyperslab plot` draws a picture of any numbers"
            ),
        };
        encoder.set_depth(depth);
        let mut image = encoder.write_header()?;
        image.write_image_data(bytes)?;
        image.finish()?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        if self.out.is_some() {
            bail!("the PNG image has no frame");
        }
        Ok(())
    }
}
