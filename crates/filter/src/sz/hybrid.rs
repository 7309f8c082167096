//! The floating-point values of an SZ stream in blocks, predicted from neighbours or by linear
//! regression.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 4      | values of a block along each dimension
//! s      | the precision, with as many bytes as a value
//! 4      | number of intervals
//! n      | bytes of a tree (4), its number of nodes (4), the tree
//! 1      | true if the middle interval stands for the mean
//! s      | the mean, little-endian
//! n      | a bit for each block: 1 for neighbours, 0 for regression
//! n      | if any bit is 0: the coefficients, see below; 3 for planes, 4 for volumes
//! 8      | number of exact values; this number and the values are little-endian
//! n      | exact values
//! n      | codes: 0 for an exact value, other codes for an interval
//!
//! bytes of a coefficient | meaning
//! -----------------------+--------------------------------------------------------------------
//! s                      | precision of the coefficient
//! 4                      | half the number of its intervals
//! n                      | bytes of a tree (4), its number of nodes (4), the tree
//! 4 or 8                 | bytes of the codes, in a field of 8 bytes
//! n                      | codes: 0 for an exact coefficient, other codes for a difference from
//!                        | the preceding block
//! 4                      | number of exact coefficients
//! n                      | exact coefficients, little-endian
//! ```

use crate::Result;

use super::bytes::Bytes;
use super::corrupt;
use super::header::Header;
use super::huffman::Tree;
use super::real::Real;

/// The partition of a dimension of an SZ chunk into blocks. The first blocks may have one value
/// more than the later blocks.
#[derive(Debug, Clone, Copy)]
struct Partition {
    blocks: usize,
    /// The minimum number of values of a block.
    min_values: usize,
    /// The number of blocks with one value more.
    longer: usize,
}

impl Partition {
    fn new(count: usize, block: usize) -> Option<Self> {
        let blocks = count.checked_div(block)?.max(1);
        Some(Self { blocks, min_values: count.checked_div(blocks)?, longer: count.checked_rem(blocks)? })
    }

    /// Returns the index of the first value and the number of values of an SZ block along a
    /// dimension.
    fn range(self, block: usize) -> (usize, usize) {
        (block * self.min_values + block.min(self.longer), self.min_values + usize::from(block < self.longer))
    }
}

/// A reader of one regression coefficient of an SZ stream. The coefficient has one value for each
/// block that uses regression.
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
        let length = rest.length_in_8_bytes()?;
        let symbols = tree.decode(rest.take(length)?, count)?.into_iter();
        let exact_count = rest.count()?;
        let exact = values::<T>(rest, exact_count)?;
        Ok(Self { precision, radius, symbols, exact, last: T::default() })
    }

    /// Reads the regression coefficient of the next block from the SZ stream.
    fn next(&mut self) -> Result<T> {
        self.last = match self.symbols.next() {
            None => return Err(corrupt("the codes of the regression coefficients are truncated")),
            Some(0) => self.exact.host_real()?,
            Some(symbol) => self.last + T::of(2 * (i64::from(symbol) - self.radius)) * self.precision,
        };
        Ok(self.last)
    }
}

/// Parses a Huffman tree from an SZ stream. The length of the tree in bytes and its number of nodes
/// come before the tree.
fn tree(rest: &mut Bytes<'_>) -> Result<Tree> {
    let length = rest.count()?;
    let count = rest.count()?;
    Tree::parse(&mut Bytes::new(rest.take(length)?, false), count)
}

/// Reads the bytes of `count` exact values from an SZ stream. The encoder could not predict exact
/// values.
fn values<'a, T: Real>(rest: &mut Bytes<'a>, count: usize) -> Result<Bytes<'a>> {
    let length =
        count.checked_mul(T::SIZE).ok_or_else(|| corrupt("the number of exact values is too large"))?;
    Ok(Bytes::new(rest.take(length)?, false))
}

/// A decoder of SZ streams with regression. The decoder computes values from Huffman symbols.
struct HybridDecoder<'a, T> {
    dims: [usize; 3],
    values: Vec<T>,
    symbols: std::vec::IntoIter<u32>,
    exact: Bytes<'a>,
    radius: i64,
    precision: T,
    mean: Option<T>,
    coefficients: Vec<Coefficient<'a, T>>,
}

/// Decodes `count` values of an SZ stream with regression. If the values form a plane, the first
/// dimension is 1.
pub(super) fn decode<T: Real>(header: &Header<'_>, dims: [usize; 3], count: usize) -> Result<Vec<T>> {
    let mut rest = header.rest.clone();
    let block = rest.count()?;
    let [x, y, z] = dims.map(|size| Partition::new(size, block));
    let [Some(x), Some(y), Some(z)] = [x, y, z] else { return Err(corrupt("the block size is invalid")) };
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
    let mut decoder = HybridDecoder { dims, values, symbols, exact, radius, precision, mean, coefficients };
    let positions =
        (0..x.blocks).flat_map(|i| (0..y.blocks).flat_map(move |j| (0..z.blocks).map(move |k| (i, j, k))));
    for ((i, j, k), is_fitted) in positions.zip(kinds) {
        let block = [x.range(i), y.range(j), z.range(k)];
        if is_fitted {
            decoder.decode_by_regression(block)?;
        } else {
            decoder.decode_by_neighbours(block)?;
        }
    }
    Ok(decoder.values)
}

impl<T: Real> HybridDecoder<'_, T> {
    /// Decodes one block of an SZ stream by linear regression.
    fn decode_by_regression(&mut self, block: [(usize, usize); 3]) -> Result<()> {
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

    /// Decodes one block of an SZ stream by predictions from neighbouring values.
    fn decode_by_neighbours(&mut self, block: [(usize, usize); 3]) -> Result<()> {
        let [(x, planes), (y, rows), (z, columns)] = block;
        for i in 0..planes {
            for j in 0..rows {
                for k in 0..columns {
                    let symbol = i64::from(self.symbols.next().unwrap_or(0));
                    let value = match self.mean {
                        Some(mean) if symbol == self.radius => mean,
                        _ if symbol == 0 => self.exact.host_real()?,
                        mean => {
                            // The middle symbol means the mean value, so all smaller symbols are
                            // shifted by one.
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
        position: [usize; 3],
        value: T,
    ) -> Result<()> {
        let [i, j, k] = position;
        let at = self.at([x + i, y + j, z + k]);
        *self.values.get_mut(at).ok_or_else(|| corrupt("a block lies outside the chunk"))? = value;
        Ok(())
    }

    /// Predicts a value of an SZ stream from its neighbours. Neighbours outside the chunk count as
    /// 0.
    #[inline]
    fn predict(&self, position: [usize; 3]) -> T {
        let at = self.at(position);
        let [_, rows, row] = self.dims;
        let plane = rows * row;
        let [has_x, has_y, has_z] = position.map(|position| position > 0);
        let value = |is_in: bool, distance: usize| {
            // Neighbours outside the chunk count as 0.
            let position = at.checked_sub(distance).filter(|_| is_in);
            position.and_then(|position| self.values.get(position)).copied().unwrap_or_default()
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
