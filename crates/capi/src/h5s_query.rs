//! Functions that return properties of selections (`H5Sget_select_*`, `H5Sis_regular_hyperslab`,
//! …).

use std::ffi::c_int;

use hyperslab::dataspace::Dims;
use hyperslab::{Hyperslab, RegularHyperslab, Selection};

use crate::ctypes::{counted, herr_t, hid_t, hsize_t, hssize_t, htri_t};
use crate::error::{Failure, Outcome, codes};
use crate::export;
use crate::pointer::Out;
use crate::space::{self, CSpace};

/// Returns the hyperslab selection of a dataspace. Returns an error for other selections.
fn hyperslab(space: &CSpace) -> Outcome<&Hyperslab> {
    match &space.selection {
        Selection::Hyperslab(hyperslab) => Ok(hyperslab),
        _ => Err(Failure::bad_type("not a hyperslab selection")),
    }
}

/// Returns the regular form of a dataspace's hyperslab. Returns `None` for an irregular hyperslab.
fn regular(space: &CSpace) -> Outcome<Option<RegularHyperslab>> {
    Ok(match hyperslab(space)? {
        Hyperslab::Regular(slab) => Some(slab.clone()),
        Hyperslab::Irregular { .. } => match space.selection.clone().simplified()? {
            Selection::Hyperslab(Hyperslab::Regular(slab)) => Some(slab),
            _ => None,
        },
    })
}

/// Returns the number of blocks of a hyperslab selection.
fn block_count(slab: &Hyperslab) -> Outcome<u64> {
    match slab {
        Hyperslab::Regular(slab) if slab.is_unlimited() => {
            let text = "an unlimited hyperslab has no number of blocks";
            Err(Failure::new(codes::DATASPACE, codes::UNSUPPORTED, text))
        }
        Hyperslab::Regular(slab) => {
            let number = slab.count.iter().try_fold(1_u64, |product, count| product.checked_mul(*count));
            let text = "the number of blocks is too large";
            number.ok_or_else(|| Failure::new(codes::DATASPACE, codes::CANTCOUNT, text))
        }
        Hyperslab::Irregular { blocks, .. } => {
            u64::try_from(blocks.len()).map_err(|_| Failure::bad_value("too many blocks"))
        }
    }
}

/// Visits the blocks `first` to `first + number` of a regular hyperslab in C order. Passes the
/// lowest and the highest corner of each block to `store`.
fn list_regular(slab: &RegularHyperslab, first: u64, number: u64, store: &mut dyn FnMut(&[u64], &[u64])) {
    let dimensions: Vec<(&u64, &u64, &u64, &u64)> = slab
        .start
        .iter()
        .zip(&slab.stride)
        .zip(slab.count.iter().zip(&slab.block))
        .map(|((start, stride), (count, block))| (start, stride, count, block))
        .collect();
    for index in first..first.saturating_add(number) {
        let (mut rest, mut low, mut high) = (index, Dims::new(), Dims::new());
        for (start, stride, count, block) in dimensions.iter().rev() {
            let at = rest.checked_rem(**count).unwrap_or(0);
            rest = rest.checked_div(**count).unwrap_or(0);
            // Wraps like the C library, because no extent contains such a hyperslab.
            let corner = start.wrapping_add(at.wrapping_mul(**stride));
            low.push(corner);
            high.push(corner.wrapping_add(**block - 1));
        }
        low.reverse();
        high.reverse();
        store(&low, &high);
    }
}

