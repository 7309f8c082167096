//! The findings of a comparison of two files as text for people.

use std::io;

use hyperslab_exact::to_u64;

use super::found::{AttributeChange, Change, Counts, Detail, DifferingValues, Finding, Tally};
use crate::output::Screen;
use crate::output::{DATASET, ERROR, FAINT, PLAIN, VALUE, styled};
use crate::values::numbers::double;

/// Writes a finding (the result for a pair of objects) of a comparison as text, unless the compared
/// objects are equal.
pub(super) fn write(out: &mut impl Screen, finding: &Finding) -> io::Result<()> {
    let (sign, style, rest) = match &finding.change {
        Change::Same => return Ok(()),
        Change::Removed(subject) => ("-", ERROR, subject.as_str()),
        Change::Added(subject) => ("+", VALUE, subject.as_str()),
        Change::Changed(_) => ("≠", DATASET, ""),
        Change::Trouble(why, _) => ("!", ERROR, why.as_str()),
    };
    styled(out, style, sign)?;
    write!(out, " ")?;
    styled(out, DATASET, &finding.path)?;
    if let Some(other) = &finding.other_path {
        write!(out, " ↔ ")?;
        styled(out, DATASET, other)?;
    }
    if !rest.is_empty() {
        write!(out, "  ")?;
        let style = if matches!(finding.change, Change::Trouble(..)) { PLAIN } else { FAINT };
        styled(out, style, &crate::output::escape(rest.as_bytes()))?;
    }
    writeln!(out)?;
    match &finding.change {
        Change::Changed(details) | Change::Trouble(_, details) => write_details(out, details, 4),
        Change::Same | Change::Removed(_) | Change::Added(_) => Ok(()),
    }
}

fn write_details(out: &mut impl Screen, details: &[Detail], indent: usize) -> io::Result<()> {
    for detail in details {
        write!(out, "{:indent$}", "")?;
        match detail {
            Detail::Property { name, one, other } => change(out, name, one, other)?,
            Detail::Elements(tally) => write_tally(out, tally, indent)?,
            Detail::NotCompared(why) => writeln!(out, "elements are not compared: {why}")?,
            Detail::Defined { one, other } => {
                writeln!(out, "defined     {one} elements only in the first, {other} only in the second")?;
            }
            Detail::Attribute { name, change: AttributeChange::Removed(value) } => {
                styled(out, ERROR, "-")?;
                writeln!(out, " @{name}  {}", value.text)?;
            }
            Detail::Attribute { name, change: AttributeChange::Added(value) } => {
                styled(out, VALUE, "+")?;
                writeln!(out, " @{name}  {}", value.text)?;
            }
            Detail::Attribute { name, change: AttributeChange::Changed { one, other, details } } => {
                change(out, &format!("@{name}"), &one.text, &other.text)?;
                // The line above shows the whole value of an attribute with one element.
                let is_single =
                    |detail: &Detail| matches!(detail, Detail::Elements(Tally { elements: 1, .. }));
                let details: Vec<&Detail> = details.iter().filter(|detail| !is_single(detail)).collect();
                for detail in details {
                    write_details(out, std::slice::from_ref(detail), indent + 4)?;
                }
            }
        }
    }
    Ok(())
}

fn change(out: &mut impl Screen, name: &str, one: &str, other: &str) -> io::Result<()> {
    let [one, other] = [one, other].map(|text| crate::output::escape(text.as_bytes()));
    if one.chars().count() + other.chars().count() > 100 {
        return writeln!(out, "{name}\n        {one}\n      → {other}");
    }
    writeln!(out, "{name:<10}  {one} → {other}")
}

fn write_tally(out: &mut impl Screen, tally: &Tally, indent: usize) -> io::Result<()> {
    write!(out, "{:<10}  {} of {} differ", "elements", tally.differing, tally.elements)?;
    write!(out, "{}", largest_text(tally))?;
    writeln!(out)?;
    let inside = indent + 4;
    let names: Vec<String> = tally.places.iter().map(named).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, DifferingValues { one, other, .. }) in names.iter().zip(&tally.places) {
        write!(out, "{:inside$}", "")?;
        if width > 0 {
            styled(out, FAINT, &format!("{name:<width$}"))?;
            write!(out, "  ")?;
        }
        writeln!(out, "{} → {}", one.text, other.text)?;
    }
    let shown = to_u64(tally.places.len());
    if shown > 0 && tally.differing > shown {
        writeln!(out, "{:inside$}…", "")?;
    }
    Ok(())
}

/// Describes the largest absolute and relative differences with their coordinates.
fn largest_text(tally: &Tally) -> String {
    let at = |coordinates: &[u64]| match coordinates {
        [] => String::new(),
        _ => format!(" at {}", place(coordinates)),
    };
    let distance = |distance: f64| double(distance).trim_end_matches(".0").to_owned();
    match (&tally.largest, &tally.largest_share) {
        (Some((largest, place)), Some((share, other))) if place == other => {
            format!(", by up to {} ({}){}", distance(*largest), percent(*share), at(place))
        }
        (Some((largest, place)), Some((share, other))) => {
            format!(", by up to {}{} and {}{}", distance(*largest), at(place), percent(*share), at(other))
        }
        (Some((largest, place)), None) => format!(", by up to {}{}", distance(*largest), at(place)),
        (None, _) => String::new(),
    }
}

fn named(place: &DifferingValues) -> String {
    match place.coordinates.as_slice() {
        [] => place.part.clone(),
        coordinates => format!("{}{}", self::place(coordinates), place.part),
    }
}

fn place(coordinates: &[u64]) -> String {
    format!("[{}]", coordinates.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}

/// Returns the text of a share in percent with three decimals.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if (0.01..1e4).contains(&percent) { format!("{percent:.3} %") } else { format!("{percent:.2e} %") }
}

/// Writes a summary of a comparison if the compared files differ: the numbers of changed, added,
/// removed and uncompared objects.
pub(super) fn summary(out: &mut impl Screen, counts: &Counts) -> io::Result<()> {
    if counts.is_same() {
        return Ok(());
    }
    let parts = [
        (counts.changed, "changed"),
        (counts.removed, "removed"),
        (counts.added, "added"),
        (counts.trouble, "not read"),
        (counts.same, "the same"),
    ];
    let parts =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, subject)| format!("{count} {subject}"));
    styled(out, FAINT, &parts.collect::<Vec<_>>().join(", "))?;
    writeln!(out)
}
