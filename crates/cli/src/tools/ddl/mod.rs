//! The data description language, in which h5dump prints types, dataspaces, values and properties.

pub(crate) mod data;
pub(crate) mod elements;
pub(crate) mod region;
pub(crate) mod space;
pub(crate) mod types;

/// The number of spaces per indentation level in DDL.
pub(crate) const LEVEL: usize = 3;

/// The replacement for a line break within a DDL text.
const NEW_LINE: &str = "\n           ";

/// The replacement for a carriage return within a DDL text.
const RETURN: &str = "\r           ";

pub(crate) fn spaces(count: usize) -> String {
    " ".repeat(count)
}

/// Returns a name in double quotes. As in the C tool, quotes and backslashes stay unchanged, but
/// control characters become escapes of C, because terminals interpret them.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for part in bytes.split_inclusive(|byte| matches!(byte, b'"' | b'\\')) {
        let (rest, last) = match part.split_last() {
            Some((b'"', rest)) => (rest, "\""),
            Some((b'\\', rest)) => (rest, "\\"),
            _ => (part, ""),
        };
        escape(&mut text, rest, true);
        text.push_str(last);
    }
    text.push('"');
    text
}

/// Appends a text to the output. With `escaped`, control characters, quotes and backslashes become
/// escapes of C. Without it, characters that move the cursor stay unchanged.
pub(crate) fn escape(out: &mut String, bytes: &[u8], escaped: bool) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' if escaped => out.push_str("\\\""),
                '\\' if escaped => out.push_str("\\\\"),
                '\u{8}' if escaped => out.push_str("\\b"),
                '\u{c}' if escaped => out.push_str("\\f"),
                '\n' if escaped => out.push_str("\\n"),
                '\r' if escaped => out.push_str("\\r"),
                '\t' if escaped => out.push_str("\\t"),
                '\n' => out.push_str(NEW_LINE),
                '\r' => out.push_str(RETURN),
                '\u{8}' | '\u{c}' | '\t' => out.push(character),
                _ if character.is_ascii_control() => {
                    out.push_str(&format!("\\{:03o}", u32::from(character)));
                }
                _ => out.push(character),
            }
        }
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\{byte:03o}")));
    }
}
