//! The parameters of a request.

use percent_encoding::percent_decode_str;

use super::Failure;

/// The parameters of a request in their order.
#[derive(Debug)]
pub(super) struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Parses the part of a URL after `?`.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let mut pairs = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            pairs.push((decoded(name)?, decoded(value)?));
        }
        Ok(Self { pairs })
    }

    /// Returns the last value of a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns all values of a parameter.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the path of an object: the root group if the request names no path.
    pub(super) fn path(&self) -> &str {
        self.get("path").unwrap_or("/")
    }

    /// Returns the value of a switch, which is off if the request does not name it.
    pub(super) fn switch(&self, name: &str) -> Result<bool, Failure> {
        let Some(value) = self.get(name) else { return Ok(false) };
        match value.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" | "t" | "y" => Ok(true),
            "false" | "0" | "no" | "off" | "f" | "n" => Ok(false),
            _ => Err(Failure::refused(format!("`{value}` is not a value of {name}: true or false"))),
        }
    }
}

/// Decodes percent signs and plus signs, as forms encode spaces.
fn decoded(text: &str) -> Result<String, Failure> {
    let text = text.replace('+', " ");
    let decoded = percent_decode_str(&text).decode_utf8();
    decoded.map(Into::into).map_err(|_| Failure::refused("a parameter is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let query = Query::parse("file=a%20b.h5&path=%2Fx+y&attr_keys=p&attr_keys=q&flatten=True&").unwrap();
        assert_eq!(query.get("file"), Some("a b.h5"));
        assert_eq!(query.path(), "/x y");
        assert!(query.all("attr_keys").eq(["p", "q"]));
        assert!(query.switch("flatten").unwrap());
        assert!(!query.switch("other").unwrap());
        assert!(Query::parse("flatten=maybe").unwrap().switch("flatten").is_err());
        assert!(Query::parse("file=%ff").is_err());
    }
}
