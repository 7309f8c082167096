//! The report of a salvage: the state of each object of the damaged file.

use std::fmt;

use hyperslab_dataspace::Region;

use crate::ObjectKind;
pub use hyperslab_engine::ops::ChunkTally;

/// The result of a salvage: the objects of the damaged file and their losses. See
/// [`Recovery`](crate::Recovery) for an example.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Salvaged {
    /// The objects, in the order in which they were copied.
    pub objects: Vec<SalvagedObject>,
}

/// The result of a salvage for one object of the damaged file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SalvagedObject {
    /// The path of the object.
    pub path: String,
    /// The kind of the object; `None` if it is not known.
    pub kind: Option<ObjectKind>,
    /// The address of the object header in the damaged file, if it is known.
    pub address: Option<u64>,
    /// The numbers of chunks of a chunked dataset.
    pub chunks: Option<ChunkTally>,
    /// The losses of the object.
    pub losses: Vec<Loss>,
    /// The number of losses that `losses` does not list.
    pub more_losses: u64,
}

/// A part of an object that a salvage could not copy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The part that was lost.
    pub part: LossPart,
    /// The name of the damaged structure in the specification, if a structure is damaged.
    pub structure: Option<&'static str>,
    /// The address of the damaged structure.
    pub address: Option<u64>,
    /// The description of the damage.
    pub why: String,
}

/// The part of an object that a salvage lost, such as attributes or elements.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossPart {
    /// The whole object.
    Object,
    /// A metadata block with unknown contents.
    Block,
    /// Some or all links.
    Links,
    /// Some or all attributes.
    Attributes,
    /// The attribute with this name.
    Attribute(String),
    /// The comment.
    Comment,
    /// All elements. They read as the fill value in the new file.
    Elements,
    /// Consecutive elements in C order. They have the fill value in the new file.
    Row {
        /// The index of the first element.
        first: u64,
        /// The number of elements.
        count: u64,
    },
    /// The elements of a region. They have the fill value in the new file.
    Region(Region),
    /// The variable-length data or targets of references of some elements. They are empty in the
    /// new file.
    Contents,
}

/// The state of one object after a salvage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SalvagedState {
    /// All parts were copied.
    Whole,
    /// Some parts were lost.
    Partly,
    /// The object is not in the new file.
    Lost,
}

/// The overall result of a salvage for the file: whole, partly or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// All objects were copied as a whole.
    Whole,
    /// Some objects or parts of objects were lost.
    Partly,
    /// No object was copied.
    Nothing,
}

impl SalvagedState {
    /// Returns the name of an object's salvage state, for printed reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Partly => "partly",
            Self::Lost => "lost",
        }
    }
}

impl SalvagedObject {
    /// Returns the state of the object after the salvage.
    pub fn state(&self) -> SalvagedState {
        let lost = self.losses.iter().any(|loss| loss.part == LossPart::Object);
        match lost {
            true => SalvagedState::Lost,
            false if self.losses.is_empty() => SalvagedState::Whole,
            false => SalvagedState::Partly,
        }
    }
}

impl Salvaged {
    /// Returns the overall result of the salvage for the file.
    pub fn outcome(&self) -> Outcome {
        let any = |wanted: SalvagedState| self.objects.iter().any(|object| object.state() == wanted);
        // A root group alone does not count as a saved object.
        let saved =
            self.objects.iter().any(|object| object.path != "/" && object.state() != SalvagedState::Lost);
        match any(SalvagedState::Partly) || any(SalvagedState::Lost) {
            false if !self.objects.is_empty() => Outcome::Whole,
            _ if saved => Outcome::Partly,
            _ => Outcome::Nothing,
        }
    }

    /// Returns the number of salvaged objects that have a given state.
    pub fn count(&self, state: SalvagedState) -> usize {
        self.objects.iter().filter(|object| object.state() == state).count()
    }
}

impl fmt::Display for LossPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object => f.write_str("the object"),
            Self::Block => f.write_str("a block"),
            Self::Links => f.write_str("links"),
            Self::Attributes => f.write_str("attributes"),
            Self::Attribute(name) => write!(f, "attribute `{name}`"),
            Self::Comment => f.write_str("the comment"),
            Self::Elements => f.write_str("all elements"),
            Self::Row { first, count } => write!(f, "{count} elements from number {first} on"),
            Self::Region(region) => {
                f.write_str("elements [")?;
                for (number, (start, end)) in region.bounds().enumerate() {
                    let comma = if number > 0 { ", " } else { "" };
                    write!(f, "{comma}{start}:{end}")?;
                }
                f.write_str("]")
            }
            Self::Contents => f.write_str("the targets of some elements"),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.why)
    }
}

impl fmt::Display for SalvagedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.state().name(), self.path)?;
        if let Some(kind) = self.kind {
            write!(f, " ({})", kind.name())?;
        }
        if let Some(chunks) = self.chunks.filter(|_| !self.losses.is_empty()) {
            let ChunkTally { copied, damaged, possible } = chunks;
            write!(f, ", {copied} chunks of {possible} possible ones saved, {damaged} damaged")?;
        }
        for loss in &self.losses {
            write!(f, "\n  {loss}")?;
        }
        if self.more_losses > 0 {
            write!(f, "\n  and {} more", self.more_losses)?;
        }
        Ok(())
    }
}

/// Writes a line and the losses for each object that is not whole, and then the numbers of objects
/// by state.
impl fmt::Display for Salvaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for object in self.objects.iter().filter(|object| object.state() != SalvagedState::Whole) {
            writeln!(f, "{object}")?;
        }
        let count = |state| self.count(state);
        write!(
            f,
            "{} objects whole, {} partly, {} lost",
            count(SalvagedState::Whole),
            count(SalvagedState::Partly),
            count(SalvagedState::Lost)
        )
    }
}
