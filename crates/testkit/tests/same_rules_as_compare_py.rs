//! A test that the comparison of this crate and `compare.py` of the corpus agree on changed
//! documents.

use std::io::Write;
use std::process::{Command, Stdio};

use hyperslab_testkit::{compare::compare, corpus, fixtures, workspace};
use serde_json::{Value, json};

const PROGRAM: &str = "
import json, sys
sys.path.insert(0, sys.argv[1])
from compare import compare
for line in sys.stdin:
    truth, got = json.loads(line)
    r = compare(truth, got)
    print(json.dumps([r['right'], r['wrong'], r['missing'], sum(len(d) for _, d in r['bad'])]))
";

/// Changes, removes or adds a value at the position `n` of the document.
fn tampered(document: &Value, n: usize) -> Value {
    let mut copy = document.clone();
    let mut left = n;
    tamper(&mut copy, &mut left, n);
    copy
}

fn tamper(value: &mut Value, left: &mut usize, n: usize) -> bool {
    if *left == 0 {
        *value = match (n % 3, &*value) {
            (0, _) => json!("tampered"),
            (1, Value::Array(list)) => list.iter().rev().cloned().collect(),
            (_, Value::Array(list)) => list.iter().skip(1).cloned().collect(),
            (_, Value::Object(_)) => json!({"name": "x", "comment": "y", "path": "/z", "kind": "group"}),
            _ => json!(n),
        };
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(list) => list.iter_mut().any(|inner| tamper(inner, left, n)),
        Value::Object(map) if n.is_multiple_of(5) && *left < map.len() => {
            let key = map.keys().nth(*left).cloned();
            key.is_some_and(|key| map.remove(&key).is_some())
        }
        Value::Object(map) => map.values_mut().any(|inner| tamper(inner, left, n)),
        _ => false,
    }
}

#[test]
fn both_comparisons_agree() {
    let Some(dir) = corpus::dir() else { return };
    let mut pairs = Vec::new();
    for name in ["weather_station.h5", "links_latest.h5", "filters_earliest.h5", "fill_values_latest.h5"] {
        let truth = fixtures::expected(name).unwrap();
        pairs.extend((3..1500).step_by(7).map(|n| json!([truth, tampered(&truth, n)])));
    }
    let mut python = Command::new("python3");
    python.args(["-B", "-c", PROGRAM]).arg(&dir).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = python.spawn() else { return workspace::skip("compare.py", "no python3") };
    let mut input = child.stdin.take().unwrap();
    let lines: String = pairs.iter().map(|pair| format!("{pair}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());

    let verdicts = String::from_utf8(output.stdout).unwrap();
    assert_eq!(verdicts.lines().count(), pairs.len());
    let mut judged = 0;
    for (pair, verdict) in pairs.iter().zip(verdicts.lines()) {
        let ours = compare(&pair[0], &pair[1]);
        let theirs: Vec<usize> = serde_json::from_str(verdict).unwrap();
        assert_eq!([ours.right, ours.wrong, ours.missing, ours.differences.len()], *theirs, "{ours}");
        judged += usize::from(!ours.is_equal());
    }
    // The other changes affect informational values, or lie after the end of the document.
    assert!(judged > 250, "only {judged} of {} documents differ", pairs.len());
}
