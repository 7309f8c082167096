//! The reuse of committed datatypes of the target that equal committed datatypes of the source.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use hyperslab_datatype::Datatype;
use hyperslab_format::codec::Address;

use super::Copier;
use super::elements::ElementPlan;
use crate::error::Result;
use crate::object::dataset::committed_datatype;
use crate::object::group;
use crate::object::header::ObjectHeader;
use crate::object::kind::ObjectKind;
use crate::object::link::LinkTarget;
use crate::ops::OpenFile;

impl Copier<'_> {
    /// Returns the address of a committed datatype of the target file that equals a source
    /// datatype. `None` means that the copy options do not require the reuse of datatypes, or that
    /// no datatype is equal. The source datatype has the given object header.
    ///
    /// # Errors
    /// Returns the errors of reading the datatypes.
    pub(super) fn committed_like(
        &mut self,
        source: &OpenFile,
        header: &ObjectHeader,
    ) -> Result<Option<Address>> {
        if !self.options.merge_committed_datatypes {
            return Ok(None);
        }
        let datatype = committed_datatype(&source.container, header)?;
        let (_, datatype) = ElementPlan::new(&datatype, self.target.container.params())?;
        if self.committed.is_none() {
            self.committed = Some(committed_in(self.target)?);
        }
        Ok(self.committed.as_ref().and_then(|known| known.get(&datatype).copied()))
    }
}

/// Returns the committed datatypes of the target file to which hard links lead, and their
/// addresses. Of several equal datatypes, returns only the first one.
///
/// # Errors
/// Returns the errors of reading groups and datatypes.
fn committed_in(file: &OpenFile) -> Result<HashMap<Datatype, Address>> {
    let container = &file.container;
    let mut found = HashMap::new();
    let mut seen = HashSet::from([file.root()]);
    let mut next = vec![file.root()];
    while let Some(address) = next.pop() {
        let header = ObjectHeader::load(&container.store, address)?;
        match ObjectKind::of(&header) {
            Some(ObjectKind::Datatype) => {
                found.entry(committed_datatype(container, &header)?).or_insert(address);
            }
            Some(ObjectKind::Group) => group::for_each(container, &header, &mut |link| {
                if let LinkTarget::Hard(target) = link.target
                    && seen.insert(target)
                {
                    next.push(target);
                }
                Ok(ControlFlow::Continue(()))
            })?,
            _ => {}
        }
    }
    Ok(found)
}
