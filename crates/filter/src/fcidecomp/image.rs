//! The segments and markers of a JPEG-LS image (T.87, annex C).
//!
//! ```text
//! bytes        | meaning (numbers are big-endian)
//! -------------+----------------------------------------------------------------------------------
//! FF D8        | start of the image
//! FF F7        | the frame: 2 bytes segment length, 1 bits of a sample, 2 lines, 2 samples of a
//!              | line, 1 components, for each: 1 its number, 1 sampling factors, 0x11, 1 zero
//! FF F8        | parameters: 2 bytes segment length, 1 kind; kind 1: 2 maximum sample value, 3
//!              | times 2 thresholds, 2 reset interval; 0 for the default of each
//! FF E0 … EF   | application data: 2 bytes segment length, any bytes; FF FE: a comment, the same
//! FF DA        | a scan: 2 bytes segment length, 1 components, for each: 1 its number, 1 zero; 1
//!              | maximum error, 1 interleave mode: 0 one component, 1 by line, 2 by sample; 1
//!              | zero; then the bits of the samples
//! FF D9        | end of the image
//! ```

use crate::{FilterError, Result};

use super::bits::{BitSink, BitSource};
use super::model::{Model, Preset, StoredPreset};
use super::scan::{self, Interleave, Size};
use super::{ID, corrupt, unsupported};

const BEGIN: u8 = 0xd8;
const END: u8 = 0xd9;
const SCAN: u8 = 0xda;
const FRAME: u8 = 0xf7;
const PARAMETERS: u8 = 0xf8;

/// The size of a JPEG-LS image: bits of a sample, height, width and number of components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) bits: u32,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) components: usize,
}

impl Frame {
    /// Returns the size of a sample of the JPEG-LS image in bytes.
    pub(super) fn sample_bytes(self) -> usize {
        if self.bits > 8 { 2 } else { 1 }
    }

    /// Returns the size of the decoded JPEG-LS image in bytes.
    pub(super) fn length(self) -> usize {
        [self.height, self.width, self.components]
            .into_iter()
            .fold(self.sample_bytes(), usize::saturating_mul)
    }
}

/// A reader of the segments of a JPEG-LS image.
struct Segments<'a>(&'a [u8]);

impl<'a> Segments<'a> {
    /// Reads the next marker of the JPEG-LS image and the bytes of the marker's segment.
    fn next(&mut self) -> Result<(u8, &'a [u8])> {
        let truncated = || corrupt("a segment of the image is truncated");
        let [0xff, marker, rest @ ..] = self.0 else { return Err(truncated()) };
        match *marker {
            // A fill byte before the marker.
            0xff => {
                self.0 = self.0.get(1..).unwrap_or_default();
                return self.next_after_fill_bytes();
            }
            BEGIN | END => {
                self.0 = rest;
                return Ok((*marker, &[]));
            }
            _ => {}
        }
        let (length, _) = rest.split_first_chunk().ok_or_else(truncated)?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (segment, after) = rest.split_at_checked(length).ok_or_else(truncated)?;
        self.0 = after;
        Ok((*marker, segment.get(2..).ok_or_else(truncated)?))
    }

    fn next_after_fill_bytes(&mut self) -> Result<(u8, &'a [u8])> {
        let at = self.0.iter().position(|byte| *byte != 0xff).unwrap_or(self.0.len());
        self.0 = self.0.get(at.saturating_sub(1)..).unwrap_or_default();
        if let [0xff, 0xff, ..] = self.0 {
            Err(corrupt("the image ends with fill bytes"))
        } else {
            self.next()
        }
    }
}

/// A JPEG-LS image whose segments before the first scan are parsed.
pub(super) struct Image<'a> {
    pub(super) frame: Frame,
    numbers: Vec<u8>,
    stored: StoredPreset,
    segments: Segments<'a>,
}

