//! The comparison of elements of two datasets or attributes.

use std::borrow::Cow;
use std::cmp::Ordering;

use anyhow::{Context as _, Result, anyhow};
use hyperslab::datatype::StringPadding;
use hyperslab::{Datatype, Reference, Stored};
use hyperslab_exact::{to_u64, to_usize};

use super::plan::{Names, Plan, Text};
use super::rules::{Numbers, Rules};

/// The number of elements that a comparison of datasets converts in one step.
const BATCH_ELEMENTS: usize = 4096;

/// A pair of differing values that have no parts of their own. Pairs of references are not compared
/// yet: the receiver of differences compares them.
#[derive(Debug)]
pub(crate) enum Leaf<'a> {
    Numbers(Numbers),
    /// The names of enumeration values. `None` for a value without a name.
    Names(Option<&'a [u8]>, Option<&'a [u8]>),
    Texts(Texts<'a>),
    Bytes(&'a [u8], &'a [u8]),
    /// The lengths of sequences with different lengths.
    Lengths(u64, u64),
    References(&'a Reference, &'a Reference),
}

/// A pair of texts without padding, one from each compared element.
#[derive(Debug)]
pub(crate) struct Texts<'a> {
    pub(crate) one: Cow<'a, [u8]>,
    pub(crate) other: Cow<'a, [u8]>,
    /// The padding byte and the size of the larger text. `None` if a terminator ends the texts.
    pub(crate) padding: Option<(u8, usize)>,
}

/// A receiver of the differences that a comparison finds.
pub(crate) trait Listener {
    /// Receives two differing values. `element` is the number of the element; `part` is the path of
    /// a part of the element, with a dot before each name.
    fn found(&mut self, element: u64, part: &[u8], leaf: Leaf<'_>) -> Result<()>;

    /// Returns true if the receiver of differences needs no more differences, and the comparison
    /// may stop. The comparison may still report some more.
    fn is_enough(&self) -> bool {
        false
    }
}

/// A comparison of elements of one datatype with elements of another datatype.
#[derive(Debug)]
pub(crate) struct Elements {
    plan: Plan,
    rules: Rules,
    /// True if elements with equal bytes are equal.
    equal_if_same_bytes: bool,
}

/// The stored values on both sides of a comparison of elements.
#[derive(Clone, Copy)]
struct Sides<'a> {
    one: &'a Stored,
    other: &'a Stored,
}

impl Elements {
    /// Creates the comparison of elements of two datatypes. Returns `None` if the datatypes cannot
    /// be compared.
    pub(crate) fn new(one: &Datatype, other: &Datatype, rules: Rules) -> Option<Self> {
        let equal_if_same_bytes = one == other && !one.points_into_file() && rules.nan_equal;
        Some(Self { plan: Plan::new(one, other)?, rules, equal_if_same_bytes })
    }

    /// Returns the size of an element on the first and on the second side of the comparison.
    pub(super) fn sizes(&self) -> (usize, usize) {
        self.plan.sizes()
    }

    /// Returns true if two elements of the compared datatypes are equal when all their bytes are
    /// zero.
    pub(crate) fn are_zeros_equal(&self) -> bool {
        self.plan.are_zeros_equal()
    }

    /// Compares the elements of two batches. Passes differences to the receiver. `first` is the
    /// number of the first element in the dataset.
    pub(crate) fn compare(
        &self,
        one: &Stored,
        other: &Stored,
        first: u64,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        if one.len() != other.len() {
            return Err(anyhow!("{} elements cannot be compared with {} elements", one.len(), other.len()));
        }
        let sides = Sides { one, other };
        let (size, other_size) = self.plan.sizes();
        let parts = one.bytes().chunks(batch_bytes(size)?);
        let others = other.bytes().chunks(batch_bytes(other_size)?);
        let mut number = first;
        for (part, other_part) in parts.zip(others) {
            let count = part.len().checked_div(size).unwrap_or(0);
            if !(self.equal_if_same_bytes && part == other_part) {
                let (rules, path) = (&self.rules, Vec::new());
                let mut work = Work { sides, rules, part: path, listener: &mut *listener };
                work.all(&self.plan, part, other_part, count, &mut |index| number + index)?;
            }
            number += to_u64(count);
            if listener.is_enough() {
                break;
            }
        }
        Ok(())
    }
}

