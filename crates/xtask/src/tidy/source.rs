//! The files of the checkout, and Rust source without its comments and strings.

use std::path::Path;

use anyhow::{Context, Result};

const NOT_OURS: &[&str] =
    &[".git", ".venv", "target", "node_modules", "__pycache__", "corpus", "artifacts", "coverage"];

/// The text files of a checkout.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    /// The paths of all folders and files, including files that are not text.
    pub(crate) paths: Vec<String>,
}

/// One text file.
#[derive(Debug)]
pub(crate) struct File {
    /// The path from the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    /// For Rust, the text with comments and the contents of literals replaced by spaces. Empty for
    /// other files.
    pub(crate) code: String,
}

impl File {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let code = if path.ends_with(".rs") { blanked(text) } else { String::new() };
        Self { path: path.to_owned(), text: text.to_owned(), code }
    }

    /// Returns the crate's folder name and the path below `src`, if the file is Rust in
    /// `crates/NAME/src`.
    pub(crate) fn source_of(&self) -> Option<(&str, &str)> {
        let (folder, inside) = self.path.strip_prefix("crates/")?.split_once("/src/")?;
        inside.ends_with(".rs").then_some((folder, inside))
    }

    /// Returns the line, counted from 1, of the byte `at` of `code`.
    pub(crate) fn line_of(&self, at: usize) -> usize {
        self.code.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
    }

    /// Returns the line, counted from 1, on which the unit tests begin, or the line after the last
    /// one if there are none.
    ///
    /// Unit tests are the inline modules `#[cfg(test)] mod NAME { … }` at the end of the file. A
    /// declaration `#[cfg(test)] mod NAME;` is not a test, and a test module with other items after
    /// it does not count.
    pub(crate) fn tests_from(&self) -> usize {
        let ends = |(at, _): &(usize, &str)| {
            let mut rest = self.code.get(*at..).unwrap_or_default();
            while let Some(after) = after_test_module(rest) {
                rest = after.trim_start();
            }
            rest.is_empty()
        };
        let start = self.code.match_indices(TESTS).find(ends).map(|(at, _)| at);
        start.map_or_else(|| self.text.lines().count() + 1, |at| self.line_of(at))
    }
}

/// The attribute of a test module.
const TESTS: &str = "#[cfg(test)]";

/// Returns the code after the inline test module at the start of `code`, or `None` if there is no
/// such module.
fn after_test_module(code: &str) -> Option<&str> {
    let mut rest = code.strip_prefix(TESTS)?.trim_start();
    while rest.starts_with("#[") {
        rest = after_brackets(rest, '[', ']')?.trim_start();
    }
    if let Some(after) = rest.strip_prefix("pub") {
        let after = after.trim_start();
        rest = if after.starts_with('(') { after_brackets(after, '(', ')')?.trim_start() } else { after };
    }
    let name = rest.strip_prefix("mod ")?;
    let body = name.trim_start_matches(|character: char| character.is_alphanumeric() || character == '_');
    let body = body.trim_start();
    if body.starts_with('{') { after_brackets(body, '{', '}') } else { None }
}

/// Returns the code after the bracket that closes the first `open`.
fn after_brackets(code: &str, open: char, close: char) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, character) in code.char_indices() {
        if character == open {
            depth += 1;
        } else if character == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return code.get(at + close.len_utf8()..);
            }
        }
    }
    None
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.descend(root, root)?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let paths = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        Self { files: files.iter().map(|(path, text)| File::new(path, text)).collect(), paths }
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    fn descend(&mut self, root: &Path, folder: &Path) -> Result<()> {
        for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if NOT_OURS.contains(&name.as_str()) {
                continue;
            }
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            self.paths.push(relative.clone());
            if path.is_dir() {
                self.descend(root, &path)?;
            } else if !relative.starts_with("fixtures/expected/")
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                self.files.push(File::new(&relative, &text));
            }
        }
        Ok(())
    }
}

