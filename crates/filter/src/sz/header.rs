//! The header of an SZ stream.
//!
//! ```text
//! bytes    | meaning
//! ---------+------------------------------------------------------------------------------------
//! 3        | version
//! 1        | flags, see below
//! 28 or 36 | parameters, 36 bytes for `f64`; at offset 14: 101, at 20: minimum and maximum value
//! 0 or 1   | only for integers that are neither constant nor stored unencoded: bytes of an exact
//!          | value
//! 4 or 8   | number of values
//! n        | the values
//! ```

use crate::Result;

use super::bytes::Bytes;
use super::unsupported;

/// The oldest supported version of SZ, 2.1.8, as `10000 major + 100 minor + build`.
const OLDEST_VERSION: u32 = 20_108;

/// The offset in bytes of the value layout in the parameters of an SZ stream.
const LAYOUT_OFFSET: usize = 14;

/// The number in the parameters of an SZ stream that stands for row-major order of the values.
const ROW_MAJOR_LAYOUT: u8 = 101;

/// The offset in bytes of the minimum value in the parameters of an SZ stream of floating-point
/// numbers. The maximum follows.
const RANGE_OFFSET: usize = 20;

/// An SZ stream with its parsed header.
#[derive(Debug, Clone)]
pub(super) struct Header<'a> {
    flags: u8,
    parameters: &'a [u8],
    /// The bytes after the number of values.
    pub(super) rest: Bytes<'a>,
    /// Size of an exact integer value in bytes; 0 if the header does not state the size.
    pub(super) exact_size: usize,
}

impl<'a> Header<'a> {
    /// Parses the header of an SZ stream. `parameters` is the number of bytes of its parameters.
    /// `is_integer` is true for integers and false for floating-point numbers.
    pub(super) fn parse(stream: &'a [u8], parameters: usize, is_integer: bool) -> Result<Self> {
        let mut start = Bytes::new(stream, false);
        let [major, minor, build] = [start.byte()?, start.byte()?, start.byte()?].map(u32::from);
        if 10_000 * major + 100 * minor + build < OLDEST_VERSION {
            return Err(unsupported(&format!("version {major}.{minor}.{build} of the SZ stream format")));
        }
        let flags = start.byte()?;
        let parameters = start.take(parameters)?;
        let mut header =
            Self { flags, parameters, rest: Bytes::new(start.rest(), flags & 1 << 6 != 0), exact_size: 0 };
        if is_integer && !header.is_constant() && !header.is_stored() {
            header.exact_size = usize::from(header.rest.byte()?);
        }
        header.rest.length()?;
        Ok(header)
    }

    /// Returns true if all values of the SZ stream are equal.
    pub(super) fn is_constant(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Returns true if the decoder must clamp SZ values to the range in the parameters of the
    /// stream.
    pub(super) fn is_clamped(&self) -> bool {
        self.flags & 1 << 2 != 0
    }

    /// Returns true if an SZ stream with relative errors uses multiplication, and false if it uses
    /// logarithms.
    pub(super) fn multiplies(&self) -> bool {
        self.flags & 1 << 3 != 0
    }

    /// Returns true if the SZ stream stores the values unencoded.
    pub(super) fn is_stored(&self) -> bool {
        self.flags & 1 << 4 != 0
    }

    /// Returns true if the error bound of the SZ stream is relative to each value.
    pub(super) fn is_relative(&self) -> bool {
        self.flags & 1 << 5 != 0
    }

    /// Returns true if the SZ stream may predict blocks by regression.
    pub(super) fn has_regression(&self) -> bool {
        self.flags & 1 << 7 != 0
    }

    pub(super) fn is_row_major(&self) -> bool {
        self.parameters.get(LAYOUT_OFFSET) == Some(&ROW_MAJOR_LAYOUT)
    }

    /// Returns a reader of the minimum and the maximum value in the parameters of the SZ stream.
    pub(super) fn range(&self) -> Bytes<'a> {
        Bytes::new(self.parameters.get(RANGE_OFFSET..).unwrap_or_default(), false)
    }
}
