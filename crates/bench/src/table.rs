//! What a benchmark found, as a table.

/// The times of both sides for one input, in seconds.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) input: String,
    pub(crate) ours: Vec<f64>,
    pub(crate) theirs: Vec<f64>,
}

/// The middle of some times.
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

/// Medians, quickest runs and the ratio of the medians.
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
