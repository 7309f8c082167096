//! References as JSON, in kerchunk's form version 1.

use std::fmt::Display;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyperslab::vfd::DriverError;
use hyperslab::{Error, Group, Result};

use crate::json::Quoted;
use crate::{Array, Content, Json, ReferenceOptions, Report, Visitor};

/// The text before bytes in base 64.
const BASE64: &str = "base64:";

/// Writes the references of a group.
pub(crate) fn write(options: ReferenceOptions<'_>, group: &Group, output: &mut dyn Write) -> Result<Report> {
    let mut writer = Writer { output, is_first: true };
    writer.put(format_args!("{{\"version\":1,\"refs\":{{"))?;
    let report = options.visit(group, &mut writer)?;
    writer.put(format_args!("}}}}\n"))?;
    Ok(report)
}

struct Writer<'a> {
    output: &'a mut dyn Write,
    is_first: bool,
}

impl Writer<'_> {
    fn put(&mut self, text: impl Display) -> Result<()> {
        write!(self.output, "{text}").map_err(write_error)
    }

    fn entry(&mut self, key: &str, value: impl Display) -> Result<()> {
        let comma = if std::mem::take(&mut self.is_first) { "" } else { "," };
        self.put(format_args!("{comma}\n{}:{value}", Quoted(key)))
    }
}

/// Returns the error of an output.
pub(crate) fn write_error(source: io::Error) -> Error {
    let name = "references".to_owned();
    Error::Io {
        action: "cannot write references".into(),
        source: DriverError::Io { name, operation: "write", source },
    }
}

impl Visitor for Writer<'_> {
    fn group(&mut self, path: &str, attributes: &Json) -> Result<()> {
        let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
        let group = Json::object([("zarr_format", Json::Integer(2))]).to_string();
        self.entry(&format!("{folder}.zgroup"), Quoted(&group))?;
        self.entry(&format!("{folder}.zattrs"), Quoted(&attributes.to_string()))
    }

    fn array(&mut self, array: Array) -> Result<()> {
        let path = &array.path;
        self.entry(&format!("{path}/.zarray"), Quoted(&array.metadata().to_string()))?;
        let attributes = array.attributes_with_dimensions().to_string();
        self.entry(&format!("{path}/.zattrs"), Quoted(&attributes))?;
        let grid = array.grid();
        for chunk in &array.chunks {
            let key = format!("{path}/{}", grid.key(chunk.position));
            match &chunk.content {
                Content::Range { url, offset, length } => {
                    self.entry(&key, format_args!("[{},{offset},{length}]", Quoted(url)))?;
                }
                Content::Inline(bytes) => {
                    self.entry(&key, format_args!("\"{BASE64}{}\"", STANDARD.encode(bytes)))?;
                }
            }
        }
        Ok(())
    }
}
