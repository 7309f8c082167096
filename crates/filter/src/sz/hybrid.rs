//! Real numbers in blocks, predicted from neighbours or by regression.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 4      | values along a block
//! s      | the precision, as many bytes as a value has
//! 4      | intervals
//! n      | bytes of a tree (4), its nodes (4), the tree
//! 1      | whether the middle interval stands for the mean
//! s      | the mean, its least significant byte first
//! n      | a bit for each block: 1 for neighbours, 0 for regression
//! n      | if there is a 0: the coefficients, see below; 3 of planes, 4 of volumes
//! 8      | exact values, this and they with the least significant byte first
//! n      | exact values
//! n      | codes: 0 for an exact value, others for an interval
//!
//! bytes of a coefficient | meaning
//! -----------------------+--------------------------------------------------------------------
//! s                      | its precision
//! 4                      | half its intervals
//! n                      | bytes of a tree (4), its nodes (4), the tree
//! 4 or 8                 | bytes of the codes, in a field of 8
//! n                      | codes: 0 for an exact one, others for a distance from the block before
//! 4                      | exact ones
//! n                      | exact ones, the least significant byte first
//! ```

use crate::Result;

use super::bytes::Bytes;
use super::corrupt;
use super::head::Head;
use super::huffman::Tree;
use super::real::Real;

/// How a dimension is cut: the first blocks may have one value more than the others.
#[derive(Debug, Clone, Copy)]
struct Cut {
    blocks: usize,
    /// Values of a block at least.
    least: usize,
    /// Blocks that have one more.
    longer: usize,
}

impl Cut {
    fn new(count: usize, block: usize) -> Option<Self> {
        let blocks = count.checked_div(block)?.max(1);
        Some(Self { blocks, least: count.checked_div(blocks)?, longer: count.checked_rem(blocks)? })
    }

    /// First value and number of values of a block.
    fn range(self, block: usize) -> (usize, usize) {
        (block * self.least + block.min(self.longer), self.least + usize::from(block < self.longer))
    }
}

/// One coefficient of all blocks that have it.
#[derive(Debug)]
struct Coefficient<'a, T> {
    precision: T,
    radius: i64,
    symbols: std::vec::IntoIter<u32>,
    exact: Bytes<'a>,
    last: T,
}

impl<'a, T: Real> Coefficient<'a, T> {
    fn parse(rest: &mut Bytes<'a>, count: usize) -> Result<Self> {
        let precision = rest.real()?;
        let radius = i64::from(rest.word()?);
        let tree = tree(rest)?;
        let length = rest.length_in_eight()?;
        let symbols = tree.decode(rest.take(length)?, count)?.into_iter();
        let exact_count = rest.count()?;
        let exact = values::<T>(rest, exact_count)?;
        Ok(Self { precision, radius, symbols, exact, last: T::default() })
    }

    /// That of the next block.
    fn next(&mut self) -> Result<T> {
        self.last = match self.symbols.next() {
            None => return Err(corrupt("its coefficients")),
            Some(0) => self.exact.host_real()?,
            Some(symbol) => self.last + T::of(2 * (i64::from(symbol) - self.radius)) * self.precision,
        };
        Ok(self.last)
    }
}

/// The bytes of a tree, its nodes, the tree.
fn tree(rest: &mut Bytes<'_>) -> Result<Tree> {
    let length = rest.count()?;
    let count = rest.count()?;
    Tree::parse(&mut Bytes::new(rest.take(length)?, false), count)
}

/// The bytes of exact values.
fn values<'a, T: Real>(rest: &mut Bytes<'a>, count: usize) -> Result<Bytes<'a>> {
    let length = count.checked_mul(T::SIZE).ok_or_else(|| corrupt("its exact values"))?;
    Ok(Bytes::new(rest.take(length)?, false))
}

/// Makes values of symbols.
struct Hybrid<'a, T> {
    dims: [usize; 3],
    values: Vec<T>,
    symbols: std::vec::IntoIter<u32>,
    exact: Bytes<'a>,
    radius: i64,
    precision: T,
    mean: Option<T>,
    coefficients: Vec<Coefficient<'a, T>>,
}

