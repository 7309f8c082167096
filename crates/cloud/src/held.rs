//! The bytes of a file that are in memory, and the ranges that are being fetched.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use hyperslab_exact::to_u64;

/// The kind of fetched bytes, which decides how long they stay in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Metadata and small data: the bytes stay until others need the memory.
    Lines,
    /// Raw data: the bytes leave when they have been read once.
    UntilRead,
    /// Raw data: the bytes stay until the work that needs them is done.
    UntilReleased,
}

/// One contiguous part of the file in memory.
#[derive(Debug)]
struct Part {
    /// The bytes in one or more pieces, with their offsets in the file. No piece is empty.
    pieces: Vec<(u64, Bytes)>,
    length: u64,
    /// The number of bytes still to be read; `None` if the part stays.
    left: Option<u64>,
    used: u64,
}

/// The parts of a file in memory, of bounded size, and the ranges that requests fetch.
#[derive(Debug)]
pub(crate) struct Held {
    parts: BTreeMap<u64, Part>,
    by_use: BTreeMap<u64, u64>,
    clock: u64,
    total: u64,
    capacity: u64,
    /// The bytes of parts that leave when they have been read.
    unread: u64,
    pending: BTreeMap<u64, u64>,
    /// The bytes of pending requests.
    flying: u64,
}

impl Part {
    /// Returns the bytes of a range in pieces. Bytes outside of the part are left out.
    fn slices(&self, range: &Range<u64>) -> Option<Vec<Bytes>> {
        slices(&self.pieces, range).map(|pieces| pieces.into_iter().map(|(_, bytes)| bytes).collect())
    }
}

/// Returns the pieces of a range, with their offsets. `pieces` are contiguous and in order.
fn slices(pieces: &[(u64, Bytes)], range: &Range<u64>) -> Option<Vec<(u64, Bytes)>> {
    let first = pieces.partition_point(|(start, _)| *start <= range.start).max(1) - 1;
    let inside = pieces.get(first..)?.iter().take_while(|(start, _)| *start < range.end);
    let slice = |(start, bytes): &(u64, Bytes)| {
        let from = usize::try_from(range.start.max(*start) - start).ok()?;
        let to = usize::try_from((range.end - start).min(to_u64(bytes.len()))).ok()?;
        (from < to).then(|| (range.start.max(*start), bytes.slice(from..to)))
    };
    Some(inside.filter_map(slice).collect())
}

impl Held {
    pub(crate) fn new(capacity: u64) -> Self {
        Self {
            parts: BTreeMap::new(),
            by_use: BTreeMap::new(),
            clock: 0,
            total: 0,
            capacity,
            unread: 0,
            pending: BTreeMap::new(),
            flying: 0,
        }
    }

    /// Returns whether nothing more should be fetched in advance: `requests` requests have no
    /// answer yet, or `bytes` bytes were fetched and not read.
    pub(crate) fn is_full(&self, requests: usize, bytes: u64) -> bool {
        self.pending.len() >= requests || self.unread + self.flying >= bytes
    }