/// The state of a comparison of elements.
struct Work<'a> {
    sides: Sides<'a>,
    rules: &'a Rules,
    /// The path of the part that is being compared, with a dot before each name.
    part: Vec<u8>,
    listener: &'a mut dyn Listener,
}

/// A function that returns the number of an element in the dataset from its index in the batch.
type NumberOf<'a> = &'a mut dyn FnMut(u64) -> u64;

impl Work<'_> {
    /// Compares all `count` elements of the first side of a comparison with the elements at the
    /// same indices of the second side.
    fn all(
        &mut self,
        plan: &Plan,
        one: &[u8],
        other: &[u8],
        count: usize,
        number_of: NumberOf<'_>,
    ) -> Result<()> {
        let (size, other_size) = plan.sizes();
        if let Plan::Numbers(reader, other_reader) = plan {
            let mut index = 0_u64;
            let parts = one.chunks(batch_bytes(size)?);
            for (part, other_part) in parts.zip(other.chunks(batch_bytes(other_size)?)) {
                let count = part.len().checked_div(size).unwrap_or(0);
                let others = other_reader.read(other_part, count)?;
                for (one, other) in reader.read(part, count)?.into_iter().zip(others) {
                    let numbers = Numbers::new(one, other);
                    if numbers.differ(self.rules) {
                        self.listener.found(number_of(index), &self.part, Leaf::Numbers(numbers))?;
                    }
                    index += 1;
                }
            }
            return Ok(());
        }
        let parts = one.chunks_exact(size.max(1)).zip(other.chunks_exact(other_size.max(1)));
        for (index, (one, other)) in (0..).zip(parts.take(count)) {
            self.element(plan, one, other, number_of(index))?;
        }
        Ok(())
    }

    fn element(&mut self, plan: &Plan, one: &[u8], other: &[u8], number: u64) -> Result<()> {
        let short = || anyhow!("an element has fewer bytes than its datatype requires");
        match plan {
            Plan::Numbers(..) => self.all(plan, one, other, 1, &mut |_| number),
            Plan::Items { count, plan, .. } => {
                let (size, other_size) = plan.sizes();
                let one = first_items(one, size, *count).ok_or_else(short)?;
                let other = first_items(other, other_size, *count).ok_or_else(short)?;
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
        let is_padded = |text: Text| !text.is_variable && text.padding != StringPadding::NullTerminated;
        // The padding of the larger datatype decides, unless the sizes are equal.
        let is_padded = match text.size.cmp(&other_text.size) {
            Ordering::Less if !text.is_variable => is_padded(other_text),
            Ordering::Greater if !other_text.is_variable => is_padded(text),
            _ => is_padded(text) && is_padded(other_text),
        };
        let padding = is_padded.then_some((fill, text.size.max(other_text.size)));
        self.listener.found(
            number,
            &self.part,
            Leaf::Texts(Texts { one: one_text, other: other_content, padding }),
        )
    }

    /// Returns the text of an element without its padding.
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
        let count = to_usize(contents.count().min(other_contents.count()))?;
        let short = || anyhow!("a variable-length sequence has fewer bytes than its length requires");
        let items = first_items(contents.items(size)?, size, count).ok_or_else(short)?;
        let other_items =
            first_items(other_contents.items(other_size)?, other_size, count).ok_or_else(short)?;
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

/// Returns the size in bytes of one batch of elements. A comparison converts elements batch by
/// batch, so that its buffers stay small.
fn batch_bytes(size: usize) -> Result<usize> {
    size.max(1).checked_mul(BATCH_ELEMENTS).context("an element is too large to be compared")
}

/// Returns the bytes of the first `count` items of an array. Returns `None` if the array has fewer
/// items.
fn first_items(bytes: &[u8], size: usize, count: usize) -> Option<&[u8]> {
    bytes.get(..size.checked_mul(count)?)
}

fn without_padding(bytes: &[u8], padding: StringPadding) -> &[u8] {
    let end = match padding {
        StringPadding::NullTerminated => bytes.iter().position(|byte| *byte == 0),
        StringPadding::NullPadded => Some(length_without(bytes, 0)),
        StringPadding::SpacePadded => Some(length_without(bytes, b' ')),
    };
    bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes)
}

/// Returns the length of a text without the padding bytes at its end.
fn length_without(bytes: &[u8], padding: u8) -> usize {
    bytes.iter().rposition(|byte| *byte != padding).map_or(0, |last| last + 1)
}
