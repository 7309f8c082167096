//! Rules of plain words for comments: the first words of summaries, the words that
//! `docs/glossary.md` replaces, the width of comments, and names of constants.

use super::Finding;
use super::source::{File, Tree};

/// The largest number of characters on a line with a comment.
const MAX_COLUMNS: usize = 100;

/// Words that must not begin a line of a comment.
const OPENINGS: &[&str] =
    &["What", "Whose", "Who", "How", "Where", "Whether", "That", "Those", "Lets", "Gives"];

/// Words that end in `s` like a verb in the third person, but are not verbs.
const NOT_VERBS: &[&str] = &[
    "Always", "As", "Bytes", "Chunks", "Does", "Elements", "Is", "Items", "Its", "Names", "Rows", "This",
    "Values", "Was",
];

/// Verbs that must not begin the summary of a type or constant.
const VERBS: &[&str] = &["Contains", "Does", "Holds", "Is", "Makes", "Reads", "Returns", "Writes"];

/// Words and phrases that comments do not use, and the words that replace them. A single word also
/// stands for its forms: a comment must not contain a word that begins with it.
const REPLACED: &[(&str, &str)] = &[
    ("behind its filters", "encoded or decoded"),
    ("crowded", "over limit"),
    ("nobody", "name the subject"),
    ("piece of work", "case"),
    ("put right", "repair"),
    ("relieve", "spill"),
    ("settle", "flush"),
    ("somebody", "name the subject"),
];

/// Last words of names of numeric constants that do not say which quantity the number counts.
const VAGUE: &[&str] =
    &["ENOUGH", "FEW", "LARGE", "LEAST", "LITTLE", "MANY", "MOST", "ONCE", "SMALL", "TOO_MANY", "WORTH"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().filter(|file| file.source_of().is_some()).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines: Vec<Line<'_>> = lines(file);
    let mut before_is_doc = false;
    let is_test = file.path.contains("/tests/") || file.path.ends_with("/tests.rs");
    let tests_from = if is_test { 0 } else { file.tests_from() };
    // True inside an example, whose lines are code.
    let mut in_example = false;
    for (at, line) in lines.iter().enumerate() {
        let mut found = |message: String| findings.push(Finding::new(&file.path, at + 1, message));
        if let Some(comment) = line.comment {
            let is_fence = comment.starts_with("```");
            in_example ^= is_fence;
            if in_example || is_fence {
                before_is_doc = line.is_doc;
                continue;
            }
            for message in comment_findings(comment, line.columns) {
                found(message);
            }
        }
        if line.is_doc && !before_is_doc && at + 1 < tests_from {
            let item = lines.get(at..).unwrap_or_default().iter().find_map(|below| below.item);
            if let Some(message) = summary_finding(line.comment.unwrap_or_default(), item) {
                found(message);
            }
        }
        if let Some(name) = line.item.and_then(vague_constant) {
            found(format!("the constant `{name}` does not name the quantity that its number counts"));
        }
        in_example &= line.comment.is_some();
        before_is_doc = line.is_doc || line.is_doc_attribute || (before_is_doc && line.is_attribute);
    }
    findings
}

/// One line of a file.
struct Line<'a> {
    /// The text of the comment, if the line has only a comment.
    comment: Option<&'a str>,
    /// The number of characters.
    columns: usize,
    /// True if the comment documents the item below.
    is_doc: bool,
    is_attribute: bool,
    /// True for `#[doc = …]`, and for the attributes that a macro received.
    is_doc_attribute: bool,
    /// The code, if the line starts or continues an item: neither a comment, nor an attribute, nor
    /// empty.
    item: Option<&'a str>,
}

fn lines(file: &File) -> Vec<Line<'_>> {
    file.text.lines().zip(file.code.lines()).map(|(text, code)| line(text, code)).collect()
}

fn line<'a>(text: &'a str, code: &'a str) -> Line<'a> {
    let trimmed = text.trim_start();
    let is_comment = trimmed.starts_with("//") && code.trim().is_empty();
    let is_doc = is_comment && trimmed.starts_with("///");
    let comment = is_comment.then(|| trimmed.trim_start_matches(['/', '!']).trim());
    let code = code.trim();
    let is_attribute = code.starts_with(['#', '$']) && code.contains("#[");
    let is_doc_attribute = code.starts_with("#[doc") || code.starts_with("$(#[$");
    let item = (!code.is_empty() && !is_attribute).then_some(code);
    Line { comment, columns: text.chars().count(), is_doc, is_attribute, is_doc_attribute, item }
}

