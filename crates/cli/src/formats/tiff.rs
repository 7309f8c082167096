//! The reader and the writer of TIFF images, which have one frame for each page.

use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use half::f16;
use hyperslab::{Column, Datatype, H5Type};
use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult, DecodingSampleType, Limits};
use tiff::encoder::colortype as color;
use tiff::encoder::{Compression, DeflateLevel, TiffEncoder, TiffKind};
use tiff::encoder::{TiffKindBig, TiffKindStandard};
use tiff::tags::{ByteOrder, Tag};

use super::image::{Frame, ImageReader, ImageWriter, Size, in_memory, largest_frame};

/// The size in bytes of the largest samples in a TIFF file with 32-bit offsets. The remaining bytes
/// of the 4 GiB are for the directories of the pages.
const MAX_STANDARD_BYTES: u64 = 3 << 30;

/// A reader of an open TIFF file.
pub(crate) struct Reader {
    decoder: Decoder<BufReader<File>>,
    size: u64,
    /// The number of pages that `next` has returned.
    pages: u64,
    /// The size of the samples of a page, and of the samples of a pixel, in bytes.
    page: (u64, u64),
    /// The number of samples of a pixel.
    samples: u64,
    /// The number of planes, each of which has one sample of each pixel.
    planes: usize,
    /// The images without a page.
    stack: Option<Stack>,
}

/// A stack of images in a TIFF file of ImageJ. Only the first image has a page. The other images
/// follow its samples.
#[derive(Debug, Clone, Copy)]
struct Stack {
    /// The offset of the first image, which has a page.
    offset: u64,
    /// The number of images.
    count: u64,
    /// The number of the current image.
    at: u64,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let size = fs::metadata(path)?.len();
        let largest = in_memory(largest_frame(size))?;
        let mut limits = Limits::default();
        (limits.decoding_buffer_size, limits.intermediate_buffer_size) = (largest, largest);
        // A page has at most one value for each byte of the file.
        limits.ifd_value_size = in_memory(size)?;
        let decoder = Decoder::new(BufReader::new(File::open(path)?))?.with_limits(limits);
        Ok(Self { decoder, size, pages: 0, page: (0, 0), samples: 1, planes: 1, stack: None })
    }

    /// Returns the frame size and pixel type of the current TIFF page.
    fn frame(&mut self) -> Result<Frame> {
        let (width, height) = self.decoder.dimensions()?;
        let color = self.decoder.colortype()?;
        let samples = match color {
            ColorType::Gray(_) => 1,
            ColorType::GrayA(_) => 2,
            ColorType::RGB(_) => 3,
            ColorType::RGBA(_) => 4,
            ColorType::Multiband { num_samples, .. } => num_samples,
            other => {
                bail!("TIFF pixels of the type {other:?} are not supported; only gray and RGB are supported")
            }
        };
        if !color.bit_depth().is_power_of_two() || color.bit_depth() < 8 {
            bail!("TIFF samples of {} bits are not supported", color.bit_depth());
        }
        let layout = self.decoder.image_buffer_layout()?;
        let datatype = datatype(layout.sample_type.context("the type of the TIFF samples is not supported")?);
        let frame = Frame { height: height.into(), width: width.into(), samples: samples.into(), datatype };
        frame.check_size(self.size)?;
        let pixel = u64::from(samples) * u64::from(frame.datatype.size);
        (self.page, self.planes) = ((frame.bytes()?, pixel), layout.planes);
        self.samples = samples.into();
        Ok(frame)
    }

    /// Returns the ImageJ images that follow the last TIFF page. Returns an error if the images are
    /// not contiguous in the file.
    fn stack_of_imagej(&mut self) -> Result<Option<Stack>> {
        let Some(description) = self.decoder.find_tag(Tag::ImageDescription)? else { return Ok(None) };
        let Ok(description) = description.into_string() else { return Ok(None) };
        let count =
            description.lines().find_map(|line| line.strip_prefix("images=")?.trim().parse::<u64>().ok());
        let Some(count) = count.filter(|count| *count > self.pages && description.starts_with("ImageJ="))
        else {
            return Ok(None);
        };
        let compression = self.decoder.find_tag_unsigned::<u16>(Tag::Compression)?;
        let offsets = self.decoder.find_tag_unsigned_vec::<u64>(Tag::StripOffsets)?;
        let sizes = self.decoder.find_tag_unsigned_vec::<u64>(Tag::StripByteCounts)?;
        let (Some(offsets), Some(sizes)) = (offsets, sizes) else {
            bail!("ImageJ stored {count} images in the TIFF file, but the first image has no strips");
        };
        let mut follows = offsets.iter().zip(&sizes).zip(offsets.iter().skip(1));
        let is_contiguous = follows.all(|((offset, size), next)| offset.checked_add(*size) == Some(*next));
        let offset = offsets.first().copied();
        let (bytes, _) = self.page;
        let end = offset.and_then(|offset| offset.checked_add(count.checked_mul(bytes)?));
        match offset {
            Some(offset)
                if self.pages == 1
                    && compression.is_none_or(|compression| compression == 1)
                    && is_contiguous
                    && end.is_some_and(|end| end <= self.size) =>
            {
                Ok(Some(Stack { offset, count, at: 0 }))
            }
            _ => {
                bail!("ImageJ stored {count} images in the TIFF file, but the file has {} pages", self.pages)
            }
        }
    }

    /// Reads an image without a page from an ImageJ stack in a TIFF file.
    fn read_stacked(&mut self, stack: Stack) -> Result<Vec<u8>> {
        let (size, pixel) = self.page;
        let offset = stack.at.checked_mul(size).and_then(|past| past.checked_add(stack.offset));
        self.decoder
            .goto_offset_u64(offset.context("the offset of an image is after the end of the TIFF file")?)?;
        let mut bytes = vec![0; in_memory(size)?];
        self.decoder.inner().read_exact(&mut bytes)?;
        let is_native = (self.decoder.byte_order() == ByteOrder::BigEndian) == cfg!(target_endian = "big");
        let sample = in_memory(pixel / self.samples.max(1))?;
        if !is_native {
            bytes.chunks_exact_mut(sample.max(1)).for_each(<[u8]>::reverse);
        }
        Ok(bytes)
    }
}

