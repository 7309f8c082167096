//! The page of the viewer, which was built from `viewer/` and is a part of the program.

use std::io::{self, Read as _};

/// A file of the page, compressed by gzip.
#[derive(Debug)]
pub(crate) struct Part {
    /// The name in the folder of the page.
    pub(crate) name: &'static str,
    /// The value of the header `Content-Type`.
    pub(crate) content_type: &'static str,
    /// The compressed contents.
    pub(crate) gzip: &'static [u8],
}

/// The files of the page with a server.
pub(crate) const PARTS: &[Part] = &[
    Part {
        name: "index.html",
        content_type: "text/html; charset=utf-8",
        gzip: include_bytes!("../page/index.html.gz"),
    },
    VIEWER,
    STYLE,
    LICENSES,
];

const VIEWER: Part = Part {
    name: "viewer.js",
    content_type: "text/javascript; charset=utf-8",
    gzip: include_bytes!("../page/viewer.js.gz"),
};

const STYLE: Part = Part {
    name: "viewer.css",
    content_type: "text/css; charset=utf-8",
    gzip: include_bytes!("../page/viewer.css.gz"),
};

const LICENSES: Part = Part {
    name: "licenses.txt",
    content_type: "text/plain; charset=utf-8",
    gzip: include_bytes!("../page/licenses.txt.gz"),
};

impl Part {
    /// Returns the contents.
    ///
    /// # Errors
    /// Returns an error if the compressed contents are damaged.
    pub(crate) fn contents(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(self.gzip).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// The page that needs no server, as files for a web server.
#[cfg(feature = "export")]
mod export {
    use std::io;
    use std::path::Path;

    use super::{LICENSES, Part, STYLE, VIEWER};

    const START: Part = Part {
        name: "local.html",
        content_type: "text/html; charset=utf-8",
        gzip: include_bytes!("../page/local.html.gz"),
    };

    const WORKER: Part = Part {
        name: "worker.js",
        content_type: "text/javascript; charset=utf-8",
        gzip: include_bytes!("../page/worker.js.gz"),
    };

    const READER: Part = Part {
        name: "hyperslab.wasm",
        content_type: "application/wasm",
        gzip: include_bytes!("../page/hyperslab.wasm.gz"),
    };

    const READER_LICENSES: Part = Part {
        name: "reader-licenses.txt",
        content_type: "text/plain; charset=utf-8",
        gzip: include_bytes!("../page/reader-licenses.txt.gz"),
    };

    /// The file by which a folder is known to have the page.
    const MARK: &str = "page/hyperslab.wasm";

    /// Writes the page that shows files without a server into a folder, for any web server. The
    /// folder is created if it does not exist. The page of an earlier call is replaced.
    ///
    /// # Errors
    /// Returns an error if the folder has other files, or if files cannot be written.
    pub fn export_page(folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder.join("page")).and_then(|()| check(folder))?;
        for part in [LICENSES, READER, READER_LICENSES, STYLE, VIEWER, WORKER] {
            std::fs::write(folder.join("page").join(part.name), part.contents()?)?;
        }
        std::fs::write(folder.join("index.html"), START.contents()?)
    }

    /// Returns an error if a folder has files of others, such as another start page.
    fn check(folder: &Path) -> io::Result<()> {
        let is_ours = folder.join(MARK).is_file();
        let is_free = !folder.join("index.html").exists() && folder.join("page").read_dir()?.next().is_none();
        if is_ours || is_free {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "the folder has other files"))
    }
}

#[cfg(feature = "export")]
pub use export::export_page;
