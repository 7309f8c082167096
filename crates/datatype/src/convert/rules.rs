//! The rules that plan conversions, and the order in which they are tried.

use std::sync::Arc;

use super::kernel::{Copy, Kernel};
use super::variable::{VariableSink, VariableSource};
use super::{Conversion, ConvertError, Exceptions, Result, size_of};
use super::{bitfield, compound, enumeration, native, number, packed, significant, text, variable};
use crate::{CharacterSet, Datatype, DatatypeClass};

/// The result of a conversion rule: a conversion kernel, or `None` if the rule does not apply to
/// the datatypes.
pub(super) type Planned = Option<Arc<dyn Kernel>>;

/// A rule for the conversion of elements that a program adds to the built-in rules.
///
/// The rules of a caller are tried before the built-in ones; the last added rule is tried first.
/// They also apply to the parts of compounds, arrays, enumerations, complex numbers and sequences,
/// which a rule plans with `conversions`. The first rule that returns a kernel or an error decides.
///
/// ```
/// use std::sync::Arc;
/// use hyperslab_datatype::{ByteOrder::LittleEndian, Datatype};
/// use hyperslab_datatype::convert::{Conversions, ConvertError, Kernel, Rule};
///
/// /// Bit fields of one byte as the number of their bits that are set.
/// #[derive(Debug)]
/// struct CountBits;
///
/// impl Kernel for CountBits {
///     fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), ConvertError> {
///         for (to, from) in destination.iter_mut().zip(source) {
///             *to = from.count_ones() as u8;
///         }
///         Ok(())
///     }
/// }
///
/// impl Rule for CountBits {
///     fn kernel(
///         &self,
///         source: &Datatype,
///         destination: &Datatype,
///         _: &Conversions,
///     ) -> Result<Option<Arc<dyn Kernel>>, ConvertError> {
///         let bits = Datatype::bitfield(1, LittleEndian);
///         let applies = *source == bits && *destination == Datatype::u8();
///         Ok(applies.then(|| Arc::new(CountBits) as _))
///     }
/// }
///
/// let conversions = Conversions::default().with(Arc::new(CountBits));
/// let conversion = conversions.plan(&Datatype::bitfield(1, LittleEndian), &Datatype::u8())?;
/// let mut out = [0; 2];
/// conversion.convert(&[0b101, 0], &mut out, 2)?;
/// assert_eq!(out, [2, 0]);
/// # Ok::<(), ConvertError>(())
/// ```
pub trait Rule: std::fmt::Debug + Send + Sync {
    /// Returns the conversion kernel of this conversion rule for two datatypes. Returns `None` if
    /// the rule does not apply. The next rule is then tried.
    ///
    /// `conversions` plans the conversion of parts.
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] if no other rule shall convert the pair.
    fn kernel(
        &self,
        source: &Datatype,
        destination: &Datatype,
        conversions: &Conversions,
    ) -> Result<Option<Arc<dyn Kernel>>>;
}

/// The configuration of conversions between datatypes: the rules, the handling of exceptions, and
/// the heaps of variable-length elements.
#[derive(Debug, Clone, Default)]
pub struct Conversions {
    rules: Vec<Arc<dyn Rule>>,
    exceptions: Exceptions,
    source_heap: Option<Arc<dyn VariableSource>>,
    destination_heap: Option<Arc<dyn VariableSink>>,
    across_charsets: bool,
    every_member: bool,
}

/// A function that implements a built-in rule for the conversion of elements.
type BuiltIn = fn(&Datatype, &Datatype, &Conversions) -> Result<Planned>;

/// The built-in rules for the conversion of elements, in the order in which they are tried.
const BUILT_IN: &[BuiltIn] = &[
    equal,
    native::rule,
    significant::rule,
    packed::rule,
    number::rule,
    bitfield::rule,
    bitfield::as_integers,
    text::rule,
    variable::rule,
    enumeration::between,
    enumeration::from_or_to_base,
    array,
    compound::members,
    compound::complex_as_pair,
    compound::complex_and_real,
    complex,
];

impl Conversions {
    /// Adds a conversion rule of a program, which takes precedence over all other rules.
    #[must_use]
    pub fn with(mut self, rule: Arc<dyn Rule>) -> Self {
        self.rules.insert(0, rule);
        self
    }

    /// Sets the handling of conversion exceptions. An exception is a value that the destination
    /// datatype cannot represent.
    #[must_use]
    pub fn with_exceptions(mut self, exceptions: Exceptions) -> Self {
        self.exceptions = exceptions;
        self
    }

    /// Sets the heap that holds the variable-length data of a conversion's source elements.
    #[must_use]
    pub fn with_source_heap(mut self, heap: Arc<dyn VariableSource>) -> Self {
        self.source_heap = Some(heap);
        self
    }

    /// Sets the heap that receives the variable-length data of a conversion's destination elements.
    ///
    /// Without such a heap, equal variable-length types are converted by copying the descriptors,
    /// which then refer to the source's heap.
    #[must_use]
    pub fn with_destination_heap(mut self, heap: Arc<dyn VariableSink>) -> Self {
        self.destination_heap = Some(heap);
        self
    }

    /// Allows the conversion of string elements between different character sets. The bytes are
    /// copied unchanged.
    ///
    /// libhdf5 rejects such conversions. But ASCII is a subset of UTF-8, and many strings that
    /// files declare as ASCII are UTF-8.
    #[must_use]
    pub fn across_charsets(mut self) -> Self {
        self.across_charsets = true;
        self
    }

    /// Returns whether the options of a conversion allow strings to change from one character set
    /// to another.
    pub(super) fn may_convert_text(&self, from: CharacterSet, to: CharacterSet) -> bool {
        from == to || self.across_charsets
    }