fn datatype(samples: DecodingSampleType) -> Datatype {
    match samples {
        DecodingSampleType::U8 => u8::datatype(),
        DecodingSampleType::U16 => u16::datatype(),
        DecodingSampleType::U32 => u32::datatype(),
        DecodingSampleType::U64 => u64::datatype(),
        DecodingSampleType::I8 => i8::datatype(),
        DecodingSampleType::I16 => i16::datatype(),
        DecodingSampleType::I32 => i32::datatype(),
        DecodingSampleType::I64 => i64::datatype(),
        DecodingSampleType::F16 => f16::datatype(),
        DecodingSampleType::F32 => f32::datatype(),
        DecodingSampleType::F64 => f64::datatype(),
    }
}

impl ImageReader for Reader {
    fn next(&mut self) -> Result<Option<Frame>> {
        if self.pages > 0 && !self.decoder.more_images() {
            let stack = match self.stack {
                Some(stack) => Some(stack),
                None => self.stack_of_imagej()?,
            };
            let Some(stack) = stack.filter(|stack| stack.at + 1 < stack.count) else { return Ok(None) };
            self.stack = Some(Stack { at: stack.at + 1, ..stack });
            return self.frame().map(Some);
        }
        if self.pages > 0 {
            self.decoder.next_image()?;
        }
        self.pages += 1;
        let page = self.pages;
        self.frame().map(Some).with_context(|| format!("page {page}"))
    }

    fn read(&mut self) -> Result<Vec<u8>> {
        if let Some(stack) = self.stack {
            return self.read_stacked(stack);
        }
        let mut samples = DecodingResult::U8(Vec::new());
        self.decoder.read_image_to_buffer(&mut samples)?;
        let mut bytes = samples.as_buffer(0).as_bytes().to_vec();
        let (expected, pixel) = self.page;
        if self.planes > 1 {
            bytes = interleaved(&bytes, self.planes, in_memory(pixel)?)?;
        }
        if u64::try_from(bytes.len())? != expected {
            bail!("page {}: {} bytes of samples instead of {expected}", self.pages, bytes.len());
        }
        Ok(bytes)
    }
}

