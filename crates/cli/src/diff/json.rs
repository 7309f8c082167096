//! The findings of a comparison of two files as a JSON document.

use std::io::Write;

use anyhow::Result;
use serde_json::{Map, Value as Json, json};

use super::DiffArguments;
use super::found::{AttributeChange, Change, Counts, Detail, DifferingValues, Finding, Shown, Tally};

/// The JSON document of a comparison of two files. The results for each pair of objects (findings)
/// are added one by one.
#[derive(Debug)]
pub(super) struct Document {
    one: String,
    other: String,
    findings: Vec<Json>,
}

impl Document {
    pub(super) fn new(arguments: &DiffArguments) -> Self {
        let [one, other] = [&arguments.one, &arguments.other].map(|path| path.display().to_string());
        Self { one, other, findings: Vec::new() }
    }

    pub(super) fn add(&mut self, finding: &Finding) {
        let mut entry = Map::new();
        entry.insert("path".into(), json!(finding.path));
        if let Some(other) = &finding.other_path {
            entry.insert("other_path".into(), json!(other));
        }
        let (change, subject, details) = match &finding.change {
            Change::Same => return,
            Change::Removed(subject) => ("removed", Some(("what", subject)), None),
            Change::Added(subject) => ("added", Some(("what", subject)), None),
            Change::Changed(details) => ("changed", None, Some(details)),
            Change::Trouble(why, details) => ("trouble", Some(("error", why)), Some(details)),
        };
        entry.insert("change".into(), json!(change));
        if let Some((key, text)) = subject {
            entry.insert(key.into(), json!(text));
        }
        if let Some(details) = details {
            put_details(&mut entry, details);
        }
        self.findings.push(Json::Object(entry));
    }

    pub(super) fn write(self, out: &mut impl Write, counts: &Counts) -> Result<()> {
        let document = json!({
            "schema": 1,
            "a": self.one,
            "b": self.other,
            "same": counts.is_same(),
            "counts": {
                "same": counts.same,
                "changed": counts.changed,
                "removed": counts.removed,
                "added": counts.added,
                "trouble": counts.trouble,
            },
            "differences": self.findings,
        });
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)?;
        Ok(())
    }
}

fn put_details(entry: &mut Map<String, Json>, details: &[Detail]) {
    let mut attributes = Map::new();
    for detail in details {
        match detail {
            Detail::Property { name, one, other } => {
                entry.insert(name.replace(' ', "_"), json!({"a": one, "b": other}));
            }
            Detail::Elements(tally) => {
                entry.insert("elements".into(), tally_of(tally));
            }
            Detail::NotCompared(why) => {
                entry.insert("not_compared".into(), json!(why));
            }
            Detail::Defined { one, other } => {
                entry.insert("defined".into(), json!({"only_a": one, "only_b": other}));
            }
            Detail::Attribute { name, change } => {
                attributes.insert(name.clone(), attribute(change));
            }
        }
    }
    if !attributes.is_empty() {
        entry.insert("attributes".into(), Json::Object(attributes));
    }
}

fn attribute(change: &AttributeChange) -> Json {
    match change {
        AttributeChange::Removed(Shown { json, .. }) => json!({"change": "removed", "a": json}),
        AttributeChange::Added(Shown { json, .. }) => json!({"change": "added", "b": json}),
        AttributeChange::Changed { one, other, details } => {
            let mut entry = Map::new();
            entry.insert("change".into(), json!("changed"));
            entry.insert("a".into(), one.json.clone());
            entry.insert("b".into(), other.json.clone());
            put_details(&mut entry, details);
            Json::Object(entry)
        }
    }
}

fn tally_of(tally: &Tally) -> Json {
    let largest = |largest: &Option<(f64, Vec<u64>)>| match largest {
        // JSON has no numbers for infinities: these become text.
        Some((value, at)) if value.is_finite() => json!({"value": value, "at": at}),
        Some((value, at)) => json!({"value": value.to_string(), "at": at}),
        None => Json::Null,
    };
    let place = |place: &DifferingValues| {
        let mut entry = json!({"at": place.coordinates, "a": place.one.json, "b": place.other.json});
        if !place.part.is_empty()
            && let Some(entry) = entry.as_object_mut()
        {
            entry.insert("part".into(), json!(place.part.trim_start_matches('.')));
        }
        entry
    };
    json!({
        "count": tally.elements,
        "differing": tally.differing,
        "largest": largest(&tally.largest),
        "largest_relative": largest(&tally.largest_share),
        "places": tally.places.iter().map(place).collect::<Vec<_>>(),
    })
}
