//! Copies of attributes, in creation order.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::elements::ElementPlan;
use super::relocate::RelocationSource;
use super::{Copier, LostPart, Task};
use crate::error::{Error, Result};
use crate::object::attribute::{self, Attribute};
use crate::object::attribute_edit::{AttributeEditor, NewAttribute};
use crate::object::header::ObjectHeader;
use crate::object::path::lossy;
use crate::ops::OpenFile;
use crate::store::Edit;

impl Copier<'_> {
    /// Copies all attributes of a source object to its copy. Returns whether the object has
    /// attributes.
    ///
    /// # Errors
    /// Returns the errors of reading and writing attributes, except damage in a salvage.
    pub(super) fn copy_attributes(
        &mut self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        header: &ObjectHeader,
        task: &Task,
    ) -> Result<bool> {
        let mut found = Vec::new();
        let all = attribute::for_each(&source.container, header, &mut |attribute| {
            found.push(attribute);
            Ok(ControlFlow::Continue(()))
        });
        self.or_report(&task.path, LostPart::Attributes, all)?;
        self.report_damage(source, &task.path, &LostPart::Attributes);
        if found.is_empty() {
            return Ok(false);
        }
        found.sort_by_key(|attribute| attribute.creation_order);
        let target = self.target;
        let mut editor = AttributeEditor::open(&target.container, task.copy)?;
        for attribute in &found {
            let copied = self
                .copy_attribute(edit, source, attribute, task, &mut editor)
                .map_err(|error| error.context(format!("attribute `{}`", lossy(attribute.name()))));
            self.or_report(&task.path, LostPart::Attribute(attribute.name().to_vec()), copied)?;
        }
        editor.finish(edit)?;
        Ok(true)
    }

    fn copy_attribute(
        &mut self,
        edit: &mut Edit<'_>,
        source: &OpenFile,
        attribute: &Attribute,
        task: &Task,
        editor: &mut AttributeEditor<'_>,
    ) -> Result<()> {
        let value = attribute.value(&source.container)?;
        let (plan, datatype) = ElementPlan::new(&value.datatype, edit.params())?;
        let committed = match value.committed {
            // The editor increments the reference count of the datatype.
            Some(address) => self.committed(edit, task, address)?,
            None => None,
        };
        let count = value.dataspace.element_count().ok_or_else(|| {
            Error::corrupt("dataspace message", "sizes", "a product of at most 64 bits", "more")
        })?;
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(plan.from_size));
        // Elements that were never written are zeros. The limit of metadata blocks bounds them.
        let max = edit.store().limits().metadata_block;
        let unwritten = value.data.is_empty();
        let length =
            length.filter(|length| *length <= value.data.len() || (unwritten && *length as u64 <= max));
        let length = length.ok_or_else(|| {
            let expected = format!("{count} elements of {} bytes", plan.from_size);
            Error::corrupt("attribute message", "data", expected, format_args!("{} bytes", value.data.len()))
        })?;
        let zeros;
        let data = if let Some(data) = value.data.get(..length) {
            data
        } else {
            zeros = vec![0; length];
            &zeros
        };
        let moved;
        let data = if plan.is_copy() {
            data
        } else {
            let origin = RelocationSource { file: task.original.file, foreign: None, into: None };
            moved = self.relocate_elements_of(edit, &origin, &plan, data, &task.path)?;
            &moved
        };
        let attribute = NewAttribute {
            name: attribute.name(),
            charset: attribute.charset,
            datatype: &datatype,
            committed,
            dataspace: &value.dataspace,
            data,
        };
        editor.set(edit, &attribute).map(drop)
    }
}