/// Joins the planes of a TIFF image into pixels. Each plane has one sample of each pixel. `pixel`
/// is the size in bytes of all samples of a pixel.
fn interleaved(planes: &[u8], count: usize, pixel: usize) -> Result<Vec<u8>> {
    let size = pixel / count.max(1);
    let plane = planes.len() / count.max(1);
    if size == 0 || plane == 0 || plane * count != planes.len() {
        bail!("the planes of a TIFF image have different sizes");
    }
    let mut joined = Vec::with_capacity(planes.len());
    for at in (0..plane).step_by(size) {
        for part in planes.chunks_exact(plane) {
            joined.extend_from_slice(
                part.get(at..at + size).context("a sample of the TIFF image is incomplete")?,
            );
        }
    }
    Ok(joined)
}

/// Returns a writer of a TIFF file. Its samples have the given size in bytes. `level` is the
/// compression level, 0 to 9.
pub(crate) fn writer(out: File, bytes: u64, level: Option<u8>) -> Result<Box<dyn ImageWriter>> {
    let compression = match level {
        None | Some(0) => Compression::Uncompressed,
        Some(1..=3) => Compression::Deflate(DeflateLevel::Fast),
        Some(4..=7) => Compression::Deflate(DeflateLevel::Balanced),
        Some(_) => Compression::Deflate(DeflateLevel::Best),
    };
    Ok(if bytes > MAX_STANDARD_BYTES {
        Box::new(Writer { out: TiffEncoder::new_big(out)?.with_compression(compression) })
    } else {
        Box::new(Writer { out: TiffEncoder::new(out)?.with_compression(compression) })
    })
}

/// A writer of a new TIFF file. The encoder writes whole strips, so the file needs no buffer.
struct Writer<K: TiffKind> {
    out: TiffEncoder<File, K>,
}

/// Appends a page of gray or colored pixels. The color types that TIFF does not have are missing.
macro_rules! page {
    ($writer:expr, $size:expr, $samples:expr, gray: $gray:ident $(, rgb: $rgb:ident, rgba: $rgba:ident)?) => {
        match $size.samples {
            1 => $writer.write_image::<color::$gray>($size.width, $size.height, $samples)?,
            $(3 => $writer.write_image::<color::$rgb>($size.width, $size.height, $samples)?,
            4 => $writer.write_image::<color::$rgba>($size.width, $size.height, $samples)?,)?
            other => bail!("TIFF images with {other} samples of this type for each pixel are not supported"),
        }
    };
}

/// Implements [`ImageWriter`] for a kind of offsets.
macro_rules! writer {
    ($kind:ty) => {
        impl ImageWriter for Writer<$kind> {
            fn write(&mut self, size: Size, samples: &Column) -> Result<()> {
                match samples {
                    Column::U8(samples) => page!(self.out, size, samples, gray: Gray8, rgb: RGB8, rgba: RGBA8),
                    Column::U16(samples) => page!(self.out, size, samples, gray: Gray16, rgb: RGB16, rgba: RGBA16),
                    Column::U32(samples) => page!(self.out, size, samples, gray: Gray32, rgb: RGB32, rgba: RGBA32),
                    Column::U64(samples) => page!(self.out, size, samples, gray: Gray64, rgb: RGB64, rgba: RGBA64),
                    Column::F32(samples) => {
                        page!(self.out, size, samples, gray: Gray32Float, rgb: RGB32Float, rgba: RGBA32Float)
                    }
                    Column::F64(samples) => {
                        page!(self.out, size, samples, gray: Gray64Float, rgb: RGB64Float, rgba: RGBA64Float)
                    }
                    Column::F16(samples) => {
                        let wide = Column::F32(samples.iter().map(|sample| sample.to_f32()).collect());
                        return self.write(size, &wide);
                    }
                    Column::I8(samples) => page!(self.out, size, samples, gray: GrayI8),
                    Column::I16(samples) => page!(self.out, size, samples, gray: GrayI16),
                    Column::I32(samples) => page!(self.out, size, samples, gray: GrayI32),
                    Column::I64(samples) => page!(self.out, size, samples, gray: GrayI64),
                    _ => bail!("TIFF images can store only integers and floating-point numbers"),
                }
                Ok(())
            }

            fn finish(self: Box<Self>) -> Result<()> {
                Ok(())
            }
        }
    };
}

writer!(TiffKindStandard);
writer!(TiffKindBig);
