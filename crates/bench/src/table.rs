//! The results of a benchmark, as a table.

use anyhow::{Context as _, Result, bail};

use crate::case::{Case, Program};
use crate::contest::{Contest, threads};
use crate::libhdf5::Libhdf5;
use crate::outcome::{Outcome, Role, Row as Compared};
use crate::reader::TimedOut;

/// The times of both implementations for one input, in seconds.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) input: String,
    pub(crate) ours: Vec<f64>,
    pub(crate) theirs: Vec<f64>,
}

/// Returns the median of some times.
pub(crate) fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let at = |position: usize| sorted.get(position).copied().unwrap_or(f64::NAN);
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(at(middle.wrapping_sub(1)), at(middle))
    } else {
        at(middle)
    }
}

/// Prints medians, quickest runs and the ratio of the medians.
pub(crate) fn print(rows: &[Row]) {
    println!("| input | hyperslab median (best) | libhdf5 median (best) | ratio |");
    println!("|---|---|---|---|");
    for Row { input, ours, theirs } in rows {
        let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min) * 1e3;
        let (our, their) = (median(ours), median(theirs));
        println!(
            "| {input} | {:.1} ms ({:.1}) | {:.1} ms ({:.1}) | {:.3} |",
            our * 1e3,
            best(ours),
            their * 1e3,
            best(theirs),
            our / their
        );
    }
}

/// Measures all cases and prints a line for each.
pub(crate) fn compare(library: Libhdf5, cases: Vec<Case>, rounds: u64) -> Result<()> {
    let mut contest = Contest::new(library)?;
    let names: Vec<&str> = contest.contestants.iter().map(|one| one.name.as_str()).collect();
    println!(
        "{rounds} rounds, {} threads; {}; libhdf5 is the faster of them, bytes are against the smaller file\n",
        threads(),
        names.join(", ")
    );
    println!(
        "| workload | hyperslab median (best), ms | libhdf5 median (best), ms | ratio | aim | rust-hdf5 median, ms | ratio | \
         processor ms | bytes |\n|---|---|---|---|---|---|---|---|---|"
    );
    let mut wrong = Vec::new();
    for case in cases {
        let entries = contest.measure(&case, rounds).with_context(|| case.name.clone())?;
        let row = Compared { case, entries, limit: None };
        let ours = row.of(Role::Hyperslab).next().context("hyperslab did nothing")?;
        let ms = |seconds: Option<f64>| {
            seconds.map_or("–".to_owned(), |seconds| format!("{:.2}", seconds * 1e3))
        };
        let times = |ratio: Option<f64>| ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}"));
        let missed = row.to_libhdf5().is_none_or(|ratio| ratio > row.case.aim);
        let bytes = match (row.case.program, ours.sum(), row.smallest(Role::Libhdf5)) {
            (Program::Write, Some(ours), Some(theirs)) => {
                format!("{ours} / {theirs} = {:.3}", to_f64(ours) / to_f64(theirs))
            }
            _ => String::new(),
        };
        println!(
            "| {} | {} ({}) | {} ({}) | {} | {}{} | {} | {} | {} / {} | {bytes} |",
            row.case.name,
            ms(ours.wall()),
            ms(ours.best()),
            ms(row.least(Role::Libhdf5, Outcome::wall)),
            ms(row.least(Role::Libhdf5, Outcome::best)),
            times(row.to_libhdf5()),
            row.case.aim,
            if missed { " *" } else { "" },
            row.of(Role::Peer).next().map_or(String::new(), |peer| match peer {
                Outcome::Done { .. } => ms(peer.wall()),
                Outcome::Wrong(why) => format!("wrong: {why}"),
                Outcome::TimedOut => TimedOut.to_string(),
                Outcome::Cannot(why) => format!("unsupported: {}", why.chars().take(60).collect::<String>()),
            }),
            times(row.to_peer()),
            ms(ours.cpu()),
            ms(row.least(Role::Libhdf5, Outcome::cpu)),
        );
        if let Outcome::Wrong(why) | Outcome::Cannot(why) = ours {
            wrong.push(format!("{}: {why}", row.case.name));
        }
    }
    drop(contest);
    if !wrong.is_empty() {
        bail!("hyperslab did not do it: {}", wrong.join("; "));
    }
    Ok(())
}

/// Converts a number of bytes for a ratio.
pub(crate) fn to_f64(bytes: u64) -> f64 {
    u32::try_from(bytes >> 20).map_or(f64::MAX, |mib| f64::from(mib) * 1_048_576.0)
        + u32::try_from(bytes & 0xf_ffff).map_or(0.0, f64::from)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }
}
