//! A source of entries from compressed rows and columns (CSR, CSC) and blocks of compressed rows (BSR).

use anyhow::{Context as _, Result, bail};

use super::batch::{BATCH, Batch, Order, Source};
use super::columns::{Column, Indices, check_counts};
use super::element::Element;

/// The number of pointers that are read at once.
const POINTERS: u64 = 1 << 16;

/// The largest number of values in a block.
const LARGEST_BLOCK: u64 = 1 << 24;

/// The kind of compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Rows,
    Columns,
    /// Rows of blocks of this many rows and columns.
    Blocks(u64, u64),
}

/// A compressed matrix. The pointers are the first positions of each row (or column) in `indices` and `data`.
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
    left: u64,
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
                let block = height.checked_mul(width).filter(|block| (1..=LARGEST_BLOCK).contains(block));
                let block = block.with_context(|| format!("blocks of {height} x {width} values"))?;
                if !rows.is_multiple_of(height) || !columns.is_multiple_of(width) {
                    bail!("a matrix of {rows} x {columns} in blocks of {height} x {width}");
                }
                (rows.checked_div(height).unwrap_or(0), columns.checked_div(width).unwrap_or(0), block)
            }
        };
        if pointers.len() != count.saturating_add(1) {
            let wanted = count.saturating_add(1);
            bail!(
                "`indptr` has {} elements, where a matrix of {rows} x {columns} needs {wanted}",
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
            left: 0,
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

    /// Finds the rows of the next entries, at most `most`.
    fn next_rows(&mut self, most: usize) -> Result<()> {
        self.rows.clear();
        let entries = self.indices.len();
        while self.rows.len() < most {
            if self.left == 0 {
                let Some((row, count)) = self.pointers.next(entries)? else { break };
                (self.row, self.left) = (row, count);
                continue;
            }
            let room = most.saturating_sub(self.rows.len());
            let taken = usize::try_from(self.left).map_or(room, |left| left.min(room));
            self.rows.extend(std::iter::repeat_n(self.row, taken));
            self.left = self.left.saturating_sub(taken as u64);
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
        let block = usize::try_from(height.saturating_mul(width))?;
        self.next_rows(BATCH.checked_div(block).unwrap_or(1).max(1))?;
        let count = self.rows.len();
        self.columns.clear();
        self.indices.next(count, self.bound, &mut self.columns)?;
        self.data.next(count.saturating_mul(block), &mut self.values).context("`data`")?;
        let places = self.rows.iter().copied().zip(self.columns.iter().copied());
        match self.compression {
            Compression::Rows => batch.coordinates.extend(places.flat_map(|(row, column)| [row, column])),
            Compression::Columns => batch.coordinates.extend(places.flat_map(|(column, row)| [row, column])),
            Compression::Blocks(..) => {
                for (row, column) in places {
                    // No overflow: the shape bounds the rows and columns of blocks.
                    let (top, left) = (row.saturating_mul(height), column.saturating_mul(width));
                    for row in top..top.saturating_add(height) {
                        let columns = left..left.saturating_add(width);
                        batch.coordinates.extend(columns.flat_map(|column| [row, column]));
                    }
                }
            }
        }
        std::mem::swap(&mut batch.values, &mut self.values);
        Ok(!batch.is_empty())
    }
}

/// A reader of the pointers.
struct Pointers {
    column: Indices,
    block: Vec<u64>,
    at: usize,
    /// The number of pointers that were read from the column.
    read: u64,
    /// The last pointer that was returned, and the number of those before it.
    last: Option<(u64, u64)>,
}

impl Pointers {
    /// Returns the next row and the number of its entries.
    fn next(&mut self, entries: u64) -> Result<Option<(u64, u64)>> {
        loop {
            let Some(pointer) = self.pointer(entries)? else { return Ok(None) };
            match self.last {
                None if pointer == 0 => self.last = Some((0, 0)),
                None => bail!("`indptr` begins with {pointer}, not with 0"),
                Some((last, row)) => {
                    let Some(count) = pointer.checked_sub(last) else {
                        bail!("`indptr[{}]` is {pointer}, less than {last} before it", row.saturating_add(1));
                    };
                    self.last = Some((pointer, row.saturating_add(1)));
                    return Ok(Some((row, count)));
                }
            }
        }
    }

    fn pointer(&mut self, entries: u64) -> Result<Option<u64>> {
        if self.at >= self.block.len() {
            let count = self.column.len().saturating_sub(self.read).min(POINTERS);
            self.block.clear();
            self.column.next(usize::try_from(count)?, entries.saturating_add(1), &mut self.block)?;
            self.read = self.read.saturating_add(count);
            self.at = 0;
        }
        let pointer = self.block.get(self.at).copied();
        self.at = self.at.saturating_add(1);
        Ok(pointer)
    }
}