fn comment_findings(comment: &str, columns: usize) -> Vec<String> {
    let mut messages = Vec::new();
    let first = first_word(comment);
    if OPENINGS.contains(&first) {
        messages.push(format!("a comment begins with `{first}`: name the subject"));
    }
    if columns > MAX_COLUMNS && !comment.contains("://") && !comment.starts_with('|') {
        messages.push(format!("a comment has {columns} columns, the limit is {MAX_COLUMNS}"));
    }
    let words = format!(" {} ", without_code(comment).to_lowercase());
    for (word, instead) in REPLACED {
        let end = if word.contains(' ') { " " } else { "" };
        if words.contains(&format!(" {word}{end}")) {
            messages.push(format!("`{word}` in a comment: {instead} (docs/glossary.md)"));
        }
    }
    messages
}

/// Returns the words of a comment, separated by spaces, without punctuation and without text in
/// backticks.
fn without_code(comment: &str) -> String {
    let prose: String = comment.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let spaced = prose.replace(|character: char| !(character.is_alphanumeric() || character == '\''), " ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first_word(comment: &str) -> &str {
    comment.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default()
}

/// Checks the first word of the summary of `item`.
fn summary_finding(summary: &str, item: Option<&str>) -> Option<String> {
    let words: Vec<&str> = item?.split_whitespace().filter(|word| !word.starts_with("pub")).collect();
    let first = first_word(summary);
    if summary.starts_with("```") {
        return None;
    }
    if words.iter().take(5).any(|word| *word == "fn") {
        let is_verb = first.ends_with('s') && !NOT_VERBS.contains(&first);
        return (!is_verb)
            .then(|| format!("the summary of a function begins with `{first}`, not with a verb"));
    }
    let is_type =
        matches!(words.first(), Some(&("struct" | "enum" | "trait" | "type" | "mod" | "const" | "static")));
    (is_type && VERBS.contains(&first))
        .then(|| format!("the summary of a type or constant begins with the verb `{first}`"))
}

/// Returns the name of the numeric constant that `item` declares, if the name lacks the quantity.
fn vague_constant(item: &str) -> Option<&str> {
    let (_, declared) = item.split_once("const ")?;
    let (name, rest) = declared.split_once(':')?;
    let kind = rest.trim_start().split(|character: char| !character.is_alphanumeric()).next()?;
    let is_number = matches!(kind, "usize" | "u8" | "u16" | "u32" | "u64" | "u128" | "i32" | "i64" | "f64");
    let last = name.rsplit('_').next()?;
    (is_number && VAGUE.contains(&last)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("crates/a/src/b.rs", text)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn plain_comments_have_no_findings() {
        let text = "//! Blocks of bytes.\n\n/// Returns the size in bytes.\n#[must_use]\npub const fn size() -> u64 { 1 }\n\n\
                    /// The largest block.\nconst MAX_BLOCK_BYTES: u64 = 4; // What else\n";
        assert_eq!(found(text), Vec::<String>::new());
    }

    #[test]
    fn a_banned_first_word_is_found_on_each_line() {
        let found = found(
            "//! Blocks.\n\n/// What a block has.\n/// Whether it is new.\nstruct Block;\n// How so?\n",
        );
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[1].starts_with("crates/a/src/b.rs:4: "), "{found:?}");
    }

    #[test]
    fn a_function_needs_a_verb_and_a_type_a_noun() {
        let found = found(
            "/// The size.\n#[inline]\npub(crate) async fn size() {}\n/// Is a block.\nstruct Block;\n\
             /// Always full.\nfn full() {}\n/// Its name.\nname: String,\n",
        );
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn wide_comments_are_found_but_not_wide_code_tables_or_links() {
        let word = "word ".repeat(21);
        let wide = format!("// {word}\n// | {word}|\n// https://x/{word}\nlet x = \"{word}\";\n");
        assert_eq!(found(&wide).len(), 1, "{:?}", found(&wide));
    }

    #[test]
    fn replaced_words_are_found_as_words_and_outside_code() {
        let found =
            found("// The cache is crowded.\n// `crowded` is a name.\n// Bytes behind its\n// overcrowded\n");
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn numeric_constants_name_their_quantity() {
        let found = found("const AT_ONCE: usize = 1;\nconst MOST: &str = \"\";\nconst MAX_BYTES: u64 = 2;\n");
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn the_replaced_words_stand_in_the_glossary() {
        let glossary = Tree::read(&hyperslab_testkit::workspace::root()).unwrap();
        let glossary = glossary.files.iter().find(|file| file.path == "docs/glossary.md").unwrap();
        for (word, _) in REPLACED {
            assert!(glossary.text.contains(word), "{word}");
        }
    }
}