export! {
    /// Returns the number of selected elements of a dataspace.
    fn H5Sget_select_npoints(space: hid_t) -> hssize_t {
        Ok(space::count(&space::find(space)?.0.read())?.cast_signed())
    }

    /// Returns the type of a dataspace's selection (`H5S_sel_type`).
    fn H5Sget_select_type(space: hid_t) -> c_int {
        Ok(match space::find(space)?.0.read().selection {
            Selection::None => 0,
            Selection::Points(_) => 1,
            Selection::Hyperslab(_) => 2,
            Selection::All => 3,
        })
    }

    /// Stores the lowest and the highest selected coordinates of a dataspace, including the
    /// selection's offset.
    fn H5Sget_select_bounds(space: hid_t, start: Out<hsize_t>, end: Out<hsize_t>) -> herr_t {
        let space = space::find(space)?;
        let (start, end) = (start.require("start")?, end.require("end")?);
        let (low, high) = space::bounds(&space.0.read())?;
        start.fill(&low, low.len())?;
        end.fill(&high, high.len())?;
        Ok(0)
    }

    /// Returns the number of blocks of a dataspace's hyperslab selection.
    fn H5Sget_select_hyper_nblocks(space: hid_t) -> hssize_t {
        let space = space::find(space)?;
        let number = block_count(hyperslab(&space.0.read())?)?;
        Ok(number.cast_signed())
    }

    /// Stores the corner coordinates of `number` blocks of a dataspace's hyperslab selection,
    /// beginning with the block `first`.
    fn H5Sget_select_hyper_blocklist(
        space: hid_t,
        first: hsize_t,
        number: hsize_t,
        buffer: Out<hsize_t>,
    ) -> herr_t {
        let space = space::find(space)?;
        let buffer = buffer.require("buffer")?;
        let space = space.0.read();
        let slab = hyperslab(&space)?;
        let number = number.min(block_count(slab)?.saturating_sub(first));
        let mut corners = Vec::new();
        let mut store = |low: &[u64], high: &[u64]| {
            corners.extend_from_slice(low);
            corners.extend_from_slice(high);
        };
        match slab {
            Hyperslab::Regular(slab) => list_regular(slab, first, number, &mut store),
            Hyperslab::Irregular { blocks, .. } => {
                let (first, number) = (counted(first)?, counted(number)?);
                for block in blocks.iter().skip(first).take(number) {
                    store(&block.start, &block.end);
                }
            }
        }
        buffer.fill(&corners, corners.len())?;
        Ok(0)
    }

    /// Returns the number of points of a dataspace's point selection.
    fn H5Sget_select_elem_npoints(space: hid_t) -> hssize_t {
        let space = space::find(space)?;
        match &space.0.read().selection {
            Selection::Points(points) => hssize_t::try_from(points.len())
                .map_err(|_| Failure::bad_value("too many points")),
            _ => Err(Failure::bad_type("not a list of points")),
        }
    }

    /// Stores the coordinates of `number` points of a dataspace's point selection, beginning with
    /// the point `first`.
    fn H5Sget_select_elem_pointlist(
        space: hid_t,
        first: hsize_t,
        number: hsize_t,
        buffer: Out<hsize_t>,
    ) -> herr_t {
        let space = space::find(space)?;
        let buffer = buffer.require("buffer")?;
        let space = space.0.read();
        let Selection::Points(points) = &space.selection else {
            return Err(Failure::bad_type("not a list of points"));
        };
        let first = counted::<usize, _>(first)?.min(points.len());
        let number = counted::<usize, _>(number)?.min(points.len() - first);
        let wanted = points.coordinates.get(first * points.rank..(first + number) * points.rank);
        let wanted = wanted.unwrap_or_default();
        buffer.fill(wanted, wanted.len())?;
        Ok(0)
    }

    /// Returns whether the hyperslab selection of a dataspace is regular.
    fn H5Sis_regular_hyperslab(space: hid_t) -> htri_t {
        let space = space::find(space)?;
        let slab = regular(&space.0.read())?;
        Ok(htri_t::from(slab.is_some()))
    }

    /// Stores the start, stride, count and block of a dataspace's regular hyperslab selection.
    fn H5Sget_regular_hyperslab(
        space: hid_t,
        start: Out<hsize_t>,
        stride: Out<hsize_t>,
        count: Out<hsize_t>,
        block: Out<hsize_t>,
    ) -> htri_t {
        let space = space::find(space)?;
        let slab = regular(&space.0.read())?
            .ok_or_else(|| Failure::bad_type("not a regular hyperslab selection"))?;
        start.fill(&slab.start, slab.start.len())?;
        stride.fill(&slab.stride, slab.stride.len())?;
        count.fill(&slab.count, slab.count.len())?;
        block.fill(&slab.block, slab.block.len())?;
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use hyperslab::Dataspace;

    #[test]
    fn blocks_come_in_c_order() {
        crate::init::start();
        let mut space = CSpace::all(Dataspace::simple(&[10, 10]));
        let two = Dims::from_slice(&[2, 2]);
        let (start, stride) = (Dims::from_slice(&[1, 0]), Dims::from_slice(&[4, 5]));
        let slab = RegularHyperslab { start, stride, count: two.clone(), block: two };
        space.selection = Selection::Hyperslab(Hyperslab::Regular(slab));
        space.offset = vec![1, 0];
        let id = space::register(space);
        let mut corners = [0; 8];
        let (mut low, mut high) = ([0; 2], [0; 2]);
        // SAFETY: the arrays have space for two blocks, and for two coordinates.
        unsafe {
            assert_eq!((H5Sget_select_npoints(id), H5Sget_select_hyper_nblocks(id)), (16, 4));
            assert_eq!(H5Sget_select_hyper_blocklist(id, 1, 2, Out::of(corners.as_mut_ptr())), 0);
            assert_eq!(corners, [1, 5, 2, 6, 5, 0, 6, 1]);
            assert_eq!(H5Sget_select_bounds(id, Out::of(low.as_mut_ptr()), Out::of(high.as_mut_ptr())), 0);
            assert_eq!((low, high), ([2, 0], [7, 6]));
            assert_eq!(H5Sget_select_elem_npoints(id), -1);
        }
    }
}
