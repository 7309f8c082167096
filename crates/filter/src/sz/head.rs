//! What a stream begins with.
//!
//! ```text
//! bytes    | meaning
//! ---------+------------------------------------------------------------------------------------
//! 3        | version
//! 1        | flags, see below
//! 28 or 36 | parameters, 36 for doubles; at 14: 101, at 20: the least and the greatest value
//! 0 or 1   | whole numbers that are neither all the same nor stored as they are: bytes of an exact value
//! 4 or 8   | number of values
//! n        | the values
//! ```

use crate::Result;

use super::bytes::Bytes;
use super::unsupported;

/// The oldest version that is read: 2.1.8.
const OLDEST: u32 = 20_108;

/// In the parameters: how values are laid out.
const LAYOUT: usize = 14;

/// Values in the order of their dimensions.
const IN_ORDER: u8 = 101;

/// In the parameters of real numbers: least and greatest value.
const RANGE: usize = 20;

/// What a stream begins with.
#[derive(Debug, Clone)]
pub(super) struct Head<'a> {
    flags: u8,
    parameters: &'a [u8],
    /// What follows the number of values.
    pub(super) rest: Bytes<'a>,
    /// Bytes of an exact whole number, where they are told.
    pub(super) exact_size: usize,
}

impl<'a> Head<'a> {
    /// Of a stream of real numbers or whole ones, with so many bytes of parameters.
    pub(super) fn parse(stream: &'a [u8], parameters: usize, is_whole: bool) -> Result<Self> {
        let mut start = Bytes::new(stream, false);
        let [major, minor, build] = [start.byte()?, start.byte()?, start.byte()?].map(u32::from);
        if 10_000 * major + 100 * minor + build < OLDEST {
            return Err(unsupported(&format!("a stream of version {major}.{minor}.{build}")));
        }
        let flags = start.byte()?;
        let parameters = start.take(parameters)?;
        let mut head =
            Self { flags, parameters, rest: Bytes::new(start.rest(), flags & 1 << 6 != 0), exact_size: 0 };
        if is_whole && !head.is_same() && !head.is_stored() {
            head.exact_size = usize::from(head.rest.byte()?);
        }
        head.rest.length()?;
        Ok(head)
    }

    /// Whether all values are the same.
    pub(super) fn is_same(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Whether values lie within the range that is told.
    pub(super) fn is_clamped(&self) -> bool {
        self.flags & 1 << 2 != 0
    }

    /// Whether errors are bound in proportion to values by multiplication instead of logarithms.
    pub(super) fn multiplies(&self) -> bool {
        self.flags & 1 << 3 != 0
    }

    /// Whether the values are stored as they are.
    pub(super) fn is_stored(&self) -> bool {
        self.flags & 1 << 4 != 0
    }

    /// Whether errors are bound in proportion to values.
    pub(super) fn is_proportional(&self) -> bool {
        self.flags & 1 << 5 != 0
    }

    /// Whether blocks may be predicted by regression.
    pub(super) fn has_regression(&self) -> bool {
        self.flags & 1 << 7 != 0
    }

    pub(super) fn is_in_order(&self) -> bool {
        self.parameters.get(LAYOUT) == Some(&IN_ORDER)
    }

    /// Least and greatest value.
    pub(super) fn range(&self) -> Bytes<'a> {
        Bytes::new(self.parameters.get(RANGE..).unwrap_or_default(), false)
    }
}
