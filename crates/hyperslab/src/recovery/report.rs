//! What became of each object of a damaged file.

use std::fmt;

use hyperslab_dataspace::Region;

use crate::ObjectKind;
pub use hyperslab_engine::ops::ChunkTally;

/// What was saved of a damaged file, and what was lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Salvaged {
    /// The objects that were found, in the order in which they were copied.
    pub objects: Vec<SalvagedObject>,
}

/// An object of a damaged file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SalvagedObject {
    /// Its path.
    pub path: String,
    /// What it is; `None` if that could not be found out.
    pub kind: Option<ObjectKind>,
    /// The address of its header in the damaged file, where known.
    pub address: Option<u64>,
    /// The chunks of a dataset in chunks.
    pub chunks: Option<ChunkTally>,
    /// What was lost of it.
    pub losses: Vec<Loss>,
    /// Losses that are not listed.
    pub more_losses: u64,
}

/// Something that was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// What.
    pub part: LossPart,
    /// The structure that is damaged, in the specification's words, where one is.
    pub structure: Option<&'static str>,
    /// Where it lies.
    pub address: Option<u64>,
    /// What is wrong with it.
    pub why: String,
}

/// The part of an object that was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossPart {
    /// All of it.
    Object,
    /// A block; what it held is not known.
    Block,
    /// Links.
    Links,
    /// Attributes.
    Attributes,
    /// The attribute of that name.
    Attribute(String),
    /// The comment.
    Comment,
    /// All elements: they have the fill value.
    Elements,
    /// So many elements from a number on, in C order: they have the fill value.
    Row {
        /// The number of the first.
        first: u64,
        /// How many.
        count: u64,
    },
    /// The elements of a box: they have the fill value.
    Region(Region),
    /// What some elements of variable length or references led to: they are empty.
    Contents,
}

/// What became of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SalvagedState {
    /// Nothing was lost.
    Whole,
    /// Something was lost.
    Partly,
    /// It is not in the new file.
    Lost,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Nothing was lost.
    Whole,
    /// Something was lost.
    Partly,
    /// No object could be saved.
    Nothing,
}

impl SalvagedState {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Partly => "partly",
            Self::Lost => "lost",
        }
    }
}

impl SalvagedObject {
    /// What became of it.
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
    /// What became of the file.
    pub fn outcome(&self) -> Outcome {
        let any = |wanted: SalvagedState| self.objects.iter().any(|object| object.state() == wanted);
        // An empty root group is nothing.
        let saved =
            self.objects.iter().any(|object| object.path != "/" && object.state() != SalvagedState::Lost);
        match any(SalvagedState::Partly) || any(SalvagedState::Lost) {
            false if !self.objects.is_empty() => Outcome::Whole,
            _ if saved => Outcome::Partly,
            _ => Outcome::Nothing,
        }
    }

    /// The number of objects of which that became.
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
            Self::Contents => f.write_str("what some elements lead to"),
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

/// One line for each object that is not whole, with what it lost; then how many there are.
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
