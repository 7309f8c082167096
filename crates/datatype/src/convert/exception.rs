//! Exceptions: values that the destination type cannot represent, and their handling.

use std::fmt;
use std::sync::Arc;

use super::{ConvertError, Result};
use crate::Datatype;

/// The reason for which the destination datatype of a conversion cannot represent a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExceptionKind {
    /// The value is above the range of the destination.
    RangeHigh,
    /// The value is below the range of the destination.
    RangeLow,
    /// An integer has more significant bits than the floating-point destination.
    Precision,
    /// A floating-point number has a fraction, and the destination is an integer.
    Truncate,
    /// The value is positive infinity, and the destination is an integer.
    PositiveInfinity,
    /// The value is negative infinity, and the destination is an integer.
    NegativeInfinity,
    /// The value is NaN, and the destination is an integer.
    NotANumber,
    /// The value of an enumeration has no name, or the destination enumeration has no member of
    /// that name.
    NoName,
}

impl ExceptionKind {
    /// All kinds of reasons for which a conversion's destination datatype cannot represent a value.
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
            Self::Precision => "beyond the precision",
            Self::Truncate => "not an integer value",
            Self::PositiveInfinity => "positive infinity and not a value",
            Self::NegativeInfinity => "negative infinity and not a value",
            Self::NotANumber => "not a number and not a value",
            Self::NoName => "not the value of a member",
        })
    }
}

/// A value that the destination datatype of a conversion cannot represent, with its element.
#[derive(Debug, Clone, Copy)]
pub struct Exception<'a> {
    /// The kind of the exception.
    pub kind: ExceptionKind,
    /// The source type.
    pub from: &'a Datatype,
    /// The destination type.
    pub to: &'a Datatype,
    /// The bytes of the element.
    pub source: &'a [u8],
}

/// The response of a callback to a value that the destination datatype cannot represent. The
/// callback has left the value unhandled, has handled it, or aborts the conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Response {
    /// The function does not handle the exception: the value becomes the nearest value that the
    /// destination type can represent.
    Unhandled,
    /// The function has written the destination element.
    Handled,
    /// The conversion fails with [`ConvertError::Exception`].
    Abort,
}

type Ask = dyn Fn(&Exception<'_>, &mut [u8]) -> Response + Send + Sync;

/// The handling of conversion exceptions. An exception is a value that the destination datatype
/// cannot represent.
///
/// By default, numbers become the nearest value, and NaN becomes the integer 0. Values of
/// enumerations without an equally named value in the destination become the value with all bits
/// set, as in libhdf5.
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
    /// Creates a handling of conversion exceptions that clamps values. If the destination datatype
    /// cannot represent a value, the conversion stores the nearest representable value, and no
    /// error occurs.
    pub fn clamp() -> Self {
        Self::default()
    }

    /// Creates a handling of conversion exceptions that returns an error. If the destination
    /// datatype cannot represent a value, the conversion fails.
    pub fn error() -> Self {
        Self::error_on(&ExceptionKind::ALL)
    }

    /// Creates a handling of conversion exceptions that returns an error on exceptions of the kinds
    /// `kinds`. The conversion clamps values in exceptions of other kinds.
    pub fn error_on(kinds: &[ExceptionKind]) -> Self {
        Self { kinds: kinds.iter().fold(0, |set, kind| set | kind.bit()), ask: None }
    }

    /// Creates a handling of conversion exceptions that asks a callback. If the destination
    /// datatype cannot represent a value, the conversion calls `function`.
    ///
    /// The function may write the destination element, which holds its previous bytes, and return
    /// [`Response::Handled`].
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

    /// Returns whether exceptions of the kind `kind` cause an error or a call of the callback. For
    /// other kinds, the conversion clamps the value.
    pub(super) fn handles(&self, kind: ExceptionKind) -> bool {
        self.kinds & kind.bit() != 0
    }

    /// Returns whether the caller handles any kind of conversion exception that can occur for
    /// numbers.
    pub(super) fn handles_numbers(&self) -> bool {
        self.kinds & !ExceptionKind::NoName.bit() != 0
    }

    /// Handles a conversion exception of one element. Returns whether the callback has written the
    /// destination element.
    pub(super) fn handle(&self, exception: &Exception<'_>, destination: &mut [u8]) -> Result<bool> {
        if !self.handles(exception.kind) {
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
            ExceptionKind::ALL.into_iter().filter(|kind| self.handles(*kind)).collect();
        f.debug_struct("Exceptions").field("kinds", &kinds).field("ask", &self.ask.is_some()).finish()
    }
}