/// Decodes `count` values; planes have one as their first dimension.
pub(super) fn decode<T: Real>(head: &Head<'_>, dims: [usize; 3], count: usize) -> Result<Vec<T>> {
    let mut rest = head.rest.clone();
    let block = rest.count()?;
    let [x, y, z] = dims.map(|size| Cut::new(size, block));
    let [Some(x), Some(y), Some(z)] = [x, y, z] else { return Err(corrupt("the size of its blocks")) };
    let blocks = x.blocks * y.blocks * z.blocks;
    let precision = rest.real()?;
    let radius = i64::from(rest.word()? / 2);
    let tree = tree(&mut rest)?;
    let has_mean = rest.byte()? != 0;
    let mean = Some(rest.host_real()?).filter(|_| has_mean);
    let kinds = rest.take(blocks.div_ceil(8))?;
    let kinds = kinds.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 0)).take(blocks);
    let fitted = kinds.clone().filter(|is_fitted| *is_fitted).count();
    let needed = match (fitted, dims.first() == Some(&1)) {
        (0, _) => 0,
        (_, true) => 3,
        (_, false) => 4,
    };
    let coefficients = (0..needed).map(|_| Coefficient::parse(&mut rest, fitted)).collect::<Result<_>>()?;
    let exact_count = rest.host_length()?;
    let exact = values::<T>(&mut rest, exact_count)?;
    let symbols = tree.decode(rest.rest(), count)?.into_iter();
    let values = vec![T::default(); count];
    let mut hybrid = Hybrid { dims, values, symbols, exact, radius, precision, mean, coefficients };
    let places =
        (0..x.blocks).flat_map(|i| (0..y.blocks).flat_map(move |j| (0..z.blocks).map(move |k| (i, j, k))));
    for ((i, j, k), is_fitted) in places.zip(kinds) {
        let block = [x.range(i), y.range(j), z.range(k)];
        if is_fitted {
            hybrid.fitted(block)?;
        } else {
            hybrid.near(block)?;
        }
    }
    Ok(hybrid.values)
}

impl<T: Real> Hybrid<'_, T> {
    /// A block by regression.
    fn fitted(&mut self, block: [(usize, usize); 3]) -> Result<()> {
        let mut slopes = [T::default(); 4];
        let unused = 4 - self.coefficients.len();
        for (slope, coefficient) in slopes.iter_mut().skip(unused).zip(&mut self.coefficients) {
            *slope = coefficient.next()?;
        }
        let [a, b, c, constant] = slopes;
        let steps = |count: usize| i64::try_from(count).map_or(T::default(), T::of);
        let [(_, planes), (_, rows), (_, columns)] = block;
        for i in 0..planes {
            for j in 0..rows {
                for k in 0..columns {
                    let value = match self.symbols.next() {
                        None | Some(0) => self.exact.host_real()?,
                        Some(symbol) => {
                            let fit = a * steps(i) + b * steps(j) + c * steps(k) + constant;
                            fit + self.distance(i64::from(symbol))
                        }
                    };
                    self.put(block, [i, j, k], value)?;
                }
            }
        }
        Ok(())
    }

    /// A block by neighbours.
    fn near(&mut self, block: [(usize, usize); 3]) -> Result<()> {
        let [(x, planes), (y, rows), (z, columns)] = block;
        for i in 0..planes {
            for j in 0..rows {
                for k in 0..columns {
                    let symbol = i64::from(self.symbols.next().unwrap_or(0));
                    let value = match self.mean {
                        Some(mean) if symbol == self.radius => mean,
                        _ if symbol == 0 => self.exact.host_real()?,
                        mean => {
                            // The middle is taken by the mean; those below lie by one nearer.
                            let symbol = symbol + i64::from(mean.is_some() && symbol < self.radius);
                            self.predict([x + i, y + j, z + k]) + self.distance(symbol)
                        }
                    };
                    self.put(block, [i, j, k], value)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn distance(&self, symbol: i64) -> T {
        T::of(2 * (symbol - self.radius)) * self.precision
    }

    #[inline]
    fn at(&self, [x, y, z]: [usize; 3]) -> usize {
        let [_, rows, columns] = self.dims;
        (x * rows + y) * columns + z
    }

    #[inline]
    fn put(
        &mut self,
        [(x, _), (y, _), (z, _)]: [(usize, usize); 3],
        place: [usize; 3],
        value: T,
    ) -> Result<()> {
        let [i, j, k] = place;
        let at = self.at([x + i, y + j, z + k]);
        *self.values.get_mut(at).ok_or_else(|| corrupt("its blocks"))? = value;
        Ok(())
    }

    /// From the neighbours, those outside being 0.
    #[inline]
    fn predict(&self, place: [usize; 3]) -> T {
        let at = self.at(place);
        let [_, rows, row] = self.dims;
        let plane = rows * row;
        let [has_x, has_y, has_z] = place.map(|place| place > 0);
        let value = |is_in: bool, distance: usize| {
            // Neighbours outside the array count as 0.
            let place = at.checked_sub(distance).filter(|_| is_in);
            place.and_then(|place| self.values.get(place)).copied().unwrap_or_default()
        };
        let (a, b, c) = (value(has_z, 1), value(has_y, row), value(has_x, plane));
        let (ab, ac, bc) = (
            value(has_y && has_z, row + 1),
            value(has_x && has_z, plane + 1),
            value(has_x && has_y, plane + row),
        );
        let abc = value(has_x && has_y && has_z, plane + row + 1);
        a + b + c - ab - ac - bc + abc
    }
}
