//! Conversion of enumerations: to enumerations by name, to and from numbers by value.

use std::collections::HashMap;
use std::sync::Arc;

use super::kernel::Kernel;
use super::rules::{Conversions, Planned};
use super::{Exception, ExceptionKind, Exceptions, Result, size_of};
use crate::{Datatype, DatatypeClass};

/// A conversion kernel that converts enumeration values by name: the destination value has the same
/// name as the source value.
#[derive(Debug)]
struct ByName {
    values: HashMap<Vec<u8>, Vec<u8>>,
    from: Datatype,
    to: Datatype,
    sizes: (usize, usize),
    exceptions: Exceptions,
}

impl Kernel for ByName {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<()> {
        let sources = source.chunks_exact(self.sizes.0);
        // Keep the last result, because neighbouring elements are often equal.
        let mut last: Option<(&[u8], &[u8])> = None;
        for (at, (from, to)) in sources.zip(destination.chunks_exact_mut(self.sizes.1)).enumerate() {
            let known = last.filter(|(known, _)| *known == from);
            let found = || self.values.get(from).filter(|value| value.len() == to.len());
            if let Some((_, value)) = known.or_else(|| found().map(|value| (from, value.as_slice()))) {
                to.copy_from_slice(value);
                last = Some((from, value));
                continue;
            }
            let (kind, from_type, to_type) = (ExceptionKind::NoName, &self.from, &self.to);
            let exception = Exception { kind, from: from_type, to: to_type, source: from };
            let here = |_| at * self.sizes.0;
            if !self.exceptions.handle(&exception, to).map_err(|error| error.map_index(here))? {
                // libhdf5 writes the same bytes for values without a name in the destination.
                to.fill(0xff);
            }
        }
        Ok(())
    }
}

/// Plans the conversion of elements between two enumeration datatypes, by the names of the values.
pub(super) fn between(
    source: &Datatype,
    destination: &Datatype,
    conversions: &Conversions,
) -> Result<Planned> {
    let (DatatypeClass::Enumeration(from), DatatypeClass::Enumeration(to)) =
        (&source.class, &destination.class)
    else {
        return Ok(None);
    };
    let mut by_name = HashMap::with_capacity(to.members.len());
    for member in &to.members {
        by_name.entry(member.name.as_slice()).or_insert(member.value.as_slice());
    }
    let mut values = HashMap::with_capacity(from.members.len());
    for member in &from.members {
        if let Some(value) = by_name.get(member.name.as_slice()) {
            values.entry(member.value.clone()).or_insert_with(|| value.to_vec());
        }
    }
    let plan = || {
        let sizes = (size_of(source)?, size_of(destination)?);
        let (from, to, exceptions) = (source.clone(), destination.clone(), conversions.exceptions().clone());
        Some(ByName { values, from, to, sizes, exceptions })
    };
    Ok(plan().map(|kernel| Arc::new(kernel) as _))
}

/// Plans the conversion of elements between an enumeration datatype and a number. The conversion
/// uses the base type of the enumeration.
pub(super) fn from_or_to_base(
    source: &Datatype,
    destination: &Datatype,
    conversions: &Conversions,
) -> Result<Planned> {
    match (&source.class, &destination.class) {
        (DatatypeClass::Enumeration(from), _) if destination.is_number() && from.base.size == source.size => {
            conversions.kernel(&from.base, destination).map(Some)
        }
        (_, DatatypeClass::Enumeration(to)) if source.is_number() && to.base.size == destination.size => {
            conversions.kernel(source, &to.base).map(Some)
        }
        _ => Ok(None),
    }
}
