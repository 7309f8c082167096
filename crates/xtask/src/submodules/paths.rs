//! The paths in Rust source: `use` trees, and paths in the code.

/// An import: the path, the name of the imported item in the module, and the offset in the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// The name, or `*` for all names of the path.
    pub(crate) name: String,
    pub(crate) at: usize,
}

/// A path in the code, outside of imports.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) path: Vec<String>,
    pub(crate) at: usize,
}

/// Returns the code with test-only items replaced by spaces.
pub(crate) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut bytes = code.as_bytes().to_vec();
    let mut at = 0;
    while let Some(start) = code.get(at..).and_then(|rest| rest.find(MARK)).map(|found| found + at) {
        let end = end_of_item(code, start + MARK.len());
        bytes.iter_mut().skip(start).take(end - start).filter(|byte| **byte != b'\n').for_each(|b| *b = b' ');
        at = end.max(start + 1);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the end of the item that begins at `from`: after its `;` or its braces.
fn end_of_item(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && byte == b'}' {
                    return offset + 1;
                }
            }
            b';' if depth == 0 => return offset + 1,
            _ => {}
        }
    }
    code.len()
}

/// Returns the imports of a module, and all other paths of more than one segment.
pub(crate) fn paths(code: &str) -> (Vec<Import>, Vec<Mention>) {
    let (mut imports, mut mentions) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some((start, word)) = next_word(code, at) {
        at = start + word.len();
        if word == "use" && code.get(at..).is_some_and(|rest| rest.starts_with([' ', '\n'])) {
            let end = code.get(at..).and_then(|rest| rest.find(';')).map_or(code.len(), |found| found + at);
            tree(code, at, end, &[], &mut imports);
            at = end;
            continue;
        }
        let mut path = vec![word.to_owned()];
        while let Some(rest) = code.get(at..).and_then(|rest| rest.strip_prefix("::")) {
            let word = leading_word(rest);
            if word.is_empty() {
                break;
            }
            path.push(word.to_owned());
            at += 2 + word.len();
        }
        if path.len() > 1 {
            mentions.push(Mention { path, at: start });
        }
    }
    (imports, mentions)
}

/// Returns the names that a module defines itself.
pub(crate) fn definitions(code: &str) -> Vec<String> {
    const KINDS: &[&str] = &["struct", "enum", "trait", "fn", "const", "static", "type", "union"];
    let mut found = Vec::new();
    let (mut at, mut before) = (0, "");
    while let Some((start, word)) = next_word(code, at) {
        if KINDS.contains(&before) {
            found.push(word.to_owned());
        }
        (at, before) = (start + word.len(), word);
    }
    found
}

/// Collects the imports of a part of a `use` tree.
fn tree(code: &str, from: usize, end: usize, prefix: &[String], imports: &mut Vec<Import>) {
    let mut path = prefix.to_vec();
    let mut at = from;
    while at < end {
        let rest = code.get(at..end).unwrap_or_default();
        let Some(first) = rest.chars().next() else { return };
        if first == '{' {
            let close = end_of_item(code, at).min(end);
            for (start, stop) in parts(code, at + 1, close.saturating_sub(1)) {
                tree(code, start, stop, &path, imports);
            }
            return;
        }
        if first == '*' {
            imports.push(Import { path, name: "*".into(), at });
            return;
        }
        let word = leading_word(rest);
        if word.is_empty() {
            at += first.len_utf8();
        } else if word == "as" {
            let (_, name) = next_word(code, at + 2).unwrap_or((at, ""));
            imports.push(Import { path, name: name.to_owned(), at: from });
            return;
        } else {
            path.push(word.to_owned());
            at += word.len();
        }
    }
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if let Some(name) = path.last().cloned().filter(|_| path.len() > prefix.len() || !prefix.is_empty()) {
        let blank = code.get(from..end).map_or(0, |text| text.len() - text.trim_start().len());
        imports.push(Import { path, name, at: from + blank });
    }
}

/// Returns the ranges between the commas of one level.
fn parts(code: &str, from: usize, end: usize) -> Vec<(usize, usize)> {
    let (mut depth, mut start, mut found) = (0_usize, from, Vec::new());
    for (offset, byte) in code.bytes().enumerate().take(end).skip(from) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push((start, offset));
                start = offset + 1;
            }
            _ => {}
        }
    }
    found.push((start, end));
    found.retain(|(start, end)| code.get(*start..*end).is_some_and(|text| !text.trim().is_empty()));
    found
}

/// Returns the next word from `from` on, and its offset.
fn next_word(code: &str, from: usize) -> Option<(usize, &str)> {
    let rest = code.get(from..)?;
    let start = rest.find(|c: char| c.is_alphabetic() || c == '_')?;
    Some((from + start, leading_word(rest.get(start..)?)))
}

fn leading_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_flattened() {
        let code = "use a::{b::{self, C}, d as e, f::*};\nuse g;\nlet x = h::i::J::new();";
        let (imports, mentions) = paths(code);
        let found: Vec<String> =
            imports.iter().map(|import| format!("{} {}", import.path.join("::"), import.name)).collect();
        assert_eq!(found, ["a::b b", "a::b::C C", "a::d e", "a::f *", "g g"]);
        assert_eq!(mentions.len(), 1);
        assert_eq!(mentions[0].path, ["h", "i", "J", "new"]);
    }

    #[test]
    fn tests_are_no_code() {
        let code =
            "mod a;\n#[cfg(test)]\nmod tests;\nfn f() {}\n#[cfg(test)]\nmod t { fn g() {} }\nfn h() {}";
        let left = without_tests(code);
        assert_eq!(left.lines().count(), code.lines().count());
        assert!(left.contains("mod a;") && left.contains("fn f()") && left.contains("fn h()"), "{left}");
        assert!(!left.contains("tests") && !left.contains("fn g()"), "{left}");
        assert_eq!(definitions(&left), ["f", "h"]);
    }
}
