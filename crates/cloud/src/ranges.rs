//! Byte ranges of a file: requests that cover wanted ranges, joined over small gaps.

use std::ops::Range;

use hyperslab_exact::to_u64;

/// The gap in bytes that is always read with its neighbours: a further request costs more.
const MIN_GAP_BYTES: u64 = 8 << 10;

/// The largest gap in bytes between two ranges that one request reads.
const MAX_GAP_BYTES: u64 = 256 << 10;

/// The largest share of gaps in a request, as a divisor of its wanted bytes.
const MAX_GAP_SHARE: u64 = 5;

/// The number of rounds of requests at once, beyond which larger gaps are read.
const MAX_ROUNDS: usize = 4;

/// The smallest and the largest length of a request that joins ranges.
const REQUEST_BYTES: (u64, u64) = (1 << 20, 16 << 20);

/// A request for bytes of a file, and the number of its bytes that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) range: Range<u64>,
    pub(crate) wanted: u64,
}

/// Returns requests that cover the ranges, sorted by their offsets. Ranges with a small gap between
/// them are joined. A range that is longer than a request is divided. `parallel` requests are sent
/// at the same time.
pub(crate) fn plan(mut ranges: Vec<Range<u64>>, parallel: usize) -> Vec<Planned> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let merged = merge(&ranges);
    let total: u64 = merged.iter().map(length).sum();
    let parts = to_u64(parallel / 2).max(1);
    let largest = (total / parts).clamp(REQUEST_BYTES.0, REQUEST_BYTES.1);
    let requests = join(&merged, largest, |gap, gaps, wanted| {
        gap <= MIN_GAP_BYTES || (gap <= MAX_GAP_BYTES && gaps <= wanted / MAX_GAP_SHARE)
    });
    if requests.len() <= parallel * MAX_ROUNDS {
        return requests;
    }
    join(&merged, largest, |gap, _, _| gap <= MAX_GAP_BYTES)
}

fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}

/// Merges ranges that overlap or touch. The ranges are sorted by their starts.
pub(crate) fn merge(sorted: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match merged.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range.clone()),
        }
    }
    merged
}

/// Joins separate, sorted ranges to requests of at most `largest` bytes. `joins` receives the gap
/// before a range, all gaps of the request, and its wanted bytes.
fn join(ranges: &[Range<u64>], largest: u64, joins: impl Fn(u64, u64, u64) -> bool) -> Vec<Planned> {
    let mut requests: Vec<Planned> = Vec::new();
    for range in ranges {
        let mut start = range.start;
        while start < range.end {
            let end = start + (range.end - start).min(largest);
            let part = start..end;
            start = end;
            let near = requests.last_mut().filter(|last| {
                let gap = part.start - last.range.end;
                let gaps = gap + length(&last.range) - last.wanted;
                part.end - last.range.start <= largest && joins(gap, gaps, last.wanted + length(&part))
            });
            match near {
                Some(last) => {
                    last.range.end = part.end;
                    last.wanted += length(&part);
                }
                None => requests.push(Planned { wanted: length(&part), range: part }),
            }
        }
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ranges: &[(u64, u64)]) -> Vec<Range<u64>> {
        ranges.iter().map(|(start, end)| *start..*end).collect()
    }

    fn planned(ranges: &[(u64, u64)]) -> Vec<(u64, u64, u64)> {
        let requests = plan(of(ranges), 32);
        requests.iter().map(|request| (request.range.start, request.range.end, request.wanted)).collect()
    }

    #[test]
    fn overlapping_and_touching_ranges_are_one_request() {
        assert_eq!(planned(&[(100, 200), (0, 50), (150, 250), (50, 60)]), [(0, 250, 210)]);
        assert_eq!(planned(&[(7, 7)]), []);
    }

    #[test]
    fn a_gap_is_read_only_if_it_is_small_or_a_small_share() {
        assert_eq!(planned(&[(0, 10), (8 << 10, 9 << 10)]), [(0, 9 << 10, 10 + 1024)]);
        let far = 20 << 10;
        assert_eq!(planned(&[(0, 10), (far, far + 10)]).len(), 2);
        let large = 200 << 10;
        assert_eq!(planned(&[(0, large), (large + far, 2 * large)]).len(), 1);
    }

    #[test]
    fn very_many_ranges_are_joined_over_larger_gaps() {
        let many: Vec<_> = (0..4000).map(|at| (at * (80 << 10), at * (80 << 10) + (16 << 10))).collect();
        let requests = planned(&many);
        assert!(requests.len() < 128, "{}", requests.len());
        assert_eq!(requests.iter().map(|(_, _, wanted)| wanted).sum::<u64>(), 4000 * (16 << 10));
    }

    #[test]
    fn a_long_range_is_divided() {
        let requests = planned(&[(5, 5 + (100 << 20))]);
        assert_eq!(requests.len(), 16);
        assert!(requests.windows(2).all(|pair| pair[0].1 == pair[1].0));
        assert_eq!(requests.last().map(|request| request.1), Some(5 + (100 << 20)));
    }
}
