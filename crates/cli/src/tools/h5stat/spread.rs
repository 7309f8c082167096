//! Distributions of numbers in the output of h5stat: the frequency of each small number, and of
//! each power of ten.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::RangeInclusive;

/// The number of powers of ten below 2⁶⁴.
const POWERS_OF_TEN: usize = 20;

/// A distribution of numbers, with counts of small numbers and counts by power of ten.
#[derive(Debug)]
pub(super) struct Spread {
    small: RangeInclusive<u64>,
    /// The frequency of each small number.
    counts: BTreeMap<u64, u64>,
    zeros: u64,
    /// The frequency of numbers with one digit, with two digits, and so on.
    digits: [u64; POWERS_OF_TEN],
    pub(super) max: u64,
    pub(super) total: u64,
}

/// Adds a number to a sum for display. On overflow, which a damaged file can cause, the sum is the
/// largest number of the type.
pub(super) fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// Returns the sum of sizes for display. On overflow, returns the largest number of the type.
pub(super) fn total(parts: impl IntoIterator<Item = u64>) -> u64 {
    let mut sum = 0;
    parts.into_iter().for_each(|part| add(&mut sum, part));
    sum
}

impl Spread {
    /// Creates a distribution of numbers. It counts the numbers in the given range one by one, as
    /// small numbers.
    pub(super) fn new(small: RangeInclusive<u64>) -> Self {
        Self { small, counts: BTreeMap::new(), zeros: 0, digits: [0; POWERS_OF_TEN], max: 0, total: 0 }
    }

    pub(super) fn add(&mut self, number: u64) {
        self.add_many(number, 1);
    }

    /// Adds a number to the distribution several times.
    pub(super) fn add_many(&mut self, number: u64, times: u64) {
        add(&mut self.total, times);
        self.max = self.max.max(number);
        if self.small.contains(&number) {
            add(self.counts.entry(number).or_default(), times);
        }
        let power = number.checked_ilog10().map(|power| power as usize);
        let bin = match power {
            None => Some(&mut self.zeros),
            Some(power) => self.digits.get_mut(power),
        };
        if let Some(bin) = bin {
            add(bin, times);
        }
    }

    /// Prints a line of the distribution for each small number with its count, and their total.
    pub(super) fn print_small(
        &self,
        out: &mut impl Write,
        indent: &str,
        line: impl Fn(u64) -> String,
        total: &str,
    ) -> io::Result<()> {
        for (number, count) in &self.counts {
            writeln!(out, "{indent}{}: {count}", line(*number))?;
        }
        let sum = self::total(self.counts.values().copied());
        writeln!(out, "{indent}{total}: {sum}")
    }

    /// Prints a line of the distribution for each power of ten with its count, and the total count.
    pub(super) fn print_bins(
        &self,
        out: &mut impl Write,
        indent: &str,
        zero: &str,
        (before, after): (&str, &str),
        total: &str,
    ) -> io::Result<()> {
        if self.zeros > 0 {
            writeln!(out, "{indent}{zero}: {}", self.zeros)?;
        }
        let mut first = 1_u64;
        for count in self.digits {
            // The last bin ends at the largest 64-bit number, because 10²⁰ does not fit.
            let next = first.saturating_mul(10);
            if count > 0 {
                writeln!(out, "{indent}{before}{first} - {}{after}: {count}", next - 1)?;
            }
            first = next;
        }
        writeln!(out, "{indent}{total}: {}", self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_powers_of_ten() {
        let mut spread = Spread::new(0..=8);
        for number in [0, 1, 8, 9, 9, 10, u64::MAX] {
            spread.add(number);
        }
        let mut out = Vec::new();
        spread.print_small(&mut out, "\t", |number| format!("of {number}"), "small").unwrap();
        spread.print_bins(&mut out, "\t", "none", ("from ", " of it"), "all").unwrap();
        let expected = "\tof 0: 1\n\tof 1: 1\n\tof 8: 1\n\tsmall: 3\n\tnone: 1\n\tfrom 1 - 9 of it: 4\n\tfrom 10 - 99 of it: 1\n\t\
                        from 10000000000000000000 - 18446744073709551614 of it: 1\n\tall: 7\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert_eq!(spread.max, u64::MAX);
    }
}
