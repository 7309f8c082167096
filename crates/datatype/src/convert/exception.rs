//! Values that the destination cannot hold as they are: who is asked, and what may be answered.

use std::fmt;
use std::sync::Arc;

use super::{ConvertError, Result};
use crate::Datatype;

/// Why a value does not come out as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExceptionKind {
    /// It is above the destination's range.
    RangeHigh,
    /// It is below the destination's range.
    RangeLow,
    /// An integer has more digits than the floating-point destination.
    Precision,
    /// A floating-point number has a fraction, the integer destination has none.
    Truncate,
    /// Positive infinity, for an integer.
    PositiveInfinity,
    /// Negative infinity, for an integer.
    NegativeInfinity,
    /// Not a number, for an integer.
    NotANumber,
    /// A value of an enumeration whose name the destination does not have, or that has no name.
    NoName,
}

impl ExceptionKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::RangeHigh,
        Self::RangeLow,
        Self::Precision,
        Self::Truncate,
        Self::PositiveInfinity,
        Self::NegativeInfinity,
        Self::NotANumber,
        Self::NoName,
    ];

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for ExceptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RangeHigh => "above the range",
            Self::RangeLow => "below the range",
            Self::Precision => "longer than the digits",
            Self::Truncate => "not whole for an integer",
            Self::PositiveInfinity => "positive infinity for an integer",
            Self::NegativeInfinity => "negative infinity for an integer",
            Self::NotANumber => "not a number for an integer",
            Self::NoName => "without a name among the values",
        })
    }
}

/// A value that does not come out as it was.
#[derive(Debug, Clone, Copy)]
pub struct Exception<'a> {
    /// Why.
    pub kind: ExceptionKind,
    /// The source's type.
    pub from: &'a Datatype,
    /// The destination's type.
    pub to: &'a Datatype,
    /// The element's bytes.
    pub source: &'a [u8],
}

/// What somebody who was asked about an exception answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Response {
    /// Convert as if nobody had been asked: to the nearest value.
    Unhandled,
    /// The destination has been written.
    Handled,
    /// End the conversion with [`ConvertError::Exception`].
    Abort,
}

type Ask = dyn Fn(&Exception<'_>, &mut [u8]) -> Response + Send + Sync;

/// What becomes of values that the destination cannot hold as they are.
///
/// By default numbers become the nearest value, NaN becomes the integer 0, and values of enumerations without a
/// name on the other side all bits set, as libhdf5 does it.
///
/// ```
/// use hyperslab_datatype::{ByteOrder::LittleEndian, Datatype};
/// use hyperslab_datatype::convert::{Conversions, ConvertError, Exceptions};
/// let strict = Conversions::default().with_exceptions(Exceptions::error());
/// let conversion = strict.plan(&Datatype::i16(LittleEndian), &Datatype::u8())?;
/// let error = conversion.convert(&[7, 0, 0, 1], &mut [0; 2], 2).unwrap_err();
/// assert_eq!(error.to_string(), "element 1: 256 is above the range of u8");
/// # Ok::<(), ConvertError>(())
/// ```
#[derive(Clone, Default)]
pub struct Exceptions {
    kinds: u16,
    ask: Option<Arc<Ask>>,
}

impl Exceptions {
    /// The nearest value, always.
    pub fn clamp() -> Self {
        Self::default()
    }

    /// Any exception ends the conversion with an error that names the element and its value.
    pub fn error() -> Self {
        Self::error_on(&ExceptionKind::ALL)
    }

    /// Exceptions of these kinds end the conversion.
    pub fn error_on(kinds: &[ExceptionKind]) -> Self {
        Self { kinds: kinds.iter().fold(0, |set, kind| set | kind.bit()), ask: None }
    }

    /// Asks a function about each exception. It may write the destination's element (which holds what it held
    /// before) and answer [`Response::Handled`].
    ///
    /// ```
    /// use hyperslab_datatype::{ByteOrder::LittleEndian, Datatype};
    /// use hyperslab_datatype::convert::{Conversions, ExceptionKind, Exceptions, Response};
    /// let marked = Exceptions::ask(|exception, destination| match exception.kind {
    ///     ExceptionKind::NotANumber => {
    ///         destination.fill(0xff);
    ///         Response::Handled
    ///     }
    ///     _ => Response::Unhandled,
    /// });
    /// let conversions = Conversions::default().with_exceptions(marked);
    /// let conversion = conversions.plan(&Datatype::f32(LittleEndian), &Datatype::i8())?;
    /// let (mut out, values) = ([0; 2], [f32::NAN, 1000.0].map(f32::to_le_bytes));
    /// conversion.convert(values.as_flattened(), &mut out, 2)?;
    /// assert_eq!(out, [0xff, 127]);
    /// # Ok::<(), hyperslab_datatype::convert::ConvertError>(())
    /// ```
    pub fn ask(function: impl Fn(&Exception<'_>, &mut [u8]) -> Response + Send + Sync + 'static) -> Self {
        Self { ask: Some(Arc::new(function)), ..Self::error() }
    }

    /// Whether somebody is asked about exceptions of that kind.
    pub(super) fn asks(&self, kind: ExceptionKind) -> bool {
        self.kinds & kind.bit() != 0
    }

    /// Whether somebody is asked about numbers.
    pub(super) fn asks_about_numbers(&self) -> bool {
        self.kinds & !ExceptionKind::NoName.bit() != 0
    }

    /// Asks. Gives whether the destination is written.
    pub(super) fn answer(&self, exception: &Exception<'_>, destination: &mut [u8]) -> Result<bool> {
        if !self.asks(exception.kind) {
            return Ok(false);
        }
        match self.ask.as_ref().map_or(Response::Abort, |ask| ask(exception, destination)) {
            Response::Unhandled => Ok(false),
            Response::Handled => Ok(true),
            Response::Abort => Err(ConvertError::exception(exception)),
        }
    }
}

impl fmt::Debug for Exceptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<ExceptionKind> =
            ExceptionKind::ALL.into_iter().filter(|kind| self.asks(*kind)).collect();
        f.debug_struct("Exceptions").field("kinds", &kinds).field("ask", &self.ask.is_some()).finish()
    }
}
