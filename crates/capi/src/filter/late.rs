//! The scaleoffset filter with the error behaviour of the C library: parameters that do not match
//! the datatype are an error when a chunk is written, not when the dataset is created.

use hyperslab::DatatypeClass;
use hyperslab::datatype::ByteOrder;
use hyperslab::filter::builtin::ScaleOffset;
use hyperslab::filter::{
    DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace,
};

/// The number of client data values of the scaleoffset filter.
const CLIENT_DATA_COUNT: usize = 20;

/// A variant of the scaleoffset filter. It reports parameters of a wrong scale type only when it
/// encodes a chunk.
#[derive(Debug, Default)]
pub struct LateScaleOffset(ScaleOffset);

/// Returns the client data of the scaleoffset filter for a dataset whose datatype does not match
/// the scale type, as the C library stores it. Returns `None` if the datatype is neither an integer
/// nor a floating-point number.
fn client_data_of_mismatch(requested: &[u32], dataset: &DatasetFacts<'_>) -> Option<Vec<u32>> {
    let [scale, factor, ..] = requested else { return None };
    let (class, sign, order) = match &dataset.datatype.class {
        DatatypeClass::FixedPoint(number) => (0, u32::from(number.signed), number.order),
        DatatypeClass::FloatingPoint(_) => (1, 0, ByteOrder::LittleEndian),
        _ => return None,
    };
    let elements = dataset.chunk.iter().try_fold(1_u64, |count, size| count.checked_mul(*size))?;
    let order = u32::from(order == ByteOrder::BigEndian);
    let size = dataset.datatype.size;
    let mut data = vec![*scale, *factor, u32::try_from(elements).ok()?, class, size, sign, order];
    data.resize(CLIENT_DATA_COUNT, 0);
    Some(data)
}

impl Filter for LateScaleOffset {
    fn id(&self) -> FilterId {
        self.0.id()
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        self.0.decode(context, input, output)
    }

    fn decode_with(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut Vec<u8>,
        workspace: &mut Workspace,
    ) -> Result<Produced> {
        self.0.decode_with(context, input, output, workspace)
    }

    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        self.0.decode_into(context, input, output, workspace)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        self.0.encode(context, input, output)
    }

    fn encoded_length(&self, context: &FilterContext<'_>, input: usize) -> Option<usize> {
        self.0.encoded_length(context, input)
    }

    fn compresses(&self) -> bool {
        self.0.compresses()
    }

    fn prepare(&self, requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        match self.0.prepare(requested, dataset) {
            Err(error @ FilterError::Refused { .. }) => {
                client_data_of_mismatch(requested, dataset).ok_or(error)
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::Datatype;
    use hyperslab::datatype::{CharacterSet, StringPadding};

    #[test]
    fn parameters_that_do_not_fit_are_kept() {
        let (int, text) = (
            Datatype::integer(4, true, ByteOrder::LittleEndian),
            Datatype::fixed_string(4, StringPadding::NullTerminated, CharacterSet::Ascii),
        );
        let facts = |datatype| DatasetFacts::new(datatype, &[2, 3]);
        let filter = LateScaleOffset::default();
        let made = filter.prepare(&[1, 2], &facts(&int)).expect("parameters");
        assert_eq!((made.len(), &made[..7]), (20, &[1, 2, 6, 0, 4, 1, 0][..]));
        assert!(filter.prepare(&[1, 2], &facts(&text)).is_err());
    }
}
