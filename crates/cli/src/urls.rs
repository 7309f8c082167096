//! URLs in the place of paths of files.

use std::path::Path;

/// The schemes of URLs that name a store.
const SCHEMES: [&str; 6] = ["s3", "gs", "az", "http", "https", "file"];

/// Returns the URL if the name of a file is a URL of a store.
pub(crate) fn url(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)).then_some(text)
}

/// Returns a path, or a URL without the parts that may be credentials: the user, and the query.
pub(crate) fn shown(path: &Path) -> String {
    let Some((scheme, rest)) = url(path).and_then(|url| url.split_once("://")) else {
        return path.display().to_string();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    format!("{scheme}://{}/{path}", host.rsplit('@').next().unwrap_or(host))
}

/// Returns a line in which the URLs of the command line have no credentials.
pub(crate) fn without_credentials(mut line: String) -> String {
    for argument in std::env::args_os() {
        let path = Path::new(&argument);
        if let Some(url) = url(path) {
            line = line.replace(url, &shown(path));
        }
    }
    line
}
