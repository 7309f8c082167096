//! Figures published by the authors of structured chunks: "Structured Storage for Sparse and
//! Variable-Length Data: Benchmark results for storage prototype", Lifeboat, version 2 of January
//! 16, 2024, tables 5 to 8 and 11 to 27.

use super::made::Arrangement;

/// Bytes of one chunk, for 1 % to 10 % of the elements.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) places: Arrangement,
    pub(crate) random: bool,
    /// Bytes of the encoded selection and the values.
    pub(crate) structured: [u64; 10],
    /// Bytes of a dense chunk with gzip 9.
    pub(crate) dense_gzip: [u64; 10],
    /// Bytes of the encoded selection and the values, each with gzip 9.
    pub(crate) structured_gzip: [u64; 10],
}

pub(crate) const CHUNKS: [Chunk; 6] = [
    Chunk {
        places: Arrangement::Points,
        random: true,
        structured: [
            174_151, 348_135, 521_943, 695_559, 885_991, 1_058_119, 1_230_407, 1_400_615, 1_589_479,
            1_759_495,
        ],
        dense_gzip: [33_287, 60_040, 82_625, 102_831, 123_207, 141_821, 158_999, 175_973, 193_669, 209_636],
        structured_gzip: [
            35_377, 63_815, 91_533, 118_979, 149_079, 176_330, 203_826, 231_247, 261_224, 288_753,
        ],
    },
    Chunk {
        places: Arrangement::Points,
        random: false,
        structured: [
            174_151, 348_167, 521_799, 695_207, 885_799, 1_058_327, 1_230_327, 1_400_999, 1_589_335,
            1_758_759,
        ],
        dense_gzip: [32_184, 58_211, 82_227, 100_718, 118_470, 123_656, 134_806, 146_057, 158_131, 165_582],
        structured_gzip: [
            25_497, 43_728, 61_245, 78_523, 97_374, 114_390, 131_631, 148_853, 167_728, 185_066,
        ],
    },
    Chunk {
        places: Arrangement::Rectangle,
        random: true,
        structured: [10_491, 20_823, 31_416, 41_703, 52_071, 62_587, 72_987, 83_608, 94_336, 104_416],
        dense_gzip: [12_819, 23_600, 34_237, 45_063, 54_873, 65_655, 76_596, 86_900, 98_208, 108_232],
        structured_gzip: [10_458, 20_795, 31_388, 41_680, 52_053, 62_569, 72_973, 83_600, 94_328, 104_412],
    },
    Chunk {
        places: Arrangement::Rectangle,
        random: false,
        structured: [10_491, 20_823, 31_416, 41_703, 52_071, 62_587, 72_987, 83_608, 94_336, 104_416],
        dense_gzip: [1657, 2405, 2626, 1927, 2959, 3014, 2589, 2613, 3127, 2715],
        structured_gzip: [416, 473, 519, 537, 576, 618, 658, 699, 740, 780],
    },
    Chunk {
        places: Arrangement::Runs,
        random: true,
        structured: [26_695, 36_935, 47_175, 57_399, 68_663, 78_903, 89_143, 99_383, 110_631, 120_855],
        dense_gzip: [15_073, 25_909, 36_511, 46_907, 58_399, 68_836, 79_099, 89_446, 100_766, 111_088],
        structured_gzip: [16_944, 27_183, 37_459, 47_683, 58_978, 69_188, 79_460, 89_748, 100_940, 111_202],
    },
    Chunk {
        places: Arrangement::Runs,
        random: false,
        structured: [26_695, 36_919, 47_143, 57_415, 68_647, 78_903, 89_111, 99_399, 110_631, 120_903],
        dense_gzip: [8167, 8463, 4525, 8982, 4142, 8909, 8933, 8924, 8870, 4116],
        structured_gzip: [7064, 7155, 7160, 7196, 7245, 7282, 7343, 7416, 7395, 7456],
    },
];

/// Bytes of files with variable-length vectors.
#[derive(Debug)]
pub(crate) struct Vectors {
    /// The largest number of elements of a vector.
    pub(crate) longest: usize,
    pub(crate) random: bool,
    /// Bytes in global heaps, without and with gzip 9.
    pub(crate) now: [u64; 2],
    /// Bytes in a structured chunk, without and with gzip 9.
    pub(crate) structured: [u64; 2],
}

pub(crate) const VECTORS: [Vectors; 4] = [
    Vectors { longest: 10, random: true, now: [425_640, 290_982], structured: [220_847, 69_296] },
    Vectors { longest: 100, random: true, now: [884_392, 759_872], structured: [669_143, 468_922] },
    Vectors { longest: 10, random: false, now: [425_640, 290_961], structured: [220_830, 27_394] },
    Vectors { longest: 100, random: false, now: [884_392, 759_836], structured: [672_130, 42_848] },
];
