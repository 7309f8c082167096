//! Takes down what is told while a damaged file is copied.

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

/// Losses of one object that are listed.
const MOST_LOSSES: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Collector {
    found: RefCell<Found>,
}

#[derive(Debug, Default)]
struct Found {
    objects: Vec<SalvagedObject>,
    /// Objects by two hashes of their paths, since whole paths of deep groups would take much memory.
    by_path: HashMap<(u64, u64), usize>,
    hashers: [RandomState; 2],
}

impl Found {
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
        self.found.borrow().objects.iter().any(|object| !object.losses.is_empty())
    }

    pub(super) fn finish(self) -> Salvaged {
        Salvaged { objects: self.found.into_inner().objects }
    }
}

impl CopyGuide for Collector {
    fn salvage(&self) -> Option<&dyn Salvage> {
        Some(self)
    }
}

impl Salvage for Collector {
    fn object(&self, path: &str, kind: ObjectKind, address: Address) {
        if let Some(object) = self.found.borrow_mut().object(path) {
            (object.kind, object.address) = (Some(kind), address.get());
        }
    }

    fn lost(&self, path: &str, part: LostPart, damage: Damage) {
        let mut found = self.found.borrow_mut();
        let (path, part) = match part {
            // What a link leads to is an object of its own.
            LostPart::Link(name) => {
                let name = String::from_utf8_lossy(&name).into_owned();
                (format!("{}/{name}", path.trim_end_matches('/')), LossPart::Object)
            }
            part => (path.to_owned(), loss_of(part)),
        };
        let Damage { structure, address, why } = damage;
        let Some(object) = found.object(&path) else { return };
        // Of a row of elements in pieces, one.
        if let (
            LossPart::Row { first, count },
            Some(Loss { part: LossPart::Row { first: start, count: length }, .. }),
        ) = (&part, object.losses.last_mut())
            && start.saturating_add(*length) == *first
        {
            *length = length.saturating_add(*count);
            return;
        }
        let loss = Loss { part, structure, address, why };
        if object.losses.iter().rev().take(16).any(|known| *known == loss) {
            return;
        }
        if object.losses.len() >= MOST_LOSSES && loss.part != LossPart::Object {
            object.more_losses = object.more_losses.saturating_add(1);
        } else {
            object.losses.push(loss);
        }
    }

    fn chunks(&self, path: &str, tally: ChunkTally) {
        if let Some(object) = self.found.borrow_mut().object(path) {
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
