//! Dataspace message (section IV.A.2.b).
//!
//! ```text
//! version 1                                  version 2
//! size  field                                size  field
//! 1     version = 1                          1     version = 2
//! 1     dimensionality (D)                   1     dimensionality (D)
//! 1     flags: bit 0 maxima, bit 1 indices   1     flags: bit 0 maximum sizes follow
//! 5     reserved                             1     type: 0 scalar, 1 simple, 2 null
//! D x L size of each dimension               D x L size of each dimension
//! D x L maximum sizes (if bit 0)             D x L maximum sizes (if flags bit 0)
//! D x L permutation indices (if bit 1)
//! ```
//!
//! A maximum size of all ones means unlimited. No library ever implemented permutation indices;
//! decoders ignore them like libhdf5, and encoders do not write them. In version 1, a
//! dimensionality of 0 is a scalar.

use hyperslab_dataspace::{Dataspace, Dims, MAX_RANK, MaxDims, SimpleExtent};

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

const HAS_MAX_DIMS: u8 = 1 << 0;
const SCALAR: u8 = 0;
const SIMPLE: u8 = 1;
const NULL: u8 = 2;

/// The dataspace message of a dataset or attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataspaceMessage {
    /// Version of the message: 1 or 2. Only version 2 can store the null dataspace.
    pub version: u8,
    /// The dataspace.
    pub dataspace: Dataspace,
}

impl DataspaceMessage {
    /// Creates a dataspace message in the oldest version that can store the dataspace. libhdf5 also
    /// writes the oldest version by default.
    pub fn new(dataspace: Dataspace) -> Self {
        Self { version: if dataspace == Dataspace::Null { 2 } else { 1 }, dataspace }
    }
}

impl Message<'_> for DataspaceMessage {
    const TYPE: MessageType = MessageType::DATASPACE;

    fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        let version = r.version(&[1, 2])?;
        let rank = usize::from(r.u8("dimensionality")?);
        if rank > MAX_RANK {
            return Err(r.corrupt("dimensionality", format!("at most {MAX_RANK}"), rank));
        }
        let flags = r.u8("flags")?;
        let kind = if version == 1 {
            r.skip(5, "reserved")?;
            if rank == 0 { SCALAR } else { SIMPLE }
        } else {
            r.u8("type")?
        };
        let dataspace = match kind {
            SIMPLE => Dataspace::Simple(decode_extent(&mut r, rank, flags, params)?),
            SCALAR | NULL if rank != 0 => {
                return Err(r.corrupt("dimensionality", "0 for a scalar or null dataspace", rank));
            }
            SCALAR => Dataspace::Scalar,
            NULL => Dataspace::Null,
            _ => return Err(r.unsupported(format!("dataspace type {kind}"))),
        };
        Ok(Self { version, dataspace })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        let (kind, extent) = match &self.dataspace {
            Dataspace::Scalar => (SCALAR, None),
            Dataspace::Simple(extent) => (SIMPLE, Some(extent)),
            Dataspace::Null => (NULL, None),
        };
        let rank = extent.map_or(0, |extent| extent.dims.len());
        if rank > MAX_RANK {
            w.fail("dimensionality", rank);
        }
        let max_dims = extent.and_then(|extent| extent.max_dims.as_ref());
        w.u8(self.version);
        w.narrow_u8(rank, "dimensionality");
        w.u8(if max_dims.is_some() { HAS_MAX_DIMS } else { 0 });
        match self.version {
            1 => {
                if kind == NULL {
                    w.fail("type", "a null dataspace in version 1");
                }
                w.zeros(5);
            }
            2 => w.u8(kind),
            version => w.fail("version", version),
        }
        for dim in extent.iter().flat_map(|extent| &extent.dims) {
            w.length(params, *dim, "dimension size");
        }
        if let Some(max_dims) = max_dims {
            if max_dims.len() != rank {
                w.fail(
                    "dimension maximum size",
                    format_args!("{} maximum sizes for rank {rank}", max_dims.len()),
                );
            }
            for max in max_dims {
                w.length_or_undefined(params, *max, "dimension maximum size");
            }
        }
    }
}

