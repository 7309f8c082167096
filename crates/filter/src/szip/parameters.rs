//! The client data of szip.

const LITTLE_ENDIAN: u32 = 1 << 3;
const BIG_ENDIAN: u32 = 1 << 4;
const NEAREST_NEIGHBOUR: u32 = 1 << 5;
const ENTROPY_CODING: u32 = 1 << 2;
/// Codes of samples of 13 split bits are allowed.
const ALLOW_K13: u32 = 1;
const NO_HEADER: u32 = 1 << 7;

const LONGEST_BLOCK: u32 = 32;
const LONGEST_LINE: u32 = 4096;
const MOST_BLOCKS: u32 = 128;

/// The client data that libhdf5 stores for chunks of `elements` elements, `fastest` in the dimension that varies
/// fastest: of optional filters also where there is no coding samples of so many bits.
pub(super) fn client_data(
    options: u32,
    block: u32,
    element: Element,
    fastest: u64,
    elements: u64,
) -> Result<[u32; 4], &'static str> {
    // The checks that need no sample.
    Parameters::parse(&[options, block, 8, 1])?;
    let precision = if element.offset == 0 { element.precision } else { element.size.saturating_mul(8) };
    let bits = match precision {
        25..=32 => 32,
        33..=64 => 64,
        bits => bits,
    };
    let fastest = if fastest < u64::from(block) { elements } else { fastest };
    if fastest < u64::from(block) {
        return Err("a chunk has fewer elements than a block");
    }
    let longest = block.saturating_mul(MOST_BLOCKS).min(LONGEST_LINE);
    let line = u32::try_from(fastest).map_or(longest, |line| line.min(longest));
    let order = if element.big_endian { BIG_ENDIAN } else { LITTLE_ENDIAN };
    Ok([options & !(BIG_ENDIAN | LITTLE_ENDIAN) | order, block, bits, line])
}

/// The parameters of szip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    options: u32,
    block: u32,
    bits: u32,
    line: u32,
}

/// What szip asks about the type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Bytes.
    pub size: u32,
    /// Bits that are used.
    pub precision: u32,
    /// The lowest of them.
    pub offset: u32,
    /// The byte order.
    pub big_endian: bool,
}

impl Parameters {
    /// The parameters that libhdf5 chooses for chunks of `elements` elements, `fastest` in the dimension that
    /// varies fastest, to be coded in blocks of `block` elements.
    ///
    /// # Errors
    /// What szip cannot code.
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

    /// The client data of the filter.
    pub fn client_data(&self) -> [u32; 4] {
        [self.options, self.block, self.bits, self.line]
    }

    pub(super) fn parse(client_data: &[u32]) -> Result<Self, &'static str> {
        let [options, block, bits, line, ..] = client_data else { return Err("client data are missing") };
        let (options, block, bits, line) = (*options, *block, *bits, *line);
        if options & (NEAREST_NEIGHBOUR | ENTROPY_CODING) == 0 {
            return Err("no coding method");
        }
        if !(2..=LONGEST_BLOCK).contains(&block) || block % 2 != 0 {
            return Err("blocks of an impossible number of samples");
        }
        if !matches!(bits, 1..=24 | 32 | 64) {
            return Err("samples of an impossible number of bits");
        }
        if !(1..=LONGEST_LINE).contains(&line) {
            return Err("scan lines of an impossible number of samples");
        }
        Ok(Self { options, block, bits, line })
    }

    /// Whether samples are differences from the one before.
    pub(super) fn is_nearest_neighbour(&self) -> bool {
        self.options & NEAREST_NEIGHBOUR != 0
    }

    /// Whether the bytes of a sample that is not taken apart begin with the highest.
    pub(super) fn is_big_endian(&self) -> bool {
        self.options & BIG_ENDIAN != 0
    }

    /// Bits of a sample as it is coded.
    pub(super) fn bits(&self) -> u32 {
        if self.planes() > 1 { 8 } else { self.bits }
    }

    /// Bytes of a sample as it is coded.
    pub(super) fn sample_bytes(&self) -> usize {
        match self.bits() {
            ..=8 => 1,
            9..=16 => 2,
            _ => 4,
        }
    }

    /// Into how many samples one of the data is taken apart.
    pub(super) fn planes(&self) -> usize {
        match self.bits {
            32 => 4,
            64 => 8,
            _ => 1,
        }
    }

    /// Samples of a block.
    pub(super) fn block(&self) -> usize {
        self.block as usize
    }

    /// Samples of a scan line.
    pub(super) fn line(&self) -> usize {
        self.line as usize
    }
}
