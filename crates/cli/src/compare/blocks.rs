//! All elements of two datasets, block by block.

use anyhow::{Context as _, Result};
use hyperslab::{Dataset, Dataspace, FillStatus, Region, Selection, Stored};

use super::elements::{Elements, Leaf, Listener};
use super::places::Grid;

/// Bytes of a block, of both datasets each, unless one chunk has more.
const BYTES: u64 = 8 << 20;

/// Bytes of variable length are not counted in a block: so many elements at most.
const ELEMENTS: u64 = 1 << 20;

/// In which order elements are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// In C order, though chunks may be read more than once for it.
    Elements,
    /// As it is best to read them.
    Chunks,
}

/// Hears what differs, where in the dataset.
pub(crate) trait PlacedListener {
    /// Two values of an element, or of a part of it; see [`Listener::found`].
    fn found(&mut self, coordinates: &[u64], part: &[u8], leaf: Leaf<'_>) -> Result<()>;

    /// Returns whether nothing more of further elements is to be heard. Some may be told nevertheless.
    fn is_enough(&self) -> bool {
        false
    }

    /// So many elements are through, of so many in all.
    fn progress(&mut self, _elements: u64, _of: u64) {}
}

/// Compares the elements of two datasets that lie within a shape, which both have in all dimensions.
pub(crate) fn compare(
    datasets: [&Dataset; 2],
    dims: &[u64],
    elements: &Elements,
    order: Order,
    listener: &mut dyn PlacedListener,
) -> Result<()> {
    let [one, other] = datasets;
    let is_null = datasets.iter().any(|dataset| dataset.dataspace() == Dataspace::Null);
    if is_null || dims.contains(&0) {
        return Ok(());
    }
    let all = dims.iter().fold(1, |product: u64, size| product.saturating_mul(*size));
    let size = u64::from(one.datatype().size.max(other.datatype().size)).max(1);
    let most = (BYTES / size).clamp(1, ELEMENTS);
    let grid = match order {
        Order::Elements => Grid::in_order(dims, most),
        Order::Chunks => Grid::new(dims, one.blocks(most.saturating_mul(one.datatype().size.into())).shape()),
    };
    let stored = if has_same_fill(datasets, elements)? { grid.stored(datasets)? } else { None };
    let mut through = 0_u64;
    let mut one_box = |number: u64| {
        let region = grid.region(number)?;
        let selection = if dims.is_empty() { Selection::All } else { Selection::region(&region) };
        let values = one.read_stored(&selection)?;
        let other_values = other.read_stored(&selection)?;
        elements.compare(
            &values,
            &other_values,
            0,
            &mut Within { region: &region, listener: &mut *listener },
        )?;
        through = through.saturating_add(region.element_count()?);
        listener.progress(through, all);
        Ok::<bool, anyhow::Error>(listener.is_enough())
    };
    match stored {
        Some(boxes) => {
            for number in boxes {
                if one_box(number)? {
                    break;
                }
            }
        }
        None => {
            for number in 0..grid.len() {
                if one_box(number)? {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Compares parts of two datasets that have one shape, piece by piece in C order. Dimensions are cut anywhere, or only
/// between single coordinates. `read` is given boxes of that shape.
pub(crate) fn compare_parts(
    dims: &[u64],
    cut_anywhere: &[bool],
    elements: &Elements,
    mut read: impl FnMut(&Region) -> Result<[Stored; 2]>,
    listener: &mut dyn PlacedListener,
) -> Result<()> {
    if dims.contains(&0) {
        return Ok(());
    }
    let (size, other_size) = elements.sizes();
    let size = u64::try_from(size.max(other_size))?.max(1);
    let grid = Grid::in_order(dims, (BYTES / size).clamp(1, ELEMENTS)).cut(cut_anywhere);
    for number in 0..grid.len() {
        let region = grid.region(number)?;
        let [one, other] = read(&region)?;
        elements.compare(&one, &other, 0, &mut Within { region: &region, listener: &mut *listener })?;
        if listener.is_enough() {
            break;
        }
    }
    Ok(())
}

/// Compares elements that are all in memory, of that shape.
pub(crate) fn compare_values(
    values: [&Stored; 2],
    dims: &[u64],
    elements: &Elements,
    listener: &mut dyn PlacedListener,
) -> Result<()> {
    let [one, other] = values;
    elements.compare(one, other, 0, &mut Within { region: &Region::whole(dims), listener })
}

/// Tells where elements of a box are in the dataset.
struct Within<'a> {
    region: &'a Region,
    listener: &'a mut dyn PlacedListener,
}

impl Listener for Within<'_> {
    fn found(&mut self, element: u64, part: &[u8], leaf: Leaf<'_>) -> Result<()> {
        let mut rest = element;
        let mut coordinates = self.region.start.to_vec();
        for (at, count) in coordinates.iter_mut().zip(&self.region.count).rev() {
            *at = at.saturating_add(rest.checked_rem(*count).unwrap_or(0));
            rest = rest.checked_div(*count).unwrap_or(0);
        }
        self.listener.found(&coordinates, part, leaf)
    }

    fn is_enough(&self) -> bool {
        self.listener.is_enough()
    }
}

/// Returns whether elements that were never written are the same in both.
fn has_same_fill([one, other]: [&Dataset; 2], elements: &Elements) -> Result<bool> {
    let value = |dataset: &Dataset| match dataset.fill_value().status {
        FillStatus::User(_) => dataset.stored_fill_value().map(Some),
        FillStatus::Undefined | FillStatus::Default => Ok(None),
    };
    match (value(one)?, value(other)?) {
        (None, None) => Ok(elements.zeros_agree()),
        (Some(fill), Some(other_fill)) => {
            let mut any = Any(false);
            elements.compare(&fill, &other_fill, 0, &mut any).context("fill values")?;
            Ok(!any.0)
        }
        // One has zeros: it is simpler to look at the elements than to make one.
        _ => Ok(false),
    }
}

/// Hears whether there is anything.
struct Any(bool);

impl Listener for Any {
    fn found(&mut self, _: u64, _: &[u8], leaf: Leaf<'_>) -> Result<()> {
        self.0 |= !matches!(leaf, Leaf::References(one, other) if one.target() == other.target());
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.0
    }
}