impl<'a> Image<'a> {
    /// Parses the segments of a JPEG-LS image up to the frame, and returns the image.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self> {
        let mut segments = Segments(bytes);
        if segments.next()?.0 != BEGIN {
            return Err(corrupt("the chunk is not a JPEG-LS image"));
        }
        let mut stored = StoredPreset::default();
        loop {
            let (marker, segment) = segments.next()?;
            if marker == FRAME {
                let (frame, numbers) = parse_frame(segment)?;
                return Ok(Self { frame, numbers, stored, segments });
            }
            read_other(marker, segment, &mut stored)?;
        }
    }

    /// Decodes all scans of a JPEG-LS image into `output`. The length of `output` is the length of
    /// the decoded image. If a scan is interleaved, the samples of the components alternate,
    /// otherwise the components follow one another.
    pub(super) fn decode(mut self, output: &mut [u8]) -> Result<()> {
        let plane = output.len() / self.frame.components.max(1);
        let mut missing = self.frame.components;
        while missing > 0 {
            let (marker, segment) = self.segments.next()?;
            if marker != SCAN {
                read_other(marker, segment, &mut self.stored)?;
                continue;
            }
            let scan = self.parse_scan(segment)?;
            let planes = output.get_mut(scan.first * plane..).unwrap_or_default();
            let planes = planes.get_mut(..plane * scan.size.components).unwrap_or_default();
            let mut source = BitSource::new(self.segments.0);
            let width = self.frame.sample_bytes();
            let mut lines = planes.chunks_exact_mut((scan.size.width * scan.size.components * width).max(1));
            let decoded = scan::decode(&mut source, scan.model, scan.size, scan.interleave, |line| {
                if let Some(to) = lines.next() {
                    store(line, width, to);
                }
            });
            decoded.ok_or_else(|| corrupt("the bits of a scan are invalid or truncated"))?;
            self.segments.0 = source.rest();
            missing = missing.saturating_sub(scan.size.components);
        }
        Ok(())
    }

    fn parse_scan(&self, segment: &[u8]) -> Result<Scan> {
        let invalid = || corrupt("a scan header is invalid");
        let (count, rest) = segment.split_first().ok_or_else(invalid)?;
        let components = usize::from(*count);
        let (selected, rest) = rest.split_at_checked(2 * components).ok_or_else(invalid)?;
        let [near, interleave, shift] = *rest else { return Err(invalid()) };
        let [number, table, ..] = selected else { return Err(invalid()) };
        if *table != 0 || shift != 0 {
            return Err(unsupported("a mapping table or a point transform"));
        }
        let first = self.numbers.iter().position(|known| known == number).ok_or_else(invalid)?;
        let interleave = match interleave {
            0 | 1 if components == 1 => Interleave::Lines,
            1 if components == self.frame.components => Interleave::Lines,
            2 if components == self.frame.components => Interleave::Samples,
            _ => return Err(unsupported("a scan with only some of the components")),
        };
        if !self.stored.has_full_range(self.frame.bits) {
            return Err(unsupported("a maximum sample value that is not all ones"));
        }
        let near = i32::from(near);
        let preset = Preset::new(self.stored, self.frame.bits, near);
        let preset = preset.ok_or_else(|| corrupt("the coding parameters of a scan are invalid"))?;
        let Frame { width, height, .. } = self.frame;
        let first = if components == 1 { first } else { 0 };
        Ok(Scan {
            first,
            size: Size { width, height, components },
            interleave,
            model: Model::new(preset, near),
        })
    }
}

struct Scan {
    /// The index of the scan's first component.
    first: usize,
    size: Size,
    interleave: Interleave,
    model: Model,
}

fn parse_frame(segment: &[u8]) -> Result<(Frame, Vec<u8>)> {
    let invalid = || corrupt("the frame header is invalid");
    let [bits, h1, h0, w1, w0, components, rest @ ..] = segment else { return Err(invalid()) };
    let frame = Frame {
        bits: u32::from(*bits),
        height: usize::from(u16::from_be_bytes([*h1, *h0])),
        width: usize::from(u16::from_be_bytes([*w1, *w0])),
        components: usize::from(*components),
    };
    let (entries, _) = rest.as_chunks::<3>();
    if !(2..=16).contains(&frame.bits) || frame.width == 0 || entries.len() != frame.components {
        return Err(invalid());
    }
    if frame.components == 0 {
        return Err(invalid());
    }
    if frame.height == 0 {
        return Err(unsupported("an image that states its height after the first scan"));
    }
    if entries.iter().any(|[_, sampling, _]| *sampling != 0x11) {
        return Err(unsupported("components of different sizes"));
    }
    Ok((frame, entries.iter().map(|[number, ..]| *number).collect()))
}

