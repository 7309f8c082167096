//! How numbers spread: how often each small one comes, and how many there are of each power of ten.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::RangeInclusive;

/// Powers of ten below 2^64.
const POWERS: usize = 20;

/// Numbers, counted.
#[derive(Debug)]
pub(super) struct Spread {
    small: RangeInclusive<u64>,
    /// How often each of the small numbers comes.
    counts: BTreeMap<u64, u64>,
    zeros: u64,
    /// How many numbers have one digit, two digits, ...
    digits: [u64; POWERS],
    pub(super) max: u64,
    pub(super) total: u64,
}

impl Spread {
    /// Those in the range are small.
    pub(super) fn new(small: RangeInclusive<u64>) -> Self {
        Self { small, counts: BTreeMap::new(), zeros: 0, digits: [0; POWERS], max: 0, total: 0 }
    }

    pub(super) fn add(&mut self, number: u64) {
        self.add_many(number, 1);
    }

    /// Adds a number that comes so many times.
    pub(super) fn add_many(&mut self, number: u64, times: u64) {
        self.total = self.total.saturating_add(times);
        self.max = self.max.max(number);
        if self.small.contains(&number) {
            let count = self.counts.entry(number).or_default();
            *count = count.saturating_add(times);
        }
        let power = number.checked_ilog10().and_then(|power| usize::try_from(power).ok());
        let bin = match power {
            None => Some(&mut self.zeros),
            Some(power) => self.digits.get_mut(power),
        };
        if let Some(bin) = bin {
            *bin = bin.saturating_add(times);
        }
    }

    /// A line for each small number, then one with how many there are.
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
        let sum = self.counts.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
        writeln!(out, "{indent}{total}: {sum}")
    }

    /// A line for each power of ten, then one with how many numbers there are.
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
            let next = first.saturating_mul(10);
            if count > 0 {
                writeln!(out, "{indent}{before}{first} - {}{after}: {count}", next.saturating_sub(1))?;
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
