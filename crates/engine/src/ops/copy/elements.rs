//! Plans for relocating elements: the positions of variable-length data and references, at any
//! depth.

use hyperslab_datatype::{
    Array, Compound, Datatype, DatatypeClass, Member, Reference, ReferenceKind, VariableLength,
};
use hyperslab_format::codec::{FileParams, Limits};
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::reference::StoredReference;

use crate::error::{Error, Result};

/// A plan for the conversion of elements between two files. The plan lists the parts of an element
/// that refer to other data of the file.
#[derive(Debug, Clone)]
pub(super) struct ElementPlan {
    /// Size of an element in the source, in bytes.
    pub(super) from_size: usize,
    /// Size of an element in the target, in bytes.
    pub(super) to_size: usize,
    pub(super) parts: Vec<PlanPart>,
}

/// A part of an element to copy that refers to other data of the file, with two offsets: in the
/// source element and in the target element.
#[derive(Debug, Clone)]
pub(super) struct PlanPart {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: PartKind,
}

/// The kind of an element part that refers to other data of the file: a reference, or
/// variable-length data.
#[derive(Debug, Clone)]
pub(super) enum PartKind {
    /// This number of bytes, equal in both files.
    Bytes(usize),
    /// A variable-length sequence or string.
    Variable { from_size: usize, to_size: usize, item: Box<ElementPlan> },
    /// A reference.
    Reference { kind: Reference, from_size: usize, to_size: usize },
    /// This number of consecutive items.
    Array { count: usize, item: Box<ElementPlan> },
}

impl ElementPlan {
    /// Creates the plan for the conversion of elements of a datatype between files. Also returns
    /// the datatype in a file with the widths `params`.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if types are nested too deeply or elements are too large, and
    /// [`Error::Corrupt`] if the type contradicts itself.
    pub(super) fn new(datatype: &Datatype, params: FileParams) -> Result<(Self, Datatype)> {
        plan(datatype, params, 1)
    }

    /// Returns whether the conversion of elements between two files is a plain copy, because the
    /// elements have the same bytes in both files.
    pub(super) fn is_copy(&self) -> bool {
        self.from_size == self.to_size
            && self.parts.iter().all(|part| matches!(part.kind, PartKind::Bytes(_)) && part.from == part.to)
    }

    /// Returns whether the conversion of a structured chunk's elements between two files is a plain
    /// copy, because the elements have the same bytes in both files. The variable-length data of
    /// the elements is in the chunk.
    pub(super) fn is_copy_within_chunks(&self) -> bool {
        self.from_size == self.to_size
            && self.parts.iter().all(|part| {
                let same = match &part.kind {
                    PartKind::Bytes(_) => true,
                    PartKind::Variable { from_size, to_size, item } => {
                        from_size == to_size && item.is_copy_within_chunks()
                    }
                    PartKind::Reference { .. } => false,
                    PartKind::Array { item, .. } => item.is_copy_within_chunks(),
                };
                same && part.from == part.to
            })
    }

    fn bytes(size: u32) -> Self {
        let size = size as usize;
        let parts = vec![PlanPart { from: 0, to: 0, kind: PartKind::Bytes(size) }];
        Self { from_size: size, to_size: size, parts }
    }

    fn one(kind: PartKind, from_size: u32, to_size: u32) -> Self {
        let (from_size, to_size) = (from_size as usize, to_size as usize);
        Self { from_size, to_size, parts: vec![PlanPart { from: 0, to: 0, kind }] }
    }
}

fn plan(datatype: &Datatype, params: FileParams, depth: usize) -> Result<(ElementPlan, Datatype)> {
    if depth > Limits::MAX_DATATYPE_DEPTH {
        return Err(Error::unsupported(
            "copying elements of types that are nested deeper than a file can store",
        ));
    }
    if !datatype.points_into_file() {
        return Ok((ElementPlan::bytes(datatype.size), datatype.clone()));
    }
    let from = datatype.size;
    match &datatype.class {
        DatatypeClass::VariableLength(variable) => {
            let (item, base) = plan(&variable.base, params, depth + 1)?;
            let size = width(4 + GlobalHeapId::size(params))?;
            let class = VariableLength { kind: variable.kind, base: Box::new(base) };
            let kind =
                PartKind::Variable { from_size: from as usize, to_size: size as usize, item: Box::new(item) };
            let class = DatatypeClass::VariableLength(class);
            Ok((ElementPlan::one(kind, from, size), Datatype { size, class }))
        }
        DatatypeClass::Reference(reference) => {
            let size = match reference.kind {
                ReferenceKind::Object1 => params.offset_width(),
                ReferenceKind::DatasetRegion1 => GlobalHeapId::size(params),
                _ => StoredReference::size(params),
            };
            let size = width(size)?;
            let kind =
                PartKind::Reference { kind: *reference, from_size: from as usize, to_size: size as usize };
            Ok((ElementPlan::one(kind, from, size), Datatype { size, class: datatype.class.clone() }))
        }
        DatatypeClass::Array(array) => {
            let (item, base) = plan(&array.base, params, depth + 1)?;
            let count = datatype.array_len().ok_or_else(too_large)?;
            let size = width(item.to_size.checked_mul(count).ok_or_else(too_large)?)?;
            let class = DatatypeClass::Array(Array { dims: array.dims.clone(), base: Box::new(base) });
            let kind = PartKind::Array { count, item: Box::new(item) };
            Ok((ElementPlan::one(kind, from, size), Datatype { size, class }))
        }
        DatatypeClass::Compound(compound) => plan_compound(from, compound, params, depth),
        _ => Ok((ElementPlan::bytes(from), datatype.clone())),
    }
}