    /// Returns whether no request has been sent without an answer, and no raw data waits for its
    /// reader.
    #[cfg(test)]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.pending.is_empty() && self.flying == 0 && self.unread == 0
    }

    /// Marks a range as being fetched.
    pub(crate) fn begin(&mut self, range: &Range<u64>) {
        self.flying += range.end - range.start;
        let replaced = self.pending.insert(range.start, range.end);
        self.flying -= replaced.map_or(0, |end| end - range.start);
    }

    /// Ends the fetch of a range, whether it succeeded or not.
    pub(crate) fn end(&mut self, range: &Range<u64>) {
        self.flying -= self.pending.remove(&range.start).map_or(0, |end| end - range.start);
    }

    /// Returns the parts of a range that are not in memory.
    pub(crate) fn missing(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let covered = |at: u64| {
            let (start, part) = self.parts.range(..=at).next_back()?;
            Some(start + part.length).filter(|end| *end > at)
        };
        gaps(range, covered, |at| self.parts.range(at..).next().map(|(start, _)| *start))
    }

    /// Returns the parts of a range that no request fetches.
    pub(crate) fn not_pending(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let covered =
            |at: u64| self.pending.range(..=at).next_back().map(|(_, end)| *end).filter(|end| *end > at);
        gaps(range, covered, |at| self.pending.range(at..).next().map(|(start, _)| *start))
    }

    /// Returns the bytes of a range, in one or more pieces. Returns `None`, without a change, if a
    /// byte is not in memory.
    pub(crate) fn take(&mut self, range: &Range<u64>) -> Option<Vec<Bytes>> {
        if !self.missing(range).is_empty() {
            return None;
        }
        let first = self.parts.range(..=range.start).next_back().map_or(range.start, |(start, _)| *start);
        let starts: Vec<u64> = self.parts.range(first..range.end).map(|(start, _)| *start).collect();
        let mut pieces = Vec::with_capacity(starts.len());
        for start in starts {
            let slices = self.parts.get(&start)?.slices(range)?;
            let count: u64 = slices.iter().map(|slice| to_u64(slice.len())).sum();
            if count > 0 {
                pieces.extend(slices);
                self.touch(start, count);
            }
        }
        Some(pieces)
    }

    /// Notes that `count` bytes of a part were read. The part leaves if no byte is left to read.
    fn touch(&mut self, start: u64, count: u64) {
        self.clock += 1;
        let clock = self.clock;
        let Some(part) = self.parts.get_mut(&start) else { return };
        self.by_use.remove(&part.used);
        part.used = clock;
        self.by_use.insert(clock, start);
        if let Some(left) = part.left {
            // Saturates: two reads may overlap.
            let left = left.saturating_sub(count);
            part.left = Some(left);
            if left == 0 {
                self.remove(start);
            }
        }
    }

    fn remove(&mut self, start: u64) {
        if let Some(part) = self.parts.remove(&start) {
            self.by_use.remove(&part.used);
            self.total -= part.length;
            if part.left.is_some() {
                self.unread -= part.length;
            }
        }
    }

    /// Adds fetched bytes, in one or more pieces. Bytes that are in memory already are not added
    /// again. `wanted` is the number of bytes that will be read.
    pub(crate) fn insert(&mut self, offset: u64, bytes: Vec<Bytes>, keep: Keep, wanted: u64) {
        let mut end = offset;
        let mut pieces = Vec::with_capacity(bytes.len());
        for piece in bytes.into_iter().filter(|piece| !piece.is_empty()) {
            let start = end;
            end += to_u64(piece.len());
            pieces.push((start, piece));
        }
        for gap in self.missing(&(offset..end)) {
            let Some(pieces) = slices(&pieces, &gap) else { continue };
            let length = gap.end - gap.start;
            self.clock += 1;
            self.by_use.insert(self.clock, gap.start);
            self.total += length;
            let left = match keep {
                Keep::Lines => None,
                Keep::UntilRead => Some(wanted.min(length)),
                Keep::UntilReleased => Some(u64::MAX),
            };
            if left.is_some() {
                self.unread += length;
            }
            self.parts.insert(gap.start, Part { pieces, length, left, used: self.clock });
        }
        while self.total > self.capacity {
            let Some((_, oldest)) = self.by_use.first_key_value() else { break };
            self.remove(*oldest);
        }
    }
}

impl Held {
    /// Removes the parts with bytes of the ranges that stayed for one run of work.
    pub(crate) fn release(&mut self, ranges: &[Range<u64>]) {
        for range in ranges {
            let first = self.parts.range(..=range.start).next_back().map_or(range.start, |(start, _)| *start);
            let inside = self.parts.range(first..range.end);
            let starts: Vec<u64> =
                inside.filter(|(_, part)| part.left.is_some()).map(|(start, _)| *start).collect();
            starts.into_iter().for_each(|start| self.remove(start));
        }
    }
}

