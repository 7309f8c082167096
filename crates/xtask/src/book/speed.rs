//! `docs/guide/pictures/speed.svg`: a few workloads of `docs/benchmarks.md` as bars.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

const PICTURE: &str = "docs/guide/pictures/speed.svg";
const PAGE: &str = "docs/benchmarks.md";

/// The name of each workload in the page, and its label in the picture.
const WORKLOADS: &[(&str, &str)] = &[
    ("gzip, whole", "gzip dataset, read whole"),
    ("shuffle + gzip, whole", "shuffle + gzip dataset, read whole"),
    ("gzip, 1000 boxes 16 x 16", "1000 boxes of a gzip dataset"),
    ("bitshuffle lz4, whole", "bitshuffle LZ4 dataset, read whole"),
    ("1 M variable strings", "a million strings, read"),
    ("1 M chunks, B-tree v1, whole", "a million chunks, read"),
    ("10 000 datasets read, 2 attributes each, earliest", "10 000 datasets with attributes, read"),
];

const WIDTH_PIXELS: f64 = 780.0;
const LABEL_PIXELS: f64 = 290.0;
const LINE_PIXELS: f64 = 30.0;
const TOP_PIXELS: f64 = 58.0;
/// The ratio at the right end of the bars.
const MAX_RATIO: f64 = 2.5;

/// Compares the picture with the figures of the page, or writes it if `update` is set.
pub(super) fn check(root: &Path, update: bool) -> Result<Vec<String>> {
    let page = fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    let picture = draw(&ratios(&page)?);
    let path = root.join(PICTURE);
    if update {
        fs::write(&path, picture).context(PICTURE)?;
        return Ok(Vec::new());
    }
    let same = fs::read_to_string(&path).is_ok_and(|written| written == picture);
    Ok(if same { Vec::new() } else { vec![format!("{PICTURE} differs from the figures of {PAGE}")] })
}

/// Returns the label of each workload and the time of hyperslab divided by the time of libhdf5.
fn ratios(page: &str) -> Result<Vec<(&'static str, f64)>> {
    let column = |line: &str, name: &str| {
        line.split('|')
            .position(|cell| cell.trim() == name)
            .with_context(|| format!("{PAGE}: no column {name}"))
    };
    let mut found = Vec::new();
    let mut header = "";
    for line in page.lines() {
        if line.starts_with("| case |") {
            header = line;
        }
        let name = line.split('|').nth(1).unwrap_or_default().trim();
        let Some((_, label)) = WORKLOADS.iter().find(|(workload, _)| *workload == name) else { continue };
        if !header.contains("÷ libhdf5") || found.iter().any(|(known, _)| known == label) {
            continue;
        }
        let cell = line.split('|').nth(column(header, "÷ libhdf5")?).unwrap_or_default();
        let ratio =
            cell.trim().trim_matches('*').parse().with_context(|| format!("{PAGE}: {name}: `{cell}`"))?;
        found.push((*label, ratio));
    }
    if found.len() != WORKLOADS.len() {
        bail!("{PAGE} has {} of the {} workloads of {PICTURE}", found.len(), WORKLOADS.len());
    }
    let order = |(label, _): &(&str, f64)| WORKLOADS.iter().position(|(_, known)| known == label);
    found.sort_by_key(order);
    Ok(found)
}

fn draw(ratios: &[(&str, f64)]) -> String {
    let across = |ratio: f64| {
        let bars = WIDTH_PIXELS - LABEL_PIXELS - 60.0;
        (LABEL_PIXELS + bars * ratio.min(MAX_RATIO) / MAX_RATIO).round()
    };
    let mut rows = String::new();
    let mut top = TOP_PIXELS;
    for (label, ratio) in ratios {
        let (left, end) = (across(0.0), across(*ratio));
        let colour = if *ratio <= 1.0 { "#1f69aa" } else { "#de8728" };
        let (text, number) = (left - 10.0, end + 6.0);
        let middle = top + 16.0;
        let _ = writeln!(
            rows,
            "<text x=\"{text}\" y=\"{middle}\" text-anchor=\"end\">{label}</text>\n\
             <rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"20\" fill=\"{colour}\"/>\n\
             <text x=\"{number}\" y=\"{middle}\">{ratio} ×</text>",
            (end - left).max(2.0),
        );
        top += LINE_PIXELS;
    }
    let (one, height) = (across(1.0), top + 12.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH_PIXELS} {height}\" font-family=\"sans-serif\" \
         font-size=\"14\" fill=\"#3c3c3c\">\n\
         <rect width=\"{WIDTH_PIXELS}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"10\" y=\"22\" font-size=\"16\">Time of hyperslab divided by the time of libhdf5 (shorter is faster)</text>\n\
         <line x1=\"{one}\" y1=\"{}\" x2=\"{one}\" y2=\"{top}\" stroke=\"#3c3c3c\"/>\n\
         <text x=\"{one}\" y=\"{}\" text-anchor=\"middle\">libhdf5</text>\n{rows}</svg>\n",
        TOP_PIXELS - 8.0,
        TOP_PIXELS - 13.0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_come_from_their_column_in_the_order_of_the_picture() {
        let mut page = "| case | hyperslab, ms | ÷ libhdf5 |\n|---|---:|---:|\n".to_owned();
        for (number, (name, _)) in WORKLOADS.iter().enumerate().rev() {
            page += &format!("| {name} | 7.0 | **{number}.5** |\n");
        }
        let ratios = ratios(&page).unwrap();
        assert_eq!(ratios[0], (WORKLOADS[0].1, 0.5));
        assert_eq!(ratios.last().unwrap().1, 6.5);
        assert!(draw(&ratios).contains("6.5 ×"));
    }

    #[test]
    fn the_picture_shows_the_figures_of_the_page() {
        let update = std::env::var_os("HYPERSLAB_UPDATE").is_some();
        let root = hyperslab_testkit::workspace::root();
        assert_eq!(check(&root, update).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_workload_that_is_missing_is_an_error() {
        assert!(ratios("| case | ÷ libhdf5 |\n| gzip, whole | 1.0 |\n").is_err());
    }
}
