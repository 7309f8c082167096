//! `/data`: the elements of a dataset in several formats.

mod binary;
mod csv;
mod listed;
mod npy;
mod stream;
mod tiff;

use hyperslab::{Dataspace, Datatype};
use hyperslab_exact::to_u64;

use super::numpy::{Dtype, Form};
use super::selection::Slab;
use super::{Answer, Asked, Failure};
pub(super) use stream::Source;

/// The requested form of the elements.
struct Wanted<'a> {
    format: &'a str,
    /// If true, the result has one dimension.
    flatten: bool,
    /// If true, numbers are converted for typed arrays of JavaScript.
    safe: bool,
}

pub(super) fn answer(asked: &Asked<'_>) -> Result<Answer, Failure> {
    let dataset = asked.dataset()?;
    let query = asked.query;
    let safe = match query.get("dtype") {
        None | Some("origin") => false,
        Some("safe") => true,
        Some(other) => return Err(Failure::refused(format!("Unsupported dtype {other}"))),
    };
    let wanted =
        Wanted { format: query.get("format").unwrap_or("json"), flatten: query.switch("flatten")?, safe };
    if !["json", "bin", "npy", "csv", "tiff"].contains(&wanted.format) {
        return Err(Failure::refused(format!("Unsupported encoding {}", wanted.format)));
    }
    let dtype = Dtype::of(dataset.datatype());
    if safe && !dtype.as_ref().is_some_and(|dtype| dtype.item().is_number()) {
        return Err(Failure::refused("Unsupported dtype safe for non-numeric data"));
    }
    let space = dataset.dataspace();
    if space == Dataspace::Null {
        return match wanted.format {
            "json" => Ok(Answer::bytes("application/json", b"null".to_vec())),
            format => {
                Err(Failure::refused(format!("Unsupported encoding {format} for empty and scalar datasets")))
            }
        };
    }
    let slab = Slab::parse(query.get("selection"), space.dims())?;
    let source = Source { dataset, slab, dtype };
    source.check_size(asked.limits)?;
    encode(source, &wanted, asked.limits)
}

fn encode(source: Source, wanted: &Wanted<'_>, limits: &super::AnswerLimits) -> Result<Answer, Failure> {
    let shape = source.slab.shape();
    if wanted.format == "json" {
        let encoder = listed::Listed::new(source.dataset.datatype(), &shape, wanted.flatten);
        return stream::answer(source, encoder, limits, "application/json", None);
    }
    if wanted.format == "bin" && source.dataset.datatype().is_string() && shape.is_empty() {
        return binary::single_text(&source);
    }
    let Some(dtype) = source.dtype.clone() else {
        return Err(Failure::refused("NumPy has no dtype for the elements"));
    };
    let form = form(source.dataset.datatype(), dtype, wanted.safe);
    if wanted.format == "bin" {
        return binary::answer(source, form?, limits);
    }
    let format = wanted.format;
    let non_numeric = || Failure::refused(format!("Unsupported encoding {format} for non-numeric content"));
    let form = form.map_err(|_| non_numeric())?;
    if !form.dtype.item().is_number() {
        return Err(non_numeric());
    }
    let shape = with_array(shape, &form.dtype);
    if format == "npy" {
        return npy::answer(source, form, &flat(shape, wanted.flatten)?, limits);
    }
    if shape.is_empty() {
        return Err(Failure::refused(format!("Unsupported encoding {format} for empty and scalar datasets")));
    }
    let shape = flat(shape, wanted.flatten)?;
    match format {
        "csv" => csv::answer(source, &form.dtype, &shape, limits),
        _ => tiff::answer(source, form, &shape, limits),
    }
}

/// Returns the shape with the dimensions of array elements.
fn with_array(mut shape: Vec<u64>, dtype: &Dtype) -> Vec<u64> {
    let mut dtype = dtype;
    while let Dtype::Array { dims, base } = dtype {
        shape.extend(dims.iter().map(|size| u64::from(*size)));
        dtype = base;
    }
    shape
}

fn flat(shape: Vec<u64>, flatten: bool) -> Result<Vec<u64>, Failure> {
    if !flatten || shape.is_empty() {
        return Ok(shape);
    }
    let count = shape.iter().try_fold(1_u64, |count, size| count.checked_mul(*size));
    Ok(vec![count.ok_or_else(|| Failure::refused("the selection has too many elements"))?])
}

fn form(stored: &Datatype, dtype: Dtype, safe: bool) -> Result<Form, Failure> {
    let dtype = if safe { safe_of(&dtype) } else { dtype };
    Form::new(stored, dtype)
}

fn safe_of(dtype: &Dtype) -> Dtype {
    match dtype {
        Dtype::Array { dims, base } => Dtype::Array { dims: dims.clone(), base: Box::new(safe_of(base)) },
        _ => dtype.safe(),
    }
}

/// Returns the number of bytes of the elements in an answer.
fn total_bytes(source: &Source, form: &Form) -> Result<u64, Failure> {
    let total = source.slab.count()?.checked_mul(to_u64(form.bytes));
    total.ok_or_else(|| Failure::refused("the selection has too many elements"))
}
