//! The list of objects and losses that a salvage collects while it copies a damaged file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

use hyperslab_engine::Address;
use hyperslab_engine::ops::objects::ObjectKind;
use hyperslab_engine::ops::{ChunkTally, CopyGuide, LostPart, Salvage};
use hyperslab_engine::store::Damage;

use crate::walk::name_of;

use super::report::{Loss, LossPart, Salvaged, SalvagedObject};

/// The largest number of losses of a salvage that are listed for one object.
const MAX_LISTED_LOSSES: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Collector {
    record: RefCell<SalvageRecord>,
}

#[derive(Debug, Default)]
struct SalvageRecord {
    objects: Vec<SalvagedObject>,
    /// Indexes of objects by two hashes of the path, because whole paths of nested groups would
    /// need much memory.
    by_path: HashMap<(u64, u64), usize>,
    hashers: [RandomState; 2],
}

impl SalvageRecord {
    fn object(&mut self, path: &str) -> Option<&mut SalvagedObject> {
        let next = self.objects.len();
        let [one, other] = self.hashers.each_ref().map(|hasher| hasher.hash_one(path));
        let number = *self.by_path.entry((one, other)).or_insert(next);
        if number == next {
            self.objects.push(SalvagedObject {
                path: name_of(path.as_bytes()).into_owned(),
                kind: None,
                address: None,
                chunks: None,
                losses: Vec::new(),
                more_losses: 0,
            });
        }
        self.objects.get_mut(number)
    }
}

impl Collector {
    pub(super) fn has_losses(&self) -> bool {
        self.record.borrow().objects.iter().any(|object| !object.losses.is_empty())
    }

    pub(super) fn finish(self) -> Salvaged {
        Salvaged { objects: self.record.into_inner().objects }
    }
}

impl CopyGuide for Collector {
    fn salvage(&self) -> Option<&dyn Salvage> {
        Some(self)
    }
}

impl Salvage for Collector {
    fn object(&self, path: &str, kind: ObjectKind, address: Address) {
        if let Some(object) = self.record.borrow_mut().object(path) {
            (object.kind, object.address) = (Some(kind), address.get());
        }
    }

    fn lost(&self, path: &str, part: LostPart, damage: Damage) {
        let mut record = self.record.borrow_mut();
        let (path, part) = match part {
            // The target of a link is recorded as an object.
            LostPart::Link(name) => {
                let name = String::from_utf8_lossy(&name).into_owned();
                (format!("{}/{name}", path.trim_end_matches('/')), LossPart::Object)
            }
            part => (path.to_owned(), loss_of(part)),
        };
        let Damage { structure, address, why } = damage;
        let Some(object) = record.object(&path) else { return };
        // Adjacent rows of elements become one loss.
        if let (
            LossPart::Row { first, count },
            Some(Loss { part: LossPart::Row { first: start, count: length }, .. }),
        ) = (&part, object.losses.last_mut())
            && start.checked_add(*length) == Some(*first)
            && let Some(sum) = length.checked_add(*count)
        {
            *length = sum;
            return;
        }
        let loss = Loss { part, structure, address, why };
        if object.losses.iter().rev().take(16).any(|known| *known == loss) {
            return;
        }
        if object.losses.len() >= MAX_LISTED_LOSSES && loss.part != LossPart::Object {
            object.more_losses += 1;
        } else {
            object.losses.push(loss);
        }
    }

    fn chunks(&self, path: &str, tally: ChunkTally) {
        if let Some(object) = self.record.borrow_mut().object(path) {
            object.chunks = Some(tally);
        }
    }
}

fn loss_of(part: LostPart) -> LossPart {
    match part {
        LostPart::Object | LostPart::Link(_) => LossPart::Object,
        LostPart::Block => LossPart::Block,
        LostPart::Links => LossPart::Links,
        LostPart::Attributes => LossPart::Attributes,
        LostPart::Attribute(name) => LossPart::Attribute(String::from_utf8_lossy(&name).into_owned()),
        LostPart::Comment => LossPart::Comment,
        LostPart::Elements => LossPart::Elements,
        LostPart::Row { first, count } => LossPart::Row { first, count },
        LostPart::Box(region) => LossPart::Region(region),
        LostPart::VariableData => LossPart::Contents,
    }
}