fn decode_extent(r: &mut Reader<'_>, rank: usize, flags: u8, params: FileParams) -> Result<SimpleExtent> {
    let mut dims = Dims::new();
    for _ in 0..rank {
        dims.push(r.length(params, "dimension size")?);
    }
    if flags & HAS_MAX_DIMS == 0 {
        return Ok(SimpleExtent { dims, max_dims: None });
    }
    let mut max_dims = MaxDims::new();
    for dim in &dims {
        let max = r.length_or_undefined(params, "dimension maximum size")?;
        if let Some(max) = max.filter(|max| max < dim) {
            return Err(r.corrupt("dimension maximum size", format!("at least the size {dim}"), max));
        }
        max_dims.push(max);
    }
    Ok(SimpleExtent { dims, max_dims: Some(max_dims) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies, params};
    use proptest::prelude::*;

    const SMALL: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    fn decode(bytes: &[u8]) -> Result<DataspaceMessage> {
        DataspaceMessage::decode(bytes, SMALL)
    }

    #[test]
    fn version_1() {
        let scalar = decode(&[1, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!(scalar.dataspace, Dataspace::Scalar);
        let bytes = [1, 2, 1, 0, 0, 0, 0, 0, 4, 0, 5, 0, 4, 0, 0xff, 0xff];
        let message = decode(&bytes).unwrap();
        let Dataspace::Simple(extent) = &message.dataspace else { panic!("{message:?}") };
        assert_eq!(extent.dims.as_slice(), [4, 5]);
        assert_eq!(extent.max_dims.as_ref().unwrap().as_slice(), [Some(4), None]);
        assert_eq!(assert_laws!(DataspaceMessage, message, SMALL), bytes);
    }

    #[test]
    fn permutation_indices_are_ignored() {
        let message = decode(&[1, 2, 2, 0, 0, 0, 0, 0, 4, 0, 5, 0, 1, 0, 0, 0]).unwrap();
        assert_eq!(message.dataspace, Dataspace::simple(&[4, 5]));
    }

    #[test]
    fn version_2() {
        assert_eq!(decode(&[2, 0, 0, 0]).unwrap().dataspace, Dataspace::Scalar);
        assert_eq!(decode(&[2, 0, 0, 2]).unwrap().dataspace, Dataspace::Null);
        assert_eq!(decode(&[2, 1, 0, 1, 7, 0]).unwrap().dataspace, Dataspace::simple(&[7]));
        let null = DataspaceMessage::new(Dataspace::Null);
        assert_eq!(assert_laws!(DataspaceMessage, null, SMALL), [2, 0, 0, 2]);
        assert!(DataspaceMessage { version: 1, ..null }.to_bytes(SMALL).is_err());
    }

    #[test]
    fn refuses_contradictions() {
        for bytes in [
            [2, 1, 0, 0, 7, 0, 0, 0],  // a scalar with a dimension
            [2, 1, 0, 2, 7, 0, 0, 0],  // a null dataspace with a dimension
            [2, 1, 1, 1, 7, 0, 6, 0],  // maximum below the size
            [2, 33, 0, 1, 7, 0, 6, 0], // rank
            [2, 1, 0, 3, 7, 0, 6, 0],  // type
            [3, 1, 0, 1, 7, 0, 6, 0],  // version
            [2, 3, 0, 1, 7, 0, 6, 0],  // truncated
        ] {
            assert!(decode(&bytes).is_err(), "{bytes:?}");
        }
    }

    fn extents() -> impl Strategy<Value = SimpleExtent> {
        let dim = (0_u64..1000, prop::option::of(0_u64..1000));
        (prop::collection::vec(dim, 1..=32), any::<bool>()).prop_map(|(dims, with_max)| SimpleExtent {
            dims: dims.iter().map(|(dim, _)| *dim).collect(),
            max_dims: with_max.then(|| dims.iter().map(|(dim, more)| more.map(|more| dim + more)).collect()),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn laws(params in params(), extent in extents(), version in 1_u8..=2, bytes in bodies()) {
            assert_laws!(DataspaceMessage, DataspaceMessage { version, dataspace: Dataspace::Simple(extent) }, params);
            assert_survives!(DataspaceMessage, &bytes, params);
        }
    }
}
