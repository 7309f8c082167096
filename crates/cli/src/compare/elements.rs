//! Elements of two datasets or attributes, side by side.

use std::borrow::Cow;

use anyhow::{Result, anyhow};
use hyperslab::datatype::StringPadding;
use hyperslab::{Datatype, Reference, Stored};

use super::plan::{Names, Plan, Text};
use super::rules::{Numbers, Rules};

/// Elements that are looked at at once.
const AT_ONCE: usize = 4096;

/// Two values that differ, or references, of which others say whether they do.
#[derive(Debug)]
pub(crate) enum Leaf<'a> {
    Numbers(Numbers),
    /// Names of an enumeration's values; `None` for values that have none.
    Names(Option<&'a [u8]>, Option<&'a [u8]>),
    Texts(Texts<'a>),
    Bytes(&'a [u8], &'a [u8]),
    /// Sequences of different length.
    Lengths(u64, u64),
    References(&'a Reference, &'a Reference),
}

/// Two texts, without what fills up their room.
#[derive(Debug)]
pub(crate) struct Texts<'a> {
    pub(crate) one: Cow<'a, [u8]>,
    pub(crate) other: Cow<'a, [u8]>,
    /// What fills up the room of the larger one, and how large that is; `None` if texts end before their rooms do.
    pub(crate) room: Option<(u8, usize)>,
}

/// Hears what differs.
pub(crate) trait Listener {
    /// Two values of the elements of that number, or of parts of them, whose names have points in front.
    fn found(&mut self, element: u64, part: &[u8], leaf: Leaf<'_>) -> Result<()>;

    /// Returns whether nothing more of further elements is to be heard. Some may be told nevertheless.
    fn is_enough(&self) -> bool {
        false
    }
}

/// Compares elements of one type with those of another.
#[derive(Debug)]
pub(crate) struct Elements {
    plan: Plan,
    rules: Rules,
    /// Elements that lie in the same bytes are the same.
    bytes_tell: bool,
}

/// Where the elements of both sides come from.
#[derive(Clone, Copy)]
struct Sides<'a> {
    one: &'a Stored,
    other: &'a Stored,
}

impl Elements {
    /// For elements of these types; `None` if they cannot be compared.
    pub(crate) fn new(one: &Datatype, other: &Datatype, rules: Rules) -> Option<Self> {
        let bytes_tell = one == other && !one.points_into_file() && rules.nan_equal;
        Some(Self { plan: Plan::new(one, other)?, rules, bytes_tell })
    }

    /// Bytes of an element of each side.
    pub(super) fn sizes(&self) -> (usize, usize) {
        self.plan.sizes()
    }

    /// Returns whether elements of nothing but zeros are the same on both sides.
    pub(crate) fn zeros_agree(&self) -> bool {
        self.plan.zeros_agree()
    }

    /// Compares elements, of which the first is number `first` of all.
    pub(crate) fn compare(
        &self,
        one: &Stored,
        other: &Stored,
        first: u64,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        if one.len() != other.len() {
            return Err(anyhow!("{} elements are compared with {}", one.len(), other.len()));
        }
        let sides = Sides { one, other };
        let (size, other_size) = self.plan.sizes();
        let parts = one.bytes().chunks(size.saturating_mul(AT_ONCE).max(1));
        let others = other.bytes().chunks(other_size.saturating_mul(AT_ONCE).max(1));
        let mut number = first;
        for (part, other_part) in parts.zip(others) {
            let count = part.len().checked_div(size).unwrap_or(0);
            if !(self.bytes_tell && part == other_part) {
                let (rules, path) = (&self.rules, Vec::new());
                let mut work = Work { sides, rules, part: path, listener: &mut *listener };
                work.all(&self.plan, part, other_part, count, &mut |index| number.saturating_add(index))?;
            }
            number = number.saturating_add(u64::try_from(count)?);
            if listener.is_enough() {
                break;
            }
        }
        Ok(())
    }
}

/// A comparison under way.
struct Work<'a> {
    sides: Sides<'a>,
    rules: &'a Rules,
    /// The names of the parts that lead to what is at hand.
    part: Vec<u8>,
    listener: &'a mut dyn Listener,
}

/// The number of an element by its place among those at hand.
type ElementPlace<'a> = &'a mut dyn FnMut(u64) -> u64;

