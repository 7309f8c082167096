//! The comparison of this build of hyperslab with another one, case by case, in alternation.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::case::{Case, Program};
use crate::libhdf5::Libhdf5;
use crate::reader::{Answer, Reader};
use crate::table::median;
use crate::{arrays, compare};

const ROUNDS: usize = 7;

/// The ratio from which a case is listed as slower.
const SLOWER_RATIO: f64 = 1.05;

/// Seconds below which a case runs several times in each turn, and the number of runs.
const SHORT_SECONDS: f64 = 0.005;
const SHORT_REPEATS: usize = 5;

/// Runs all cases with this program and with the program `args[0]`, the `hyperslab-bench` of
/// another build. Prints the medians and the ratio of each case.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let [other, rest @ ..] = args else { anyhow::bail!("expected the path of another hyperslab-bench") };
    let (mut rounds, mut only) = (ROUNDS, None);
    for arg in rest {
        match arg.strip_prefix("only=") {
            Some(text) => only = Some(text),
            None => rounds = arg.parse().with_context(|| format!("`{arg}` is not a number of rounds"))?,
        }
    }
    ensure!(rounds > 0, "no rounds");
    let library = Libhdf5::find()?;
    let cases = compare::cases(only)?;
    arrays::make_inputs(&library, &cases)?;
    compare::make_metadata(&library, &cases)?;
    let this = std::env::current_exe()?.display().to_string();
    println!("{rounds} rounds, medians in ms: the other build, this build, this divided by the other\n");
    let (mut ratios, mut slower) = (Vec::new(), Vec::new());
    for case in cases {
        let name = format!("{}: {}", case.section, case.name);
        let [before, after] =
            measure([other.as_str(), &this], &case, rounds).with_context(|| name.clone())?;
        let ratio = after / before;
        println!("{name:<70} {:>9.2} {:>9.2} {ratio:>6.2}", before * 1e3, after * 1e3);
        ratios.push(ratio.ln());
        if ratio > SLOWER_RATIO {
            slower.push(format!("{name}: {ratio:.2}"));
        }
    }
    let count = ratios.len();
    let mean = (ratios.iter().sum::<f64>() / count as f64).exp();
    println!("\n{count} cases, geometric mean {mean:.3}, slower by more than 5 %: {}", slower.len());
    slower.iter().for_each(|line| println!("  {line}"));
    Ok(())
}

/// Returns the median seconds of each program. The programs take turns; each begins every second
/// round.
fn measure(programs: [&str; 2], case: &Case, rounds: usize) -> Result<[f64; 2]> {
    let start = |program: &str| {
        let mut command = Command::new(program);
        command.args(["serve", case.program.word()]).args(case.mapped.then_some("mapped"));
        Reader::start(&mut command)
    };
    let [before, after] = programs;
    let mut readers = [start(before)?, start(after)?];
    let mut times = [Vec::new(), Vec::new()];
    let mut sums = Vec::new();
    for round in 0..=rounds {
        let mut turns: Vec<_> = readers.iter_mut().zip(&mut times).collect();
        if round % 2 == 1 {
            turns.reverse();
        }
        for (reader, times) in turns {
            let (first, sum) = once(reader, case)?;
            let mut all = vec![first];
            if first < SHORT_SECONDS && !case.cold {
                for _ in 1..SHORT_REPEATS {
                    all.push(once(reader, case)?.0);
                }
            }
            // The first round is not counted.
            if round > 0 {
                times.push(median(&all));
            }
            sums.push(sum);
        }
    }
    let same = sums.iter().all(|sum| Some(sum) == sums.first());
    ensure!(same || case.program == Program::Write, "the builds read different values");
    let [before, after] = times;
    Ok([median(&before), median(&after)])
}

fn once(reader: &mut Reader, case: &Case) -> Result<(f64, u64)> {
    if case.cold {
        crate::contest::evict_from_system_cache(&case.path)?;
    }
    match reader.request(&case.line())? {
        Answer::Done(cost, sum) => Ok((cost.wall, sum)),
        Answer::Cannot(why) => anyhow::bail!("{why}"),
        Answer::TimedOut => anyhow::bail!("the case takes too long"),
    }
}
