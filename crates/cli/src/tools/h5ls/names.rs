//! Names in the format of h5ls.

/// The kind of quotes around a name in h5ls's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// The name is between double quotes.
    Yes,
    /// The name has no quotes: spaces are escaped.
    No,
}

/// Returns a name with the escapes of C. Bytes that are not ASCII become octal escapes.
pub(super) fn escaped(bytes: &[u8], quotes: Quotes) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\x08' => text.push_str("\\b"),
            b'\x0c' => text.push_str("\\f"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            b'"' => text.push_str("\\\""),
            b' ' if quotes == Quotes::No => text.push_str("\\ "),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_h5ls_has_them() {
        assert_eq!(escaped("a b\t\"é\\".as_bytes(), Quotes::No), "a\\ b\\t\\\"\\303\\251\\\\");
        assert_eq!(escaped(b"a b\x01\x7f", Quotes::Yes), "a b\\001\\177");
    }
}