    /// Requires every member of a destination compound in conversions between compounds. If the
    /// source compound lacks one of these members, the conversion is rejected.
    ///
    /// Without this, the bytes of such a member keep the values that the destination had before, as
    /// in libhdf5. A value of a Rust type has no values before, and zeros in their place would be
    /// wrong data.
    #[must_use]
    pub fn with_every_member(mut self) -> Self {
        self.every_member = true;
        self
    }

    /// Returns whether a conversion between compound datatypes fails if the source lacks a member
    /// of the destination.
    pub(super) fn needs_every_member(&self) -> bool {
        self.every_member
    }

    /// Returns the handling of conversion exceptions. An exception is a value that the destination
    /// datatype cannot represent.
    pub fn exceptions(&self) -> &Exceptions {
        &self.exceptions
    }

    /// Returns the heap that holds the variable-length data of a conversion's source elements.
    pub(super) fn source_heap(&self) -> Option<&Arc<dyn VariableSource>> {
        self.source_heap.as_ref()
    }

    /// Returns the heap that receives the variable-length data of a conversion's destination
    /// elements.
    pub(super) fn destination_heap(&self) -> Option<&Arc<dyn VariableSink>> {
        self.destination_heap.as_ref()
    }

    /// Plans the conversion of elements from the datatype `source` to the datatype `destination`.
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] if no rule converts the types.
    pub fn plan(&self, source: &Datatype, destination: &Datatype) -> Result<Conversion> {
        Self::finish(source, destination, self.kernel(source, destination)?)
    }

    /// Plans the conversion of a single member of a compound datatype. `path` names the member as
    /// in [`Datatype::member_at`].
    ///
    /// ```
    /// use hyperslab_datatype::{ByteOrder::LittleEndian, Datatype};
    /// use hyperslab_datatype::convert::{Conversions, ConvertError};
    /// let members = [("id", Datatype::u8()), ("count", Datatype::i16(LittleEndian))];
    /// let (record, float) = (Datatype::packed(members), Datatype::f32(LittleEndian));
    /// let count = Conversions::default().plan_member(&record, "count", &float)?;
    /// let mut out = [0; 4];
    /// count.convert(&[9, 3, 0], &mut out, 1)?;
    /// assert_eq!(out, 3_f32.to_le_bytes());
    /// # Ok::<(), ConvertError>(())
    /// ```
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] if the member does not exist, or no rule converts it.
    pub fn plan_member(&self, source: &Datatype, path: &str, destination: &Datatype) -> Result<Conversion> {
        let kernel = compound::field(source, path, destination, self)?
            .ok_or_else(|| ConvertError::unsupported(source, destination))?;
        Self::finish(source, destination, kernel)
    }

    fn finish(source: &Datatype, destination: &Datatype, kernel: Arc<dyn Kernel>) -> Result<Conversion> {
        let unsupported = || ConvertError::unsupported(source, destination);
        let source_size = size_of(source).ok_or_else(unsupported)?;
        let destination_size = size_of(destination).ok_or_else(unsupported)?;
        Ok(Conversion { source_size, destination_size, kernel })
    }

    /// Returns the kernel that converts elements from the datatype `source` to the datatype
    /// `destination`.
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] if no rule converts the types.
    pub fn kernel(&self, source: &Datatype, destination: &Datatype) -> Result<Arc<dyn Kernel>> {
        for rule in &self.rules {
            if let Some(kernel) = rule.kernel(source, destination, self)? {
                return Ok(kernel);
            }
        }
        for rule in BUILT_IN {
            if let Some(kernel) = rule(source, destination, self)? {
                return Ok(kernel);
            }
        }
        Err(ConvertError::unsupported(source, destination))
    }
}

/// Plans the conversion of elements between equal datatypes of any class. The conversion copies
/// bytes. Does not apply to variable-length data if the destination has a heap.
fn equal(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    let stays = conversions.destination_heap.is_none() || !source.is_variable_length();
    Ok((source == destination && stays).then(|| Arc::new(Copy) as _))
}

/// Plans the conversion of elements between array datatypes of equal shape. The items of all
/// elements are contiguous, so that one kernel converts all items.
fn array(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    let (DatatypeClass::Array(from), DatatypeClass::Array(to)) = (&source.class, &destination.class) else {
        return Ok(None);
    };
    if from.dims != to.dims || !is_filled(source, &from.base) || !is_filled(destination, &to.base) {
        return Ok(None);
    }
    conversions.kernel(&from.base, &to.base).map(Some)
}

/// Returns whether the items of an array datatype fill the whole size of its elements.
fn is_filled(array: &Datatype, base: &Datatype) -> bool {
    let size = array.array_len().and_then(|items| size_of(base)?.checked_mul(items));
    size.is_some() && size == size_of(array)
}

/// Returns the datatype of one part of an element with two equal parts. The element is a complex
/// number, or an array of two items. Returns `None` for other datatypes.
fn two_parts(datatype: &Datatype) -> Option<&Datatype> {
    let base = match &datatype.class {
        DatatypeClass::Complex(complex) => &complex.base,
        DatatypeClass::Array(array) if array.dims == [2] => &array.base,
        _ => return None,
    };
    (base.size.checked_mul(2) == Some(datatype.size)).then_some(base)
}

/// Plans the conversion of elements between complex datatypes, and between complex datatypes and
/// arrays of two items.
fn complex(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    match (two_parts(source), two_parts(destination)) {
        (Some(from), Some(to)) => conversions.kernel(from, to).map(Some),
        _ => Ok(None),
    }
}
