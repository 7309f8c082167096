//! Sparse matrices in hyperslab, compared with other storage formats.

mod backend;
mod matrix;
mod npy;
mod others;
mod ours;
mod report;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use hyperslab::SelectionEncoding;
use hyperslab::filter::FilterSpec;

use self::backend::{Backend, Operation};
use self::matrix::{Matrix, Met, Pattern, Requests};
use self::others::Others;
use self::ours::{SparseDataset, Storage};
use self::report::Measured;
use crate::libhdf5;

/// The heading of the section in the comparison.
pub(crate) const SECTION: &str = "Sparse matrices";

/// Rows and columns of the matrices.
const SIDE: usize = 20_000;
/// Ratios of the number of values to the number of elements.
const DENSITIES: [f64; 4] = [0.0001, 0.001, 0.01, 0.1];

/// The requested measurements.
#[derive(Debug)]
struct Wanted {
    side: usize,
    densities: Vec<f64>,
    patterns: Vec<Pattern>,
    rounds: Option<usize>,
    /// Names of the columns; empty for all.
    columns: Vec<String>,
    /// The chunk dimensions of hyperslab's column; `None` for hyperslab's own choice.
    chunk: Option<Vec<u64>>,
    /// The encoding of the selections in hyperslab's column.
    encoding: SelectionEncoding,
    codec: Codec,
}

/// The compression of hyperslab's column, and of the columns that can use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codec {
    Gzip,
    Zstd,
}

impl Codec {
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    fn filter(self) -> FilterSpec {
        match self {
            Self::Gzip => FilterSpec::deflate(4),
            Self::Zstd => FilterSpec::zstd(3),
        }
    }
}

impl Wanted {
    fn parse(args: &[String]) -> Result<Self> {
        let mut wanted = Self {
            side: SIDE,
            densities: Vec::new(),
            patterns: Pattern::ALL.to_vec(),
            rounds: None,
            columns: Vec::new(),
            chunk: None,
            encoding: SelectionEncoding::Points,
            codec: Codec::Gzip,
        };
        for arg in args {
            match arg.split_once('=') {
                None => {
                    wanted.densities.push(arg.parse().with_context(|| format!("`{arg}` is not a density"))?);
                }
                Some(("side", side)) => wanted.side = side.parse()?,
                Some(("rounds", rounds)) => wanted.rounds = Some(rounds.parse()?),
                Some(("columns", names)) => wanted.columns = names.split(',').map(str::to_owned).collect(),
                Some(("chunk", sizes)) => {
                    let sizes: Result<Vec<u64>, _> = sizes.split('x').map(str::parse).collect();
                    wanted.chunk = Some(sizes?);
                }
                Some(("encoding", "points")) => wanted.encoding = SelectionEncoding::Points,
                Some(("encoding", "blocks")) => wanted.encoding = SelectionEncoding::Blocks,
                Some(("codec", "gzip")) => wanted.codec = Codec::Gzip,
                Some(("codec", "zstd")) => wanted.codec = Codec::Zstd,
                Some(("pattern", name)) => wanted.patterns.retain(|pattern| pattern.name() == name),
                Some((other, _)) => {
                    bail!(
                        "unknown argument `{other}=`, expected side=, rounds=, columns=, chunk=, pattern=, \
                         encoding=points, encoding=blocks, codec=gzip or codec=zstd"
                    )
                }
            }
        }
        if wanted.densities.is_empty() {
            wanted.densities = DENSITIES.to_vec();
        }
        ensure!(wanted.side >= 2 * matrix::BOX, "the side is too small for the boxes");
        ensure!(
            wanted.densities.iter().all(|density| *density > 0.0 && *density < 0.5),
            "a density must be greater than 0 and less than 0.5"
        );
        Ok(wanted)
    }

    /// Returns the number of rounds, which is smaller for dense matrices because they take long.
    fn rounds(&self, density: f64) -> usize {
        self.rounds.unwrap_or(if density < 0.05 { 5 } else { 3 })
    }
}

/// Returns a section for the comparison, with other formats for CSR arrays and sparse arrays, at
/// one density, with each compression.
pub(crate) fn section() -> Result<String> {
    let mut text = format!(
        "## {SECTION}\n\nMatrices of {SIDE} x {SIDE} f32 values, as structured chunks of hyperslab and in other formats. Times are in \
         milliseconds: median (best) / median of the processor time. The aim is a fraction of the value of CSR arrays with \
         gzip; for zstd, it is the same fraction of the value of CSR arrays with zstd. \
         `cargo run --profile dist -p hyperslab-bench -- sparse` measures all densities and a dense dataset.\n"
    );
    for codec in [Codec::Gzip, Codec::Zstd] {
        let columns = format!("columns=hyperslab,csr,csr_{},tiledb,zarr", codec.name());
        let words = ["0.01", "rounds=3", &columns].map(str::to_owned);
        let wanted = Wanted { codec, ..Wanted::parse(&words)? };
        for pattern in &wanted.patterns {
            for density in &wanted.densities {
                text.push_str(&compare(&wanted, *pattern, *density)?.replace("\n## ", "\n### "));
            }
        }
    }
    text.push('\n');
    Ok(text)
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let wanted = Wanted::parse(args)?;
    println!(
        "{0} x {0} f32; milliseconds: median (best) / median of the processors, ~ if only a part was measured",
        wanted.side
    );
    for density in &wanted.densities {
        for pattern in &wanted.patterns {
            let table = compare(&wanted, *pattern, *density);
            print!("{}", table.with_context(|| format!("{} {density}", pattern.name()))?);
        }
    }
    Ok(())
}

