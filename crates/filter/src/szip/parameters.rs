//! The client data of szip.

const LITTLE_ENDIAN: u32 = 1 << 3;
const BIG_ENDIAN: u32 = 1 << 4;
const NEAREST_NEIGHBOUR: u32 = 1 << 5;
const ENTROPY_CODING: u32 = 1 << 2;
/// An option bit of szip: the encoder may use up to 13 separate low bits (k = 13).
const ALLOW_K13: u32 = 1;
const NO_HEADER: u32 = 1 << 7;

const MAX_BLOCK_SAMPLES: u32 = 32;
const MAX_LINE_SAMPLES: u32 = 4096;
const MAX_LINE_BLOCKS: u32 = 128;

/// Computes the client data of the szip filter, as libhdf5 stores them. `elements` is the number of
/// elements of a chunk, and `fastest` is their number along the fastest-varying dimension. If the
/// filter is optional, szip need not support the number of bits of a sample.
pub(super) fn client_data(
    options: u32,
    block: u32,
    element: Element,
    fastest: u64,
    elements: u64,
) -> Result<[u32; 4], &'static str> {
    // Check the values that do not depend on the sample.
    SzipParameters::parse(&[options, block, 8, 1])?;
    let precision = if element.offset == 0 { element.precision } else { element.size.saturating_mul(8) };
    let bits = match precision {
        25..=32 => 32,
        33..=64 => 64,
        bits => bits,
    };
    let fastest = if fastest < u64::from(block) { elements } else { fastest };
    if fastest < u64::from(block) {
        return Err("the chunk has fewer elements than a block has samples");
    }
    let longest = block.saturating_mul(MAX_LINE_BLOCKS).min(MAX_LINE_SAMPLES);
    let line = u32::try_from(fastest).map_or(longest, |line| line.min(longest));
    let order = if element.big_endian { BIG_ENDIAN } else { LITTLE_ENDIAN };
    Ok([options & !(BIG_ENDIAN | LITTLE_ENDIAN) | order, block, bits, line])
}

/// The parameters of the szip filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SzipParameters {
    options: u32,
    block: u32,
    bits: u32,
    line: u32,
}

/// The properties of a dataset's element type on which the szip filter depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Size of an element in bytes.
    pub size: u32,
    /// The number of significant bits.
    pub precision: u32,
    /// The position of the lowest significant bit.
    pub offset: u32,
    /// True if the byte order is big-endian.
    pub big_endian: bool,
}

impl SzipParameters {
    /// Returns the szip parameters that libhdf5 chooses for chunks of `elements` elements.
    /// `fastest` is the number of elements along the fastest-varying dimension, and `block` is the
    /// number of samples of a block.
    ///
    /// # Errors
    /// The reason why szip cannot code such chunks.
    pub fn for_chunks(
        nearest_neighbour: bool,
        block: u32,
        element: Element,
        fastest: u64,
        elements: u64,
    ) -> Result<Self, &'static str> {
        let coding = if nearest_neighbour { NEAREST_NEIGHBOUR } else { ENTROPY_CODING };
        Self::parse(&client_data(coding | ALLOW_K13 | NO_HEADER, block, element, fastest, elements)?)
    }

    /// Returns the client data of the szip filter.
    pub fn client_data(&self) -> [u32; 4] {
        [self.options, self.block, self.bits, self.line]
    }

    pub(super) fn parse(client_data: &[u32]) -> Result<Self, &'static str> {
        let [options, block, bits, line, ..] = client_data else { return Err("the client data are missing") };
        let (options, block, bits, line) = (*options, *block, *bits, *line);
        if options & (NEAREST_NEIGHBOUR | ENTROPY_CODING) == 0 {
            return Err("the client data name no coding method");
        }
        if !(2..=MAX_BLOCK_SAMPLES).contains(&block) || block % 2 != 0 {
            return Err("the samples per block are not an even number from 2 to 32");
        }
        if !matches!(bits, 1..=24 | 32 | 64) {
            return Err("the bits per sample are not 1 to 24, 32 or 64");
        }
        if !(1..=MAX_LINE_SAMPLES).contains(&line) {
            return Err("the samples per scan line are not 1 to 4096");
        }
        Ok(Self { options, block, bits, line })
    }

    /// Returns true if the szip filter codes the difference of each sample from the sample before.
    pub(super) fn is_nearest_neighbour(&self) -> bool {
        self.options & NEAREST_NEIGHBOUR != 0
    }

    /// Returns true if szip samples are big-endian. This does not apply to samples that are split
    /// into byte planes.
    pub(super) fn is_big_endian(&self) -> bool {
        self.options & BIG_ENDIAN != 0
    }

    /// Returns the number of bits of a coded szip sample.
    pub(super) fn bits(&self) -> u32 {
        if self.planes() > 1 { 8 } else { self.bits }
    }

    /// Returns the size of a coded szip sample in bytes.
    pub(super) fn sample_bytes(&self) -> usize {
        match self.bits() {
            ..=8 => 1,
            9..=16 => 2,
            _ => 4,
        }
    }

    /// Returns the number of byte planes into which the szip filter splits samples. Returns 1 if
    /// the samples are not split.
    pub(super) fn planes(&self) -> usize {
        match self.bits {
            32 => 4,
            64 => 8,
            _ => 1,
        }
    }

    /// Returns the number of samples of an szip block.
    pub(super) fn block(&self) -> usize {
        self.block as usize
    }

    /// Returns the number of samples of an szip scan line.
    pub(super) fn line(&self) -> usize {
        self.line as usize
    }
}
