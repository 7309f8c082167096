//! The rules that plan conversions, and their order.

use std::sync::Arc;

use super::kernel::{Copy, Kernel};
use super::variable::{VariableSink, VariableSource};
use super::{Conversion, ConvertError, Exceptions, Result, size_of};
use super::{bitfield, compound, enumeration, native, number, packed, significant, text, variable};
use crate::{CharacterSet, Datatype, DatatypeClass};

/// A kernel, or nothing if the rule is not about these types.
pub(super) type Planned = Option<Arc<dyn Kernel>>;

/// A conversion that a caller adds.
///
/// Rules are asked before the built-in ones, the one that was added last first; also about the parts of compounds,
/// arrays, enumerations, complex numbers and sequences, for which `conversions` is there. The first rule that
/// gives a kernel decides, and so does the first that reports an error.
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
///         Ok((*source == bits && *destination == Datatype::u8()).then(|| Arc::new(CountBits) as _))
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
    /// The kernel for a pair of types, or `None` to leave the pair to the next rule.
    ///
    /// `conversions` plans the conversion of parts.
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] to say that no other rule shall convert the pair.
    fn kernel(
        &self,
        source: &Datatype,
        destination: &Datatype,
        conversions: &Conversions,
    ) -> Result<Option<Arc<dyn Kernel>>>;
}

/// The rules by which conversions are planned: a caller's own, then the built-in ones; what becomes of values that
/// the destination cannot hold; and the heaps of elements of variable length.
#[derive(Debug, Clone, Default)]
pub struct Conversions {
    rules: Vec<Arc<dyn Rule>>,
    exceptions: Exceptions,
    source_heap: Option<Arc<dyn VariableSource>>,
    destination_heap: Option<Arc<dyn VariableSink>>,
    across_charsets: bool,
}

/// A built-in rule.
type BuiltIn = fn(&Datatype, &Datatype, &Conversions) -> Result<Planned>;

/// Every built-in rule; the first that knows a pair of types decides.
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
    /// These conversions with one more rule, asked before all others.
    #[must_use]
    pub fn with(mut self, rule: Arc<dyn Rule>) -> Self {
        self.rules.insert(0, rule);
        self
    }

    /// These conversions with another answer to exceptions.
    #[must_use]
    pub fn with_exceptions(mut self, exceptions: Exceptions) -> Self {
        self.exceptions = exceptions;
        self
    }

    /// These conversions with a heap for the source's elements of variable length.
    #[must_use]
    pub fn with_source_heap(mut self, heap: Arc<dyn VariableSource>) -> Self {
        self.source_heap = Some(heap);
        self
    }

    /// These conversions with a heap for the destination's elements of variable length. Without one their
    /// descriptors are copied, where both sides have the same type, and mean something beside the source's heap
    /// only.
    #[must_use]
    pub fn with_destination_heap(mut self, heap: Arc<dyn VariableSink>) -> Self {
        self.destination_heap = Some(heap);
        self
    }

    /// These conversions, and strings from one character set to the other too, whose bytes are copied as they are.
    /// libhdf5 refuses that; but ASCII is UTF-8, and much that is called ASCII in files is UTF-8 too.
    #[must_use]
    pub fn across_charsets(mut self) -> Self {
        self.across_charsets = true;
        self
    }

    /// Whether text of one character set may become text of the other.
    pub(super) fn may_convert_text(&self, from: CharacterSet, to: CharacterSet) -> bool {
        from == to || self.across_charsets
    }

    /// What becomes of values that the destination cannot hold.
    pub fn exceptions(&self) -> &Exceptions {
        &self.exceptions
    }

    pub(super) fn source_heap(&self) -> Option<&Arc<dyn VariableSource>> {
        self.source_heap.as_ref()
    }

    pub(super) fn destination_heap(&self) -> Option<&Arc<dyn VariableSink>> {
        self.destination_heap.as_ref()
    }

    /// Plans a conversion.
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] if no rule knows how.
    pub fn plan(&self, source: &Datatype, destination: &Datatype) -> Result<Conversion> {
        Self::finish(source, destination, self.kernel(source, destination)?)
    }

    /// Plans the conversion of one member of compounds; the others are not looked at. `path` is that of
    /// [`Datatype::member_at`].
    ///
    /// ```
    /// use hyperslab_datatype::{ByteOrder::LittleEndian, Datatype};
    /// use hyperslab_datatype::convert::{Conversions, ConvertError};
    /// let record = Datatype::packed([("id", Datatype::u8()), ("count", Datatype::i16(LittleEndian))]);
    /// let count = Conversions::default().plan_member(&record, "count", &Datatype::f32(LittleEndian))?;
    /// let mut out = [0; 4];
    /// count.convert(&[9, 3, 0], &mut out, 1)?;
    /// assert_eq!(out, 3_f32.to_le_bytes());
    /// # Ok::<(), ConvertError>(())
    /// ```
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] if there is no such member, or no rule knows how to convert it.
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

    /// The kernel for elements of these types.
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] if no rule knows how.
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

/// Equal types of any class. Contents of variable length go from heap to heap where the destination has one.
fn equal(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    let stays = conversions.destination_heap.is_none() || !source.is_variable_length();
    Ok((source == destination && stays).then(|| Arc::new(Copy) as _))
}

/// Arrays of one shape: their items lie one after the other, so the items' kernel does.
fn array(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    let (DatatypeClass::Array(from), DatatypeClass::Array(to)) = (&source.class, &destination.class) else {
        return Ok(None);
    };
    if from.dims != to.dims || !is_filled(source, &from.base) || !is_filled(destination, &to.base) {
        return Ok(None);
    }
    conversions.kernel(&from.base, &to.base).map(Some)
}

/// Whether an array's size is that of its items.
fn is_filled(array: &Datatype, base: &Datatype) -> bool {
    let size = array.array_len().and_then(|items| size_of(base)?.checked_mul(items));
    size.is_some() && size == size_of(array)
}

/// The type of both parts, if the element is two of them: a complex number or an array of two.
fn two_parts(datatype: &Datatype) -> Option<&Datatype> {
    let base = match &datatype.class {
        DatatypeClass::Complex(complex) => &complex.base,
        DatatypeClass::Array(array) if array.dims == [2] => &array.base,
        _ => return None,
    };
    (base.size.checked_mul(2) == Some(datatype.size)).then_some(base)
}

/// Complex numbers to complex numbers or to and from arrays of two.
fn complex(source: &Datatype, destination: &Datatype, conversions: &Conversions) -> Result<Planned> {
    match (two_parts(source), two_parts(destination)) {
        (Some(from), Some(to)) => conversions.kernel(from, to).map(Some),
        _ => Ok(None),
    }
}
