//! An array of zarr: the metadata and the chunks of one dataset.

use std::sync::Arc;

use crate::Json;
use crate::grid::Grid;

/// A dataset as an array of zarr version 2, with its chunks.
#[derive(Debug, Clone)]
pub struct Array {
    /// The path of the dataset below the exported group, without a leading `/`.
    pub path: String,
    /// The shape of the array. It ends with the dimensions of array elements.
    pub shape: Vec<u64>,
    /// The shape of a chunk.
    pub chunk_shape: Vec<u64>,
    /// The type of the elements as zarr names it: a text such as `<f4`, or a list of members.
    pub dtype: Json,
    /// The value of chunks that do not exist; `null` means zero.
    pub fill_value: Json,
    /// The codecs in the order of encoding, as numcodecs describes them.
    pub filters: Vec<Json>,
    /// The names of the dimensions.
    pub dimensions: Vec<String>,
    /// The attributes of the dataset, without the names of the dimensions.
    pub attributes: Vec<(String, Json)>,
    /// The chunks, in ascending order of position.
    pub chunks: Vec<Chunk>,
}

/// One chunk of an [`Array`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The position in the grid of chunks, counted in C order.
    pub position: u64,
    /// The bytes, or their location.
    pub content: Content,
}

/// The content of a chunk: a range of a file, or the bytes themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A range of the file at a URL.
    Range {
        /// The URL of the file.
        url: Arc<str>,
        /// The offset of the first byte.
        offset: u64,
        /// The number of bytes.
        length: u64,
    },
    /// The encoded bytes of the chunk.
    Inline(Arc<[u8]>),
}

impl Array {
    /// Returns the metadata of the array: the content of `.zarray`.
    pub fn metadata(&self) -> Json {
        let filters = match self.filters.as_slice() {
            [] => Json::Null,
            filters => Json::List(filters.to_vec()),
        };
        Json::object([
            ("chunks", Json::integers(&self.chunk_shape)),
            ("compressor", Json::Null),
            ("dtype", self.dtype.clone()),
            ("fill_value", self.fill_value.clone()),
            ("filters", filters),
            ("order", Json::text("C")),
            ("shape", Json::integers(&self.shape)),
            ("zarr_format", Json::Integer(2)),
        ])
    }

    /// Returns the attributes of the array with the names of its dimensions: the content of
    /// `.zattrs`.
    pub fn attributes_with_dimensions(&self) -> Json {
        let names = self.dimensions.iter().map(Json::text).collect();
        let mut attributes = self.attributes.clone();
        attributes.push(("_ARRAY_DIMENSIONS".to_owned(), Json::List(names)));
        Json::Object(attributes)
    }

    /// Returns the number of chunks of the grid along each dimension.
    pub fn grid_shape(&self) -> Vec<u64> {
        self.grid().counts().to_vec()
    }

    /// Returns the key of the chunk at a position, such as `0.3`.
    pub fn chunk_key(&self, position: u64) -> String {
        self.grid().key(position)
    }

    pub(crate) fn grid(&self) -> Grid {
        Grid::new(&self.shape, &self.chunk_shape)
    }
}