/// Reads the coding parameters from a segment of a JPEG-LS image that is neither a frame nor a
/// scan.
fn read_other(marker: u8, segment: &[u8], stored: &mut StoredPreset) -> Result<()> {
    match (marker, segment) {
        (PARAMETERS, [1, numbers @ ..]) => {
            let invalid = || corrupt("the parameter segment is invalid");
            let numbers: Vec<u16> =
                numbers.as_chunks().0.iter().map(|number| u16::from_be_bytes(*number)).collect();
            let [largest, t1, t2, t3, reset] = numbers.try_into().map_err(|_| invalid())?;
            *stored = StoredPreset { largest, thresholds: [t1, t2, t3], reset };
            Ok(())
        }
        (PARAMETERS, _) => Err(unsupported("a mapping table")),
        (0xe8, [b'm', b'r', b'f', b'x', transform, ..]) if *transform != 0 => {
            Err(unsupported("a colour transform"))
        }
        (0xe0..=0xef | 0xfe, _) => Ok(()),
        (0xc0..=0xcf, _) => Err(unsupported("a JPEG process other than JPEG-LS")),
        (0xdd, _) => Err(unsupported("a restart interval")),
        _ => Err(corrupt("a segment has an unexpected marker")),
    }
}

fn store(line: &[i32], width: usize, output: &mut [u8]) {
    for (to, sample) in output.chunks_exact_mut(width).zip(line) {
        to.iter_mut().zip(sample.to_le_bytes()).for_each(|(to, byte)| *to = byte);
    }
}

/// The parameters of the JPEG-LS image encoder.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImageSettings {
    pub(super) frame: Frame,
    pub(super) near: u8,
    /// The interleave mode: 0 none, 1 by line, 2 by sample.
    pub(super) interleave: u8,
    pub(super) stored: StoredPreset,
}

/// Encodes the samples in `input` as a JPEG-LS image, and appends the image to `output`. The
/// samples have the order of [`Image::decode`].
pub(super) fn encode(settings: &ImageSettings, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let failed = |reason: &str| FilterError::failed(ID, reason);
    let ImageSettings { frame, near, interleave, stored } = *settings;
    let preset = Preset::new(stored, frame.bits, i32::from(near))
        .ok_or_else(|| failed("the coding parameters are invalid"))?;
    if !stored.has_full_range(frame.bits) {
        return Err(failed("the maximum sample value is not all ones"));
    }
    let size = |size: usize| {
        u16::try_from(size).map(u16::to_be_bytes).map_err(|_| failed("an image dimension exceeds 65535"))
    };
    let components =
        u8::try_from(frame.components).map_err(|_| failed("the image has more than 255 components"))?;
    let samples: Vec<i32> = match frame.sample_bytes() {
        1 => input.iter().map(|sample| i32::from(*sample)).collect(),
        _ => input.as_chunks().0.iter().map(|sample| i32::from(u16::from_le_bytes(*sample))).collect(),
    };
    if samples.iter().any(|sample| *sample > preset.largest) {
        return Err(failed("a sample exceeds the maximum sample value"));
    }
    output.extend([0xff, BEGIN, 0xff, FRAME]);
    output.extend((8 + 3 * u16::from(components)).to_be_bytes());
    output.extend(frame.bits.to_le_bytes().first());
    output.extend([size(frame.height)?, size(frame.width)?].concat());
    output.push(components);
    output.extend((1..=components).flat_map(|number| [number, 0x11, 0]));
    if stored != StoredPreset::default() {
        let [t1, t2, t3] = stored.thresholds;
        output.extend([0xff, PARAMETERS, 0, 13, 1]);
        output.extend([stored.largest, t1, t2, t3, stored.reset].map(u16::to_be_bytes).concat());
    }
    let together = if interleave == 0 { 1 } else { components };
    let scan_components = usize::from(together);
    let plane = frame.width * frame.height * scan_components;
    for (numbers, samples) in
        (1..=components).collect::<Vec<_>>().chunks(scan_components).zip(samples.chunks_exact(plane))
    {
        output.extend([0xff, SCAN]);
        output.extend((6 + 2 * u16::from(together)).to_be_bytes());
        output.push(together);
        output.extend(numbers.iter().flat_map(|number| [*number, 0]));
        output.extend([near, interleave, 0]);
        let mut sink = BitSink::new(output);
        let size = Size { width: frame.width, height: frame.height, components: scan_components };
        let order = if interleave == 2 { Interleave::Samples } else { Interleave::Lines };
        let model = Model::new(preset, i32::from(near));
        scan::encode(&mut sink, model, size, order, samples)
            .ok_or_else(|| failed("the samples cannot be coded"))?;
        sink.finish();
    }
    output.extend([0xff, END]);
    Ok(())
}