impl Work<'_> {
    /// So many elements, one after the other.
    fn all(
        &mut self,
        plan: &Plan,
        one: &[u8],
        other: &[u8],
        count: usize,
        place: ElementPlace<'_>,
    ) -> Result<()> {
        let (size, other_size) = plan.sizes();
        if let Plan::Numbers(reader, other_reader) = plan {
            let mut index = 0_u64;
            let parts = one.chunks(size.saturating_mul(AT_ONCE).max(1));
            for (part, other_part) in parts.zip(other.chunks(other_size.saturating_mul(AT_ONCE).max(1))) {
                let count = part.len().checked_div(size).unwrap_or(0);
                let others = other_reader.read(other_part, count)?;
                for (one, other) in reader.read(part, count)?.into_iter().zip(others) {
                    let numbers = Numbers::new(one, other);
                    if numbers.differ(self.rules) {
                        self.listener.found(place(index), &self.part, Leaf::Numbers(numbers))?;
                    }
                    index = index.saturating_add(1);
                }
            }
            return Ok(());
        }
        let parts = one.chunks_exact(size.max(1)).zip(other.chunks_exact(other_size.max(1)));
        for (index, (one, other)) in (0..).zip(parts.take(count)) {
            self.element(plan, one, other, place(index))?;
        }
        Ok(())
    }

    fn element(&mut self, plan: &Plan, one: &[u8], other: &[u8], number: u64) -> Result<()> {
        let short = || anyhow!("an element is too short");
        match plan {
            Plan::Numbers(..) => self.all(plan, one, other, 1, &mut |_| number),
            Plan::Items { count, plan, .. } => {
                let (size, other_size) = plan.sizes();
                let one = one.get(..size.saturating_mul(*count)).ok_or_else(short)?;
                let other = other.get(..other_size.saturating_mul(*count)).ok_or_else(short)?;
                self.all(plan, one, other, *count, &mut |_| number)
            }
            Plan::Names(names, others) => self.names(names, others, one, other, number),
            Plan::Texts(text, other_text) => self.texts(*text, *other_text, one, other, number),
            Plan::Bytes { .. } if one == other => Ok(()),
            Plan::Bytes { .. } => self.listener.found(number, &self.part, Leaf::Bytes(one, other)),
            Plan::Record { members, .. } => {
                let length = self.part.len();
                for member in members {
                    let one = one.get(member.one.clone()).ok_or_else(short)?;
                    let other = other.get(member.other.clone()).ok_or_else(short)?;
                    self.part.push(b'.');
                    self.part.extend_from_slice(&member.name);
                    self.element(&member.plan, one, other, number)?;
                    self.part.truncate(length);
                }
                Ok(())
            }
            Plan::Sequences { plan, .. } => self.sequences(plan, one, other, number),
            Plan::References { one: (_, kind), other: (_, other_kind) } => {
                let reference = self.sides.one.follow(*kind, one)?;
                let other_reference = self.sides.other.follow(*other_kind, other)?;
                self.listener.found(number, &self.part, Leaf::References(&reference, &other_reference))
            }
        }
    }

    fn names(&mut self, names: &Names, others: &Names, one: &[u8], other: &[u8], number: u64) -> Result<()> {
        let name = names.by_value.get(one).map(Vec::as_slice);
        let other_name = others.by_value.get(other).map(Vec::as_slice);
        if (name, other_name) == (None, None) {
            let (values, other_values) = (names.reader.read(one, 1)?, others.reader.read(other, 1)?);
            if values != other_values {
                self.listener.found(number, &self.part, Leaf::Names(None, None))?;
            }
        } else if name != other_name {
            self.listener.found(number, &self.part, Leaf::Names(name, other_name))?;
        }
        Ok(())
    }

    fn texts(&mut self, text: Text, other_text: Text, one: &[u8], other: &[u8], number: u64) -> Result<()> {
        let one_text = self.text(text, self.sides.one, one)?;
        let other_content = self.text(other_text, self.sides.other, other)?;
        if one_text == other_content {
            return Ok(());
        }
        let fill = if text.padding == StringPadding::SpacePadded { b' ' } else { 0 };
        let ends = |text: Text| text.is_variable || text.padding == StringPadding::NullTerminated;
        let room = (!ends(text) && !ends(other_text)).then(|| (fill, text.size.max(other_text.size)));
        self.listener.found(
            number,
            &self.part,
            Leaf::Texts(Texts { one: one_text, other: other_content, room }),
        )
    }

    /// The text of an element, without its padding.
    fn text<'e>(&self, text: Text, stored: &Stored, element: &'e [u8]) -> Result<Cow<'e, [u8]>> {
        if !text.is_variable {
            return Ok(Cow::Borrowed(without_padding(element, text.padding)));
        }
        let contents = stored.variable_length(element)?;
        Ok(Cow::Owned(without_padding(contents.items(1)?, StringPadding::NullTerminated).to_vec()))
    }

    fn sequences(&mut self, plan: &Plan, one: &[u8], other: &[u8], number: u64) -> Result<()> {
        let (size, other_size) = plan.sizes();
        let contents = self.sides.one.variable_length(one)?;
        let other_contents = self.sides.other.variable_length(other)?;
        let count = usize::try_from(contents.count().min(other_contents.count()))?;
        let short = || anyhow!("a sequence is too short");
        let items = contents.items(size)?.get(..size.saturating_mul(count)).ok_or_else(short)?;
        let other_items = other_contents.items(other_size)?;
        let other_items = other_items.get(..other_size.saturating_mul(count)).ok_or_else(short)?;
        self.all(plan, items, other_items, count, &mut |_| number)?;
        if contents.count() != other_contents.count() {
            self.listener.found(
                number,
                &self.part,
                Leaf::Lengths(contents.count(), other_contents.count()),
            )?;
        }
        Ok(())
    }
}

fn without_padding(bytes: &[u8], padding: StringPadding) -> &[u8] {
    let end = match padding {
        StringPadding::NullTerminated => bytes.iter().position(|byte| *byte == 0),
        StringPadding::NullPadded => Some(behind_last(bytes, 0)),
        StringPadding::SpacePadded => Some(behind_last(bytes, b' ')),
    };
    bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes)
}

/// The place behind the last byte that is another one.
fn behind_last(bytes: &[u8], padding: u8) -> usize {
    bytes.iter().rposition(|byte| *byte != padding).map_or(0, |last| last.saturating_add(1))
}
