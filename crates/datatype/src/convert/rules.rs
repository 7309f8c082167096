//! The rules that plan conversions, and their order.

use std::sync::Arc;

use super::kernel::{Copy, Kernel};
use super::{Conversion, ConvertError, Result, size_of};
use super::{bitfield, compound, enumeration, native, number, text};
use crate::{Datatype, DatatypeClass};

/// A kernel, or nothing if the rule is not about these types.
pub(super) type Planned = Option<Arc<dyn Kernel>>;

/// A conversion that a caller adds.
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

/// The rules by which conversions are planned: a caller's own, then the built-in ones.
#[derive(Debug, Clone, Default)]
pub struct Conversions {
    rules: Vec<Arc<dyn Rule>>,
}

/// A built-in rule.
type BuiltIn = fn(&Datatype, &Datatype, &Conversions) -> Result<Planned>;

/// Every built-in rule; the first that knows a pair of types decides.
const BUILT_IN: &[BuiltIn] = &[
    equal,
    native::rule,
    number::rule,
    bitfield::rule,
    text::rule,
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

    /// Plans a conversion.
    ///
    /// # Errors
    /// [`ConvertError::Unsupported`] if no rule knows how.
    pub fn plan(&self, source: &Datatype, destination: &Datatype) -> Result<Conversion> {
        let kernel = self.kernel(source, destination)?;
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

/// Equal types of any class.
fn equal(source: &Datatype, destination: &Datatype, _: &Conversions) -> Result<Planned> {
    Ok((source == destination).then(|| Arc::new(Copy) as _))
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
