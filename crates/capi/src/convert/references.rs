//! Conversions between references in files and references in memory (`H5R_ref_t`).
//!
//! A reference in memory contains the number of a target, and [`crate::h5r_new`] stores the
//! targets. The conversion reads and adds targets. Therefore it runs on the calling thread, and
//! only while no element is being read from the file.

use std::sync::Arc;

use hyperslab::datatype::convert::{Conversions, ConvertError, HeapError, Kernel, Rule as RuleTrait};
use hyperslab::datatype::{Reference, ReferenceKind};
use hyperslab::{Datatype, DatatypeClass, ReferenceTarget};

use crate::error::{Failure, Outcome};
use crate::file::SharedFile;
use crate::h5r_new::{H5R_ref_t, Held};
use crate::symbols::datatypes::REFERENCE_BYTES;

/// Returns whether a datatype is the type of references that a program holds in memory
/// (`H5T_STD_REF`).
pub fn is_held(datatype: &Datatype) -> bool {
    let DatatypeClass::Reference(reference) = &datatype.class else { return false };
    datatype.size == REFERENCE_BYTES && reference.kind == ReferenceKind::Object2
}

/// Returns true if the conversion rule for references applies to two datatypes or their members:
/// one stores references in the file form, the other in the memory form. Returns false for
/// compounds with variable-length data.
pub fn apply(source: &Datatype, destination: &Datatype) -> bool {
    match (&source.class, &destination.class) {
        (DatatypeClass::Reference(_), DatatypeClass::Reference(_)) => is_held(source) != is_held(destination),
        (DatatypeClass::Array(from), DatatypeClass::Array(to)) => apply(&from.base, &to.base),
        (DatatypeClass::Compound(from), DatatypeClass::Compound(to)) => {
            if source.is_variable_length() || destination.is_variable_length() {
                return false;
            }
            to.members.iter().any(|member| {
                let same = from.members.iter().find(|other| other.name == member.name);
                same.is_some_and(|other| apply(&other.datatype, &member.datatype))
            })
        }
        _ => false,
    }
}

/// A datatype conversion rule for references between the file form and the memory form
/// (`H5R_ref_t`).
#[derive(Debug)]
pub struct Rule {
    /// The file that stores the references.
    pub shared: Arc<SharedFile>,
}

impl RuleTrait for Rule {
    fn kernel(
        &self,
        source: &Datatype,
        destination: &Datatype,
        _: &Conversions,
    ) -> Result<Option<Arc<dyn Kernel>>, ConvertError> {
        let (DatatypeClass::Reference(from), DatatypeClass::Reference(to)) =
            (&source.class, &destination.class)
        else {
            return Ok(None);
        };
        let (kind, holds) = match (is_held(source), is_held(destination)) {
            (false, true) => (*from, true),
            (true, false) => (*to, false),
            _ => return Ok(None),
        };
        let sizes = (source.size as usize, destination.size as usize);
        Ok(Some(Arc::new(Between { shared: Arc::clone(&self.shared), kind, holds, sizes })))
    }
}

/// A conversion of references between their form in the file and their form in memory.
#[derive(Debug)]
struct Between {
    /// The file that stores the references.
    shared: Arc<SharedFile>,
    /// The kind of the references in the file.
    kind: Reference,
    /// True if the conversion produces references in memory form.
    holds: bool,
    /// The sizes of a source element and of a destination element in bytes.
    sizes: (usize, usize),
}

impl Between {
    /// Converts a reference from the file to the form in memory, and returns its bytes. A null
    /// reference consists of zero bytes.
    fn hold(&self, element: &[u8]) -> Outcome<Vec<u8>> {
        let reference = self.shared.file.reference(self.kind, element)?;
        if reference.is_null() {
            return Ok(vec![0; self.sizes.1]);
        }
        let target = reference.target().clone();
        Ok(H5R_ref_t::hold(Held { shared: Arc::clone(&self.shared), target }).bytes())
    }

    /// Converts a reference in memory to the form in the file, and returns its bytes.
    fn store(&self, element: &[u8]) -> Outcome<Vec<u8>> {
        if element.iter().all(|byte| *byte == 0) {
            return Ok(vec![0; self.sizes.1]);
        }
        let Held { shared, target } = H5R_ref_t::of_bytes(element).held()?;
        let target = if Arc::ptr_eq(&shared, &self.shared) {
            target
        } else {
            ReferenceTarget::External { file: shared.name.clone(), target: Box::new(target) }
        };
        Ok(self.shared.file.store_reference(self.kind, self.sizes.1, &target)?)
    }
}

impl Kernel for Between {
    fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), ConvertError> {
        let failed = |failure: Failure| {
            let text =
                failure.causes.into_iter().next().map_or_else(String::new, |cause| cause.text.into_owned());
            ConvertError::Heap(HeapError::new(text))
        };
        let elements = source.chunks_exact(self.sizes.0.max(1));
        for (from, to) in elements.zip(destination.chunks_exact_mut(self.sizes.1.max(1))) {
            let made = if self.holds { self.hold(from) } else { self.store(from) }.map_err(failed)?;
            to.iter_mut().zip(made).for_each(|(to, from)| *to = from);
        }
        Ok(())
    }
}
