//! A source of matrix entries from compressed rows and columns (CSR, CSC) and blocks of compressed
//! rows (BSR).

use anyhow::{Context as _, Result, bail};
use hyperslab_exact::{product, sum, to_u64, to_usize};

use super::batch::{BATCH_ENTRIES, Batch, Order, Source};
use super::columns::{Column, Indices, check_counts};
use super::element::Element;

/// The number of row or column pointers of a compressed matrix that the program reads at once.
const POINTERS_PER_READ: u64 = 1 << 16;

/// The largest number of values in one block of a block matrix.
const MAX_BLOCK_VALUES: u64 = 1 << 24;

/// The direction in which a sparse matrix is compressed: by rows or by columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Rows,
    Columns,
    /// Rows of blocks of this many rows and columns.
    Blocks(u64, u64),
}

/// A source of the entries of a compressed matrix. For each row or column, a pointer states the
/// index of its first entry in the arrays `indices` and `data`.
pub(crate) struct Compressed {
    shape: [u64; 2],
    element: Element,
    compression: Compression,
    pointers: Pointers,
    indices: Indices,
    data: Box<dyn Column>,
    /// The bound of the indices: the number of columns, rows, or columns of blocks.
    bound: u64,
    /// The current row, and the number of its entries that are left.
    row: u64,
    remaining: u64,
    rows: Vec<u64>,
    columns: Vec<u64>,
    values: Vec<u8>,
}

impl Compressed {
    pub(crate) fn new(
        shape: [u64; 2],
        element: Element,
        compression: Compression,
        (pointers, indices, data): (Indices, Indices, Box<dyn Column>),
    ) -> Result<Self> {
        let [rows, columns] = shape;
        let (count, bound, block) = match compression {
            Compression::Rows => (rows, columns, 1),
            Compression::Columns => (columns, rows, 1),
            Compression::Blocks(height, width) => {
                let block = height.checked_mul(width).filter(|block| (1..=MAX_BLOCK_VALUES).contains(block));
                let block = block
                    .with_context(|| format!("blocks of {height} x {width} values are not supported"))?;
                if !rows.is_multiple_of(height) || !columns.is_multiple_of(width) {
                    bail!(
                        "a matrix of {rows} x {columns} cannot be divided into blocks of {height} x {width}"
                    );
                }
                // The sizes of a block are not 0, because their product is at least 1.
                (rows / height, columns / width, block)
            }
        };
        let expected = sum("number of pointers", [count, 1])?;
        if pointers.len() != expected {
            bail!(
                "the array `indptr` has {} elements, but a matrix of {rows} x {columns} requires {expected}",
                pointers.len()
            );
        }
        check_counts(&indices, data.len(), block)?;
        let pointers = Pointers { column: pointers, block: Vec::new(), at: 0, read: 0, last: None };
        Ok(Self {
            shape,
            element,
            compression,
            pointers,
            indices,
            data,
            bound,
            row: 0,
            remaining: 0,
            rows: Vec::new(),
            columns: Vec::new(),
            values: Vec::new(),
        })
    }

    fn block(&self) -> (u64, u64) {
        match self.compression {
            Compression::Rows | Compression::Columns => (1, 1),
            Compression::Blocks(height, width) => (height, width),
        }
    }

    /// Finds the row of each of the next entries of the compressed matrix, for at most `maximum`
    /// entries. For a matrix of compressed columns, finds the columns.
    fn next_rows(&mut self, maximum: usize) -> Result<()> {
        self.rows.clear();
        let entries = self.indices.len();
        while self.rows.len() < maximum {
            if self.remaining == 0 {
                let Some((row, count)) = self.pointers.next(entries)? else { break };
                (self.row, self.remaining) = (row, count);
                continue;
            }
            // The loop condition bounds the length.
            let free = to_u64(maximum - self.rows.len());
            let taken = self.remaining.min(free);
            self.rows.extend(std::iter::repeat_n(self.row, to_usize(taken)?));
            self.remaining -= taken;
        }
        Ok(())
    }
}

impl Source for Compressed {
    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn element(&self) -> Element {
        self.element
    }

    fn count(&self) -> Option<u64> {
        Some(self.data.len())
    }

    fn order(&self) -> Order {
        match self.compression {
            Compression::Rows => Order::Bands(1),
            Compression::Columns => Order::Any,
            Compression::Blocks(height, _) => Order::Bands(height),
        }
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.clear();
        let (height, width) = self.block();
        let block = to_usize(product("size of a block", [height, width])?)?;
        // `new` has checked that a block is not empty.
        self.next_rows((BATCH_ENTRIES / block.max(1)).max(1))?;
        let count = self.rows.len();
        self.columns.clear();
        self.indices.next(count, self.bound, &mut self.columns)?;
        let values = count.checked_mul(block).context("a batch of matrix entries does not fit in memory")?;
        self.data.next(values, &mut self.values).context("`data`")?;
        let positions = self.rows.iter().copied().zip(self.columns.iter().copied());
        match self.compression {
            Compression::Rows => batch.coordinates.extend(positions.flat_map(|(row, column)| [row, column])),
            Compression::Columns => {
                batch.coordinates.extend(positions.flat_map(|(column, row)| [row, column]));
            }
            Compression::Blocks(..) => {
                for (row, column) in positions {
                    // No overflow: the shape bounds the rows and columns of blocks.
                    let (top, remaining) = (row * height, column * width);
                    for row in top..top + height {
                        let columns = remaining..remaining + width;
                        batch.coordinates.extend(columns.flat_map(|column| [row, column]));
                    }
                }
            }
        }
        std::mem::swap(&mut batch.values, &mut self.values);
        Ok(!batch.is_empty())
    }
}

/// A reader of the row or column pointers of a compressed matrix.
struct Pointers {
    column: Indices,
    block: Vec<u64>,
    at: usize,
    /// The number of pointers that were read from the column.
    read: u64,
    /// The last returned pointer, and the number of pointers before it.
    last: Option<(u64, u64)>,
}

impl Pointers {
    /// Reads the pointer of the next matrix row. Returns the row and the number of its entries.
    fn next(&mut self, entries: u64) -> Result<Option<(u64, u64)>> {
        loop {
            let Some(pointer) = self.pointer(entries)? else { return Ok(None) };
            match self.last {
                None if pointer == 0 => self.last = Some((0, 0)),
                None => bail!("the array `indptr` begins with {pointer}, but must begin with 0"),
                Some((last, row)) => {
                    let Some(count) = pointer.checked_sub(last) else {
                        bail!("`indptr[{}]` is {pointer}, less than {last} before it", row + 1);
                    };
                    self.last = Some((pointer, row + 1));
                    return Ok(Some((row, count)));
                }
            }
        }
    }

    fn pointer(&mut self, entries: u64) -> Result<Option<u64>> {
        if self.at >= self.block.len() {
            let remaining = self
                .column
                .len()
                .checked_sub(self.read)
                .context("more row pointers were read than the matrix has")?;
            let count = remaining.min(POINTERS_PER_READ);
            self.block.clear();
            let bound = sum("number of entries", [entries, 1])?;
            self.column.next(to_usize(count)?, bound, &mut self.block)?;
            self.read += count;
            self.at = 0;
        }
        let pointer = self.block.get(self.at).copied();
        self.at += 1;
        Ok(pointer)
    }
}