/// Returns the plan for the conversion of compound elements between files, and the compound
/// datatype in the target file. If a member changes its size, the later members move.
fn plan_compound(
    size: u32,
    compound: &Compound,
    params: FileParams,
    depth: usize,
) -> Result<(ElementPlan, Datatype)> {
    let mut order: Vec<usize> = (0..compound.members.len()).collect();
    order.sort_by_key(|number| compound.members.get(*number).map_or(0, |member| member.offset));
    let mut members: Vec<Member> = compound.members.clone();
    let mut grown = 0_i64;
    let mut parts = Vec::new();
    let moved = |offset: u32, grown: i64| {
        let offset_after =
            i64::from(offset).checked_add(grown).and_then(|offset_after| u32::try_from(offset_after).ok());
        offset_after.ok_or_else(too_large)
    };
    for number in order {
        let Some(member) = members.get_mut(number) else { continue };
        let (inner, datatype) = plan(&member.datatype, params, depth + 1)?;
        let to = moved(member.offset, grown)?;
        for part in inner.parts {
            let add = |start: usize, offset: u32| start.checked_add(offset as usize).ok_or_else(too_large);
            let (from, to) = (add(part.from, member.offset)?, add(part.to, to)?);
            parts.push(PlanPart { from, to, kind: part.kind });
        }
        // The message of a type has less than 2^31 members of at most 2^32 bytes.
        grown += i64::from(datatype.size) - i64::from(member.datatype.size);
        (member.offset, member.datatype) = (to, datatype);
    }
    let to_size = moved(size, grown)?;
    let plan = ElementPlan { from_size: size as usize, to_size: to_size as usize, parts };
    Ok((plan, Datatype { size: to_size, class: DatatypeClass::Compound(Compound { members }) }))
}

fn width(size: usize) -> Result<u32> {
    u32::try_from(size).map_err(|_| too_large())
}

fn too_large() -> Error {
    Error::unsupported("copying elements of 4 GiB and more")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(offsets: u8) -> FileParams {
        FileParams { size_of_offsets: offsets, ..FileParams::DEFAULT }
    }

    #[test]
    fn plain_elements_are_copied() {
        let datatype = Datatype::packed([("a", Datatype::u8()), ("b", Datatype::array([3], Datatype::i8()))]);
        let (plan, after) = ElementPlan::new(&datatype, params(4)).unwrap();
        assert!(plan.is_copy());
        assert_eq!(after, datatype);
    }

    #[test]
    fn members_after_smaller_ones_move_forward() {
        let reference = Datatype::object_reference(8);
        let pair = Datatype::array([2], reference);
        let datatype = Datatype::packed([("a", Datatype::u8()), ("b", pair), ("c", Datatype::u8())]);
        let (plan, after) = ElementPlan::new(&datatype, params(4)).unwrap();
        assert!(!plan.is_copy());
        assert_eq!((plan.from_size, plan.to_size, after.size), (18, 10, 10));
        assert_eq!(after.member_at("c").map(|(offset, _)| offset), Some(9));
        let places: Vec<(usize, usize)> = plan.parts.iter().map(|part| (part.from, part.to)).collect();
        assert_eq!(places, [(0, 0), (1, 1), (17, 9)]);
    }

    #[test]
    fn pointers_are_never_copied_as_they_are() {
        let (plan, after) = ElementPlan::new(&Datatype::object_reference(8), params(8)).unwrap();
        assert!(!plan.is_copy());
        assert_eq!(after, Datatype::object_reference(8));
    }
    #[test]
    fn arrays_larger_than_memory_are_refused() {
        let dims = [u32::MAX; 3].into_iter().collect();
        let class = DatatypeClass::Array(Array { dims, base: Box::new(Datatype::object_reference(8)) });
        let error = ElementPlan::new(&Datatype { size: 8, class }, params(8)).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Unsupported, "{error}");
    }
}
