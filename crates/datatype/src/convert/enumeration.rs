//! Enumerations: between themselves by name, and as the numbers of their base.

use std::collections::HashMap;
use std::sync::Arc;

use super::kernel::{Each, Element};
use super::rules::{Conversions, Planned};
use super::{Result, size_of};
use crate::{Datatype, DatatypeClass};

/// Values of the source to values of the destination with the same name.
#[derive(Debug)]
struct ByName {
    values: HashMap<Vec<u8>, Vec<u8>>,
}

impl Element for ByName {
    type Scratch = ();

    fn convert(&self, source: &[u8], destination: &mut [u8], (): &mut ()) {
        match self.values.get(source) {
            Some(value) if value.len() == destination.len() => destination.copy_from_slice(value),
            // As libhdf5 writes values that have no name on the other side.
            _ => destination.fill(0xff),
        }
    }
}

/// Enumerations to enumerations, by the names of their values.
pub(super) fn between(source: &Datatype, destination: &Datatype, _: &Conversions) -> Result<Planned> {
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
        let (source_size, destination_size) = (size_of(source)?, size_of(destination)?);
        Some(Each { source_size, destination_size, each: ByName { values } })
    };
    Ok(plan().map(|kernel| Arc::new(kernel) as _))
}

/// Enumerations to numbers and numbers to enumerations, through the base.
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
