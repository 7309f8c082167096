//! The files of the checkout, and Rust source without its comments and strings.

use std::path::Path;

use anyhow::{Context, Result};

const NOT_OURS: &[&str] = &[".git", ".venv", "target", "__pycache__", "corpus", "artifacts", "coverage"];

/// The text files of a checkout.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    /// Every folder and file by its path, also those that are not text.
    pub(crate) paths: Vec<String>,
}

/// One text file.
#[derive(Debug)]
pub(crate) struct File {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    /// For Rust: the same lines with comments and the insides of literals blanked. Empty for other files.
    pub(crate) code: String,
}

impl File {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let code = if path.ends_with(".rs") { blanked(text) } else { String::new() };
        Self { path: path.to_owned(), text: text.to_owned(), code }
    }

    /// The crate's folder name where the file is Rust in `crates/NAME/src`.
    pub(crate) fn source_of(&self) -> Option<(&str, &str)> {
        let (folder, inside) = self.path.strip_prefix("crates/")?.split_once("/src/")?;
        inside.ends_with(".rs").then_some((folder, inside))
    }

    /// The line, counted from 1, of a byte of `code`.
    pub(crate) fn line_of(&self, at: usize) -> usize {
        self.code.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
    }

    /// Where the unit tests begin, counted from 1; one past the end where there are none.
    pub(crate) fn tests_from(&self) -> usize {
        let lines = self.text.lines().count();
        self.code.lines().position(|line| line.trim() == "#[cfg(test)]").map_or(lines + 1, |at| at + 1)
    }
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

/// Rust source with comments and the insides of strings turned into spaces; line breaks stay.
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

/// Whether the next piece is code, and how long it is.
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

fn find(bytes: &[u8], what: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(what.len()).position(|window| window == what).map(|at| at + from)
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

/// The length of `r"…"`, `r#"…"#`, `br"…"`, … at the start.
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

/// Tells `'x'` and `'\n'` from the lifetime `'a`.
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

    #[test]
    fn the_start_of_the_tests_is_found() {
        assert_eq!(File::new("a.rs", "//! x\nfn f() {}\n#[cfg(test)]\nmod tests {}\n").tests_from(), 3);
        assert_eq!(File::new("a.rs", "//! x\nfn f() {}\n").tests_from(), 3);
    }
}
