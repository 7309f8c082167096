//! The conditions of the command `find`, which an object must meet to be printed.

use anyhow::Result;
use hyperslab::{Dataspace, Datatype, DatatypeClass, Layout, PathPattern};

use crate::ls::dataset::DatasetFacts;
use crate::ls::describe::{Detail, ObjectFacts};
use crate::ls::describer::{AttributeFacts, Describer};
use crate::ls::walk::Content;
use crate::sections::filter_name;
use crate::values::Value;

/// The conditions of `find`. The command prints an object if the object meets all conditions.
#[derive(Debug, clap::Args)]
pub(super) struct Criteria {
    /// Paths that match this pattern: `*` and `?` match characters within a name, `**` matches any
    /// characters of a path. A pattern without a slash is compared with the last name
    #[arg(short, long, value_name = "PATTERN", value_parser = pattern)]
    name: Option<PathPattern>,
    /// Objects with this attribute, and this value if it is given
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    attr: Vec<String>,
    /// Objects of this kind. `link` means soft, external and user-defined links
    #[arg(short, long, value_enum)]
    kind: Option<Kind>,
    /// Datasets and committed datatypes of this type: a type as `ls` prints it (u16, f32, …), or a
    /// class: integer, unsigned, signed, float, string, bool, enum, compound, complex, array,
    /// sequence, reference, opaque, bitfield, time
    #[arg(short, long, value_name = "TYPE")]
    r#type: Option<String>,
    /// Datasets whose decoded elements take at least SIZE bytes: 500, 10K, 1.5M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    min_size: Option<u64>,
    /// Datasets whose decoded elements take at most SIZE bytes
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
    /// Datasets of this shape, such as 100x200; `*` matches any size
    #[arg(long, value_name = "SHAPE", value_parser = shape)]
    shape: Option<Shape>,
    /// Datasets of N dimensions
    #[arg(long, value_name = "N")]
    rank: Option<usize>,
    /// Datasets with this filter (gzip, shuffle, zstd, … or its number), or `none` for datasets
    /// without filters
    #[arg(long, value_name = "FILTER")]
    filter: Option<String>,
    /// Datasets of this layout
    #[arg(long, value_enum)]
    layout: Option<LayoutKind>,
    /// Sparse datasets
    #[arg(long)]
    sparse: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Group,
    Dataset,
    Datatype,
    Link,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LayoutKind {
    Compact,
    Contiguous,
    Chunked,
    Virtual,
    /// Structured chunks: sparse datasets, and variable-length data in chunks
    Structured,
    /// Elements in external files
    External,
}

/// A pattern of dataset shapes in a search: the required size of each dimension. `None` matches any
/// size.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape(Vec<Option<u64>>);

fn pattern(text: &str) -> Result<PathPattern, String> {
    PathPattern::new(text).map_err(|error| error.to_string())
}

/// Parses a size on the command line, such as `10M`, into bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size such as 500, 10K, 1.5M or 2G");
    let upper = text.trim().to_ascii_uppercase();
    let bare = upper.strip_suffix("IB").or_else(|| upper.strip_suffix('B')).unwrap_or(&upper);
    let units = [('K', 1_u64 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1 << 40)];
    let unit = units.iter().find_map(|(unit, bytes)| Some((bare.strip_suffix(*unit)?, *bytes)));
    let (number, unit) = unit.unwrap_or((bare, 1));
    if let Ok(whole) = number.trim().parse::<u64>() {
        return whole.checked_mul(unit).ok_or_else(wrong);
    }
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    #[expect(clippy::cast_precision_loss, reason = "powers of two are exact")]
    let bytes = number * unit as f64;
    if !(0.0..9e18).contains(&bytes) {
        return Err(wrong());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked above")]
    Ok(bytes as u64)
}

fn shape(text: &str) -> Result<Shape, String> {
    let sizes: Result<Vec<Option<u64>>, _> = text
        .split(['x', ',', '×'])
        .map(str::trim)
        .map(|size| if size == "*" { Ok(None) } else { size.parse().map(Some) })
        .collect();
    sizes.map(Shape).map_err(|_| format!("`{text}` is not a shape such as 100x200 or *x3"))
}

impl Criteria {
    /// Returns true if an object or link meets all conditions of `find`.
    ///
    /// # Errors
    /// Returns the error of reading an attribute that a condition names.
    pub(super) fn accept(
        &self,
        describer: &Describer,
        path: &dyn Fn() -> Vec<u8>,
        content: &Content,
    ) -> Result<bool> {
        if let Some(pattern) = &self.name
            && !pattern.matches(&String::from_utf8_lossy(&path()))
        {
            return Ok(false);
        }
        let facts = match content {
            Content::Object(facts) => facts,
            _ => return Ok(self.kind.is_none_or(|kind| kind == Kind::Link) && !self.of_objects()),
        };
        if !self.accepts_kind(facts) {
            return Ok(false);
        }
        for wanted in &self.attr {
            if !has_attribute(describer, facts, wanted)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if at least one condition of the search is a condition of objects, which a link
    /// alone cannot meet.
    fn of_objects(&self) -> bool {
        !self.attr.is_empty() || self.r#type.is_some() || self.of_datasets()
    }

    /// Returns true if at least one condition of the search is a condition of datasets, which other
    /// objects cannot meet.
    fn of_datasets(&self) -> bool {
        let sizes = self.min_size.is_some() || self.max_size.is_some();
        let shapes = self.shape.is_some() || self.rank.is_some();
        sizes || shapes || self.filter.is_some() || self.layout.is_some() || self.sparse
    }

    fn accepts_kind(&self, facts: &ObjectFacts) -> bool {
        let (kind, datatype) = match &facts.detail {
            Detail::Group(_) => (Some(Kind::Group), None),
            Detail::Dataset(dataset) => {
                if !self.accepts_dataset(dataset) {
                    return false;
                }
                (Some(Kind::Dataset), Some(&dataset.datatype))
            }
            Detail::Datatype(datatype) => (Some(Kind::Datatype), Some(datatype)),
            Detail::Unknown => (None, None),
        };
        if self.of_datasets() && kind != Some(Kind::Dataset) {
            return false;
        }
        let of_type = |wanted: &String| datatype.is_some_and(|datatype| is_of_type(datatype, wanted));
        self.kind.is_none_or(|wanted| kind == Some(wanted)) && self.r#type.as_ref().is_none_or(of_type)
    }

    fn accepts_dataset(&self, dataset: &DatasetFacts) -> bool {
        // A size that does not fit in 64 bits is larger than every limit.
        let bytes = dataset.logical.unwrap_or(u64::MAX);
        let dims = dataset.space.dims();
        let null = dataset.space == Dataspace::Null;
        let shaped = |Shape(wanted): &Shape| {
            !null
                && wanted.len() == dims.len()
                && wanted.iter().zip(dims).all(|(wanted, size)| wanted.is_none_or(|wanted| wanted == *size))
        };
        self.min_size.is_none_or(|least| bytes >= least)
            && self.max_size.is_none_or(|maximum| bytes <= maximum)
            && self.shape.as_ref().is_none_or(shaped)
            && self.rank.is_none_or(|rank| !null && dims.len() == rank)
            && self.layout.is_none_or(|wanted| has_layout(dataset, wanted))
            && self.filter.as_ref().is_none_or(|wanted| has_filter(dataset, wanted))
            && (!self.sparse || dataset.chunking.as_ref().is_some_and(|chunking| chunking.sparse))
    }
}

fn has_layout(dataset: &DatasetFacts, wanted: LayoutKind) -> bool {
    let external = !dataset.external.is_empty();
    match wanted {
        LayoutKind::Compact => dataset.layout == Layout::Compact,
        LayoutKind::Contiguous => matches!(dataset.layout, Layout::Contiguous { .. }) && !external,
        LayoutKind::Chunked => matches!(dataset.layout, Layout::Chunked(_)),
        LayoutKind::Virtual => dataset.layout == Layout::Virtual,
        LayoutKind::Structured => dataset.layout == Layout::Structured,
        LayoutKind::External => external,
    }
}

fn has_filter(dataset: &DatasetFacts, wanted: &str) -> bool {
    let sections = dataset.chunking.iter().flat_map(|chunking| &chunking.sections);
    let mut filters = dataset.filters.iter().chain(sections.flat_map(|(_, filters)| filters)).peekable();
    let wanted = wanted.to_lowercase();
    match wanted.as_str() {
        "none" => filters.peek().is_none(),
        "gzip" | "zlib" => filters.any(|filter| filter.id == hyperslab::filter::FilterId::DEFLATE.0),
        _ => filters
            .any(|filter| filter_name(filter).to_lowercase() == wanted || filter.id.to_string() == wanted),
    }
}

/// Returns true if a datatype has the name or class that a search condition states.
fn is_of_type(datatype: &Datatype, wanted: &str) -> bool {
    let wanted = wanted.to_lowercase();
    let signed = match &datatype.class {
        DatatypeClass::FixedPoint(fixed) => Some(fixed.signed),
        _ => None,
    };
    let class = &datatype.class;
    match wanted.as_str() {
        "integer" | "int" => signed.is_some(),
        "unsigned" | "uint" => signed == Some(false),
        "signed" => signed == Some(true),
        "float" => matches!(class, DatatypeClass::FloatingPoint(_)),
        "string" => datatype.is_string(),
        "bool" => datatype.is_bool(),
        "enum" => matches!(class, DatatypeClass::Enumeration(_)),
        "compound" => matches!(class, DatatypeClass::Compound(_)),
        "complex" => datatype.complex_part().is_some(),
        "array" => matches!(class, DatatypeClass::Array(_)),
        "sequence" | "vlen" => {
            matches!(class, DatatypeClass::VariableLength(_)) && !datatype.is_variable_string()
        }
        "reference" => matches!(class, DatatypeClass::Reference(_)),
        "opaque" => matches!(class, DatatypeClass::Opaque(_)),
        "bitfield" => matches!(class, DatatypeClass::Bitfield(_)),
        "time" => matches!(class, DatatypeClass::Time(_)),
        name => {
            let shown = datatype.to_string();
            // The name of a number type stands for both byte orders.
            shown == name || (datatype.is_number() && shown.strip_suffix("be") == Some(name))
        }
    }
}

/// Returns true if the object has the attribute of a search condition, with the requested value if
/// the condition states one. An attribute's name may contain equals signs.
fn has_attribute(describer: &Describer, facts: &ObjectFacts, wanted: &str) -> Result<bool> {
    if describer.attribute_named(&facts.object, wanted)?.is_some() {
        return Ok(true);
    }
    for (at, _) in wanted.match_indices('=') {
        let Some((name, rest)) = wanted.split_at_checked(at) else { continue };
        let Some(value) = rest.strip_prefix('=') else { continue };
        if let Some(attribute) = describer.attribute_named(&facts.object, name)?
            && has_value(attribute, value)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if an attribute, or one of its elements, has the requested value: equal text, or an
/// equal number.
fn has_value(attribute: AttributeFacts, wanted: &str) -> Result<bool> {
    let value = attribute.value.map_err(anyhow::Error::msg)?;
    Ok(is_value(&value, wanted))
}

fn is_value(value: &Value, wanted: &str) -> bool {
    match value {
        Value::List { items, .. } => items.iter().any(|item| is_value(item, wanted)),
        Value::Text(text) | Value::Name(text) => text == wanted.as_bytes(),
        Value::Float(text) => match (text.parse::<f64>(), wanted.parse::<f64>()) {
            (Ok(number), Ok(wanted)) => number == wanted || (number.is_nan() && wanted.is_nan()),
            _ => false,
        },
        other => other.text(usize::MAX) == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_shapes() {
        let read = ["500", "10K", "1.5M", "2 GiB", "0", "1kb"].map(|text| size(text).unwrap());
        assert_eq!(read, [500, 10 << 10, 3 << 19, 2 << 30, 0, 1 << 10]);
        for wrong in ["", "M", "-1", "1e30", "20000000T", "nan", "x"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(shape("100x*").unwrap(), Shape(vec![Some(100), None]));
        assert!(shape("axb").is_err() && shape("").is_err());
    }
}
