//! Elements that refer to other parts of the file: variable-length data and references.

use hyperslab_datatype::{Datatype, DatatypeClass, ReferenceKind};
use hyperslab_format::codec::{Address, Reader};
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::reference::{ReferenceBlock, ReferenceTarget, RegionBlock, StoredReference};

use crate::file::{Checker, to_usize};

const SEQUENCE: &str = "variable-length element";
const REFERENCE: &str = "reference";

/// A plan for scanning elements: the parts of an element that refer to other parts of the file.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    Nothing,
    /// A variable-length sequence or string: the size of an item in bytes, and the plan of the
    /// items.
    Sequence {
        item: usize,
        base: Box<Plan>,
    },
    Reference(ReferenceKind),
    /// Members of a compound: offset, size and plan of each.
    Members(Vec<(usize, usize, Plan)>),
    /// The contiguous items of an array: the size of an item in bytes, and the plan of the items.
    Items {
        item: usize,
        base: Box<Plan>,
    },
}

impl Plan {
    /// Returns the scan plan for elements of `datatype`. Returns `Nothing` if the options of the
    /// check switch off the scan of elements.
    pub(crate) fn of(checker: &Checker, datatype: &Datatype) -> Self {
        if checker.look_into_elements { Self::new(datatype) } else { Self::Nothing }
    }

    /// Builds the scan plan for a datatype. The recursion ends, because the decoder limits the
    /// depth of datatypes.
    fn new(datatype: &Datatype) -> Self {
        let size = |datatype: &Datatype| to_usize(datatype.size.into());
        match &datatype.class {
            _ if !datatype.points_into_file() => Self::Nothing,
            DatatypeClass::VariableLength(variable) => {
                Self::Sequence { item: size(&variable.base), base: Box::new(Self::new(&variable.base)) }
            }
            DatatypeClass::Reference(reference) => Self::Reference(reference.kind),
            DatatypeClass::Array(array) => {
                Self::Items { item: size(&array.base), base: Box::new(Self::new(&array.base)) }
            }
            DatatypeClass::Compound(compound) => {
                let members = compound.members.iter().filter(|member| member.datatype.points_into_file());
                Self::Members(
                    members
                        .map(|member| {
                            let of = &member.datatype;
                            (to_usize(member.offset.into()), size(of), Self::new(of))
                        })
                        .collect(),
                )
            }
            _ => Self::Nothing,
        }
    }

    /// Returns true if the scan plan of a datatype is empty, because the elements hold no
    /// references into the file.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }
}

/// Scans contiguous elements of `size` bytes each for references to other parts of the file.
pub(crate) fn scan_all(checker: &mut Checker, plan: &Plan, size: usize, bytes: &[u8], owner: Address) {
    if plan.is_nothing() || size == 0 {
        return;
    }
    for element in bytes.chunks_exact(size) {
        scan(checker, plan, element, owner);
    }
}

/// Scans one element for references to other parts of the file. The recursion ends, because each
/// heap object is scanned only once.
fn scan(checker: &mut Checker, plan: &Plan, element: &[u8], owner: Address) {
    match plan {
        Plan::Nothing => {}
        Plan::Sequence { item, base } => {
            sequence(checker, (*item, base), element, owner);
        }
        Plan::Reference(kind) => {
            reference(checker, *kind, element, owner);
        }
        Plan::Members(members) => {
            for (offset, size, plan) in members {
                if let Some(member) = element.get(*offset..offset.saturating_add(*size)) {
                    scan(checker, plan, member, owner);
                }
            }
        }
        Plan::Items { item, base } => scan_all(checker, base, *item, element, owner),
    }
}

fn sequence(
    checker: &mut Checker,
    (item, base): (usize, &Plan),
    element: &[u8],
    owner: Address,
) -> Option<()> {
    let mut reader = Reader::new(SEQUENCE, element);
    let count = checker.decoded(SEQUENCE, owner, reader.u32("length"))?;
    let id = checker.decoded(SEQUENCE, owner, GlobalHeapId::read(&mut reader, checker.params))?;
    if id.is_null() {
        if count > 0 {
            checker.fault(SEQUENCE, owner, format!("a sequence has {count} items, but a null heap ID"));
        }
        return None;
    }
    if count == 0 {
        return None;
    }
    let found = checker.refer(id, owner)?;
    let wanted = u64::from(count) * item as u64;
    if found.length < wanted {
        let text =
            format!("{count} items of {item} bytes do not fit into a heap object of {} bytes", found.length);
        checker.fault(SEQUENCE, owner, text);
        return None;
    }
    if found.first && !base.is_nothing() {
        let bytes = checker.heap_object(id)?;
        scan_all(checker, base, item, bytes.get(..to_usize(wanted))?, owner);
    }
    Some(())
}

fn reference(checker: &mut Checker, kind: ReferenceKind, element: &[u8], owner: Address) -> Option<()> {
    let params = checker.params;
    match kind {
        ReferenceKind::Object1 => {
            let address = Reader::new(REFERENCE, element).offset(params, "address");
            let address = checker.decoded(REFERENCE, owner, address)?;
            checker.record_reference(address);
        }
        ReferenceKind::DatasetRegion1 => {
            let id = GlobalHeapId::read(&mut Reader::new(REFERENCE, element), params);
            let id = checker.decoded(REFERENCE, owner, id)?;
            if id.is_null() || !checker.refer(id, owner)?.first {
                return None;
            }
            let block = checker.heap_object(id)?;
            let block =
                checker.decoded("region reference", id.collection, RegionBlock::decode(&block, params))?;
            checker.record_reference(block.object);
        }
        ReferenceKind::Object2 | ReferenceKind::DatasetRegion2 | ReferenceKind::Attribute => {
            revised(checker, element, owner)?;
        }
    }
    Some(())
}

fn revised(checker: &mut Checker, element: &[u8], owner: Address) -> Option<()> {
    let params = checker.params;
    match checker.decoded(REFERENCE, owner, StoredReference::decode(element, params))? {
        StoredReference::Null => {}
        StoredReference::Object(token) => {
            let address = checker.decoded(REFERENCE, owner, token.address(params))?;
            checker.record_reference(address);
        }
        StoredReference::Block { kind, external, size, id } => {
            let found = checker.refer(id, owner)?;
            if found.length < size.into() {
                checker.fault(
                    REFERENCE,
                    owner,
                    format!(
                        "a reference of {size} bytes does not fit into a heap object of {} bytes",
                        found.length
                    ),
                );
            }
            if !found.first {
                return None;
            }
            let block = checker.heap_object(id)?;
            let block = ReferenceBlock::decode(&block, kind, external);
            let block = checker.decoded(REFERENCE, id.collection, block)?;
            if block.file.is_none() {
                let address = checker.decoded(REFERENCE, id.collection, block.token.address(params))?;
                checker.record_reference(address);
            }
            if let ReferenceTarget::Attribute { name } = &block.target
                && name.is_empty()
            {
                checker.fault(REFERENCE, id.collection, "the attribute reference has no attribute name");
            }
        }
    }
    Some(())
}

impl Checker {
    /// Records that a reference in an element leads to the object at `address`.
    fn record_reference(&mut self, address: Address) {
        if address.is_defined() && address.raw() != 0 {
            self.references.insert(address);
        }
    }
}