/// Returns the gaps of a range. `covered` returns the end of the cover over an offset, `next` the
/// start of the next cover.
fn gaps(
    range: &Range<u64>,
    covered: impl Fn(u64) -> Option<u64>,
    next: impl Fn(u64) -> Option<u64>,
) -> Vec<Range<u64>> {
    let mut gaps = Vec::new();
    let mut at = range.start;
    while at < range.end {
        if let Some(end) = covered(at) {
            at = end;
            continue;
        }
        let end = next(at).unwrap_or(range.end).min(range.end);
        gaps.push(at..end);
        at = end;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(parts: &[(u64, &'static [u8], Keep)]) -> Held {
        let mut held = Held::new(1000);
        for (offset, bytes, keep) in parts {
            held.insert(*offset, vec![Bytes::from_static(bytes)], *keep, bytes.len() as u64);
        }
        held
    }

    fn text(held: &mut Held, range: Range<u64>) -> Option<String> {
        let pieces = held.take(&range)?;
        Some(pieces.iter().map(|piece| String::from_utf8_lossy(piece).into_owned()).collect())
    }

    #[test]
    fn bytes_are_taken_across_parts() {
        let mut held =
            held(&[(10, b"abcd", Keep::Lines), (14, b"efgh", Keep::Lines), (12, b"xxxx", Keep::Lines)]);
        assert_eq!(text(&mut held, 12..17).as_deref(), Some("cdefg"));
        assert_eq!((text(&mut held, 9..12), text(&mut held, 15..19)), (None, None));
        assert_eq!((held.total, held.missing(&(0..30))), (8, vec![0..10, 18..30]));
    }

    #[test]
    fn bytes_in_several_pieces_are_one_part() {
        let mut held = held(&[(12, b"xx", Keep::Lines)]);
        let pieces = [&b"ab"[..], b"", b"cdef", b"g"].map(Bytes::from_static);
        held.insert(10, pieces.to_vec(), Keep::UntilRead, 5);
        assert_eq!((held.total, held.unread, held.parts.len()), (7, 5, 3));
        assert_eq!(text(&mut held, 11..16).as_deref(), Some("bxxef"));
        assert_eq!(text(&mut held, 16..17).as_deref(), Some("g"));
        assert_eq!(text(&mut held, 10..11).as_deref(), Some("a"));
        assert_eq!((held.total, held.unread), (2, 0));
    }

    #[test]
    fn raw_bytes_leave_when_they_were_read() {
        let mut held = held(&[(0, b"abcd", Keep::UntilRead), (4, b"efgh", Keep::Lines)]);
        assert!(text(&mut held, 0..3).is_some() && held.unread == 4);
        assert_eq!(text(&mut held, 3..6).as_deref(), Some("def"));
        assert_eq!((held.total, held.unread), (4, 0));
        held.insert(20, vec![Bytes::from_static(b"raw")], Keep::UntilReleased, 0);
        assert!(text(&mut held, 20..23).is_some() && text(&mut held, 20..23).is_some());
        held.release(&[21..22, 4..6]);
        assert_eq!((held.total, held.unread), (4, 0));
    }

    #[test]
    fn the_parts_that_were_not_used_for_long_leave_first() {
        let mut held = Held::new(8);
        held.insert(0, vec![Bytes::from_static(b"aaaa")], Keep::Lines, 0);
        held.insert(4, vec![Bytes::from_static(b"bbbb")], Keep::Lines, 0);
        assert!(held.take(&(0..1)).is_some());
        held.insert(8, vec![Bytes::from_static(b"cc")], Keep::Lines, 0);
        assert_eq!(held.missing(&(0..10)).as_slice(), std::slice::from_ref(&(4..8)));
        assert_eq!(held.total, 6);
    }

    #[test]
    fn a_range_that_a_request_fetches_is_not_fetched_again() {
        let mut held = Held::new(8);
        held.begin(&(10..20));
        assert_eq!(held.not_pending(&(5..30)), [5..10, 20..30]);
        held.end(&(10..20));
        assert_eq!(held.not_pending(&(5..30)).as_slice(), std::slice::from_ref(&(5..30)));
    }
}