/// Measures all columns for one matrix.
fn compare(wanted: &Wanted, pattern: Pattern, density: f64) -> Result<String> {
    let folder = Folder::new()?;
    let matrix = Matrix::make(wanted.side, pattern, density, 1);
    let requests = matrix.requests(pattern, 7)?;
    matrix.save(&requests, &folder.0)?;
    let alone = !wanted.columns.is_empty() && wanted.columns.iter().all(|name| name == "hyperslab");
    let none = Others { backends: Vec::new(), missing: Vec::new() };
    let Others { backends: others, missing } =
        if alone { none } else { others::start(&folder.0, wanted.codec.name())? };
    let storage = Storage { chunk: wanted.chunk.clone(), encoding: wanted.encoding, codec: wanted.codec };
    let ours = SparseDataset::new(&folder.0, &matrix, &requests, storage)?;
    let mut backends: Vec<Box<dyn Backend + '_>> = vec![Box::new(ours)];
    backends.extend(others.into_iter().map(|other| -> Box<dyn Backend + '_> { other }));
    if !wanted.columns.is_empty() {
        backends.retain(|backend| wanted.columns.iter().any(|name| name == backend.name()));
    }
    let (count, rounds) = (matrix.values.len(), wanted.rounds(density));
    let percent = density * 100.0;
    let (name, codec) = (pattern.name(), wanted.codec.name());
    let mut text = format!("\n## {name} {percent}%, {codec}: {count} values, {rounds} rounds\n\n");
    for backend in &backends {
        let _ = writeln!(text, "- {}: {}", backend.name(), backend.description());
    }
    for why in missing {
        let _ = writeln!(text, "- not measured: {why}");
    }
    let measured = measure(&mut backends, rounds, &expected(&matrix, &requests))?;
    let count = f64::from(u32::try_from(count)?);
    let _ = writeln!(text, "\n{}", report::table(&measured, count, density));
    Ok(text)
}

/// Returns the expected result of each operation.
fn expected(matrix: &Matrix, requests: &Requests) -> Vec<(Operation, Met)> {
    let met = |operation: Operation| match operation {
        Operation::Write | Operation::Read => Met::of(&matrix.values),
        Operation::Boxes => matrix.met_in_boxes(&requests.boxes),
        Operation::Rows => matrix.met_in_rows(&requests.rows),
        Operation::Columns => matrix.met_in_columns(&requests.columns),
        Operation::Append => Met::of(requests.append.iter().map(|(_, value)| value)),
    };
    Operation::ALL.map(|operation| (operation, met(operation))).to_vec()
}

/// Measures the columns in turn, operation by operation.
fn measure(
    backends: &mut [Box<dyn Backend + '_>],
    rounds: usize,
    expected: &[(Operation, Met)],
) -> Result<Vec<Measured>> {
    let named = |name: &str| Measured { name: name.to_owned(), done: Vec::new() };
    let mut measured: Vec<Measured> = backends.iter().map(|backend| named(backend.name())).collect();
    for round in 0..rounds {
        for (operation, met) in expected {
            for (backend, column) in backends.iter_mut().zip(&mut measured) {
                if round >= backend.rounds() {
                    continue;
                }
                let done = backend.run(*operation)?;
                ensure!(
                    done.met.is_none_or(|found| found == *met),
                    "{}: {operation:?} returned {:?}, expected {met:?}",
                    column.name,
                    done.met
                );
                column.done.push((*operation, done));
            }
        }
    }
    Ok(measured)
}

/// The folder of the matrices, which is removed at the end.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let path = libhdf5::folder()?.join(format!("sparse_{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Cost;
    use backend::Done;

    struct Counts(u64);

    impl Backend for Counts {
        fn name(&self) -> &str {
            "counts"
        }

        fn description(&self) -> &str {
            "what it is told"
        }

        fn run(&mut self, _: Operation) -> Result<Done> {
            let met = Some(Met { count: self.0, sum: 1.0 });
            Ok(Done { took: Cost::default(), met, bytes: 0 })
        }
    }

    #[test]
    fn a_column_that_meets_something_else_is_refused() {
        let expected = [(Operation::Write, Met { count: 1, sum: 1.0 })];
        let run = |count| measure(&mut [Box::new(Counts(count)) as Box<dyn Backend>], 2, &expected);
        assert!(run(1).is_ok_and(|columns| columns.iter().all(|column| column.done.len() == 2)));
        assert!(run(2).is_err_and(|error| error.to_string().contains("counts: Write returned")));
    }

    #[test]
    fn words_are_densities_or_settings() -> Result<()> {
        let words =
            ["0.01", "rounds=2", "pattern=banded", "columns=csr,zarr", "codec=zstd"].map(str::to_owned);
        let wanted = Wanted::parse(&words)?;
        assert_eq!((wanted.densities.as_slice(), wanted.rounds(0.1)), ([0.01].as_slice(), 2));
        assert_eq!((wanted.patterns, wanted.columns.len()), (vec![Pattern::Banded], 2));
        assert_eq!(wanted.codec, Codec::Zstd);
        assert_eq!(
            (Wanted::parse(&[])?.densities.as_slice(), Wanted::parse(&[])?.codec),
            (&DENSITIES[..], Codec::Gzip)
        );
        for wrong in ["0.7", "many", "size=3", "side=300"] {
            assert!(Wanted::parse(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
        Ok(())
    }
}