/// Replaces comments and the contents of strings in Rust source by spaces. Line breaks stay.
fn blanked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let after_word = at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|b| is_word(*b));
        let (keep, length) = token(rest, after_word);
        if !keep {
            for byte in code.iter_mut().skip(at).take(length).filter(|byte| **byte != b'\n') {
                *byte = b' ';
            }
        }
        at += length.max(1);
    }
    String::from_utf8_lossy(&code).into_owned()
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns true if the next token is code, and the length of the token in bytes.
fn token(rest: &[u8], after_word: bool) -> (bool, usize) {
    if rest.starts_with(b"//") {
        return (false, find(rest, b"\n", 2).unwrap_or(rest.len()));
    }
    if rest.starts_with(b"/*") {
        return (false, block_comment(rest));
    }
    if rest.starts_with(b"\"") {
        return (false, quoted(rest, b'"'));
    }
    if !after_word && let Some(length) = raw_string(rest) {
        return (false, length);
    }
    if rest.starts_with(b"'") && is_char_literal(rest) {
        return (false, quoted(rest, b'\''));
    }
    (true, 1)
}

fn find(bytes: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(needle.len()).position(|window| window == needle).map(|at| at + from)
}

fn block_comment(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn quoted(bytes: &[u8], mark: u8) -> usize {
    let mut escaped = false;
    for (at, &byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == mark => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

/// Returns the length of `r"…"`, `r#"…"#`, `br"…"`, … at the start of `bytes`.
fn raw_string(bytes: &[u8]) -> Option<usize> {
    let prefix = usize::from(matches!(bytes.first(), Some(b'b' | b'c'))) + 1;
    let after = bytes.get(prefix - 1..)?.strip_prefix(b"r")?;
    let hashes = after.iter().take_while(|&&byte| byte == b'#').count();
    if after.get(hashes) != Some(&b'"') {
        return None;
    }
    let end = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let opening = prefix + hashes + 1;
    Some(find(bytes, &end, opening).map_or(bytes.len(), |at| at + end.len()))
}

/// Returns true for `'x'` and `'\n'`, and false for the lifetime `'a`.
fn is_char_literal(bytes: &[u8]) -> bool {
    match bytes.get(1) {
        Some(b'\\') => true,
        Some(byte) if byte.is_ascii() => bytes.get(2) == Some(&b'\''),
        Some(_) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_blanked_and_lines_stay() {
        let text = "let a = \"unsafe {\\\" }\"; // unsafe\n/* unsafe /* x */\n */ unsafe { 'x' }\nfn f<'a>(x: &'a str) {}\n";
        let code = blanked(text);
        assert_eq!(code.lines().count(), text.lines().count());
        assert_eq!(code.matches("unsafe").count(), 1, "{code}");
        assert!(code.contains("fn f<'a>(x: &'a str) {}"), "{code}");
    }

    #[test]
    fn raw_strings_end_where_they_end() {
        let code = blanked("let s = r#\"a \" todo \"# ; let var = 1; br\"x\\\" ; 'é' ; keep");
        assert!(code.ends_with("; keep") && code.contains("let var = 1;"), "{code}");
        assert!(!code.contains("todo"), "{code}");
    }

    fn start(text: &str) -> usize {
        File::new("a.rs", text).tests_from()
    }

    #[test]
    fn the_start_of_the_tests_is_found() {
        assert_eq!(start("//! x\nfn f() {}\n#[cfg(test)]\nmod tests {}\n"), 3);
        assert_eq!(start("//! x\nfn f() {}\n"), 3);
        let braces =
            "#[cfg(test)]\nmod tests {\n    fn f() { if x { '}' } }\n    const S: &str = \"}\";\n}\n";
        assert_eq!(start(&format!("//! x\n{braces}")), 2);
        assert_eq!(start(&format!("//! x\n{braces}\n{braces}// end\n")), 2, "several modules");
        assert_eq!(
            start("//! x\n#[cfg(test)]\n#[cfg(unix)]\n#[expect(\n    a,\n    b\n)]\npub(crate) mod x {\n}\n"),
            2
        );
    }

    #[test]
    fn only_inline_modules_at_the_end_are_tests() {
        assert_eq!(start("//! x\n#[cfg(test)]\nmod tests;\n\nfn f() {}\n"), 6, "a declaration");
        assert_eq!(start("//! x\nfn f() {}\n#[cfg(test)]\nmod tests;\n"), 5, "a declaration at the end");
        assert_eq!(start("//! x\n#[cfg(test)]\nmod tests {}\nfn f() {}\n"), 5, "code follows");
        assert_eq!(start("//! x\n#[cfg(test)]\nfn f() {}\n"), 4, "a function");
        let both = "//! x\n#[cfg(test)]\nmod made;\nfn f() {}\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(start(both), 5, "a declaration, then the tests");
        assert_eq!(start("//! #[cfg(test)] mod x {}\nfn f() {}\n"), 3, "a comment");
    }
}
