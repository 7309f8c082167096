//! The codecs of zarr for the filters of HDF5.

use hyperslab::FilterInfo;

use crate::Json;

const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;
const BZIP2: u16 = 307;
const BLOSC: u16 = 32001;
const ZSTD: u16 = 32015;

/// The compressors inside blosc that numcodecs has, by their numbers.
const BLOSC_CODECS: [(u32, &str); 5] = [(0, "blosclz"), (1, "lz4"), (2, "lz4hc"), (4, "zlib"), (5, "zstd")];

/// Returns the codecs of numcodecs that decode chunks with the given filters, in the order of
/// encoding.
///
/// # Errors
/// Returns the name of the first filter that has no codec.
pub(crate) fn codecs(filters: &[FilterInfo]) -> Result<Vec<Json>, String> {
    let mut keeps_length = true;
    let mut codecs = Vec::with_capacity(filters.len());
    for filter in filters {
        // The codec `shuffle` needs whole elements, so only bytes of unchanged length are safe.
        if filter.id == SHUFFLE && !keeps_length {
            return Err("filter shuffle after another filter".to_owned());
        }
        codecs.push(codec(filter)?);
        keeps_length &= filter.id == SHUFFLE;
    }
    Ok(codecs)
}

fn codec(filter: &FilterInfo) -> Result<Json, String> {
    let parameter = |at: usize| filter.client_data.get(at).copied();
    let level = |default: u32| Json::Integer(i128::from(parameter(0).unwrap_or(default)));
    match filter.id {
        DEFLATE => Ok(Json::object([("id", Json::text("zlib")), ("level", level(6))])),
        SHUFFLE => match parameter(0) {
            Some(size) => {
                let size = Json::Integer(i128::from(size));
                Ok(Json::object([("id", Json::text("shuffle")), ("elementsize", size)]))
            }
            None => Err("filter shuffle without an element size".to_owned()),
        },
        FLETCHER32 => Ok(Json::object([("id", Json::text("fletcher32"))])),
        BZIP2 => Ok(Json::object([("id", Json::text("bz2")), ("level", level(9))])),
        ZSTD => Ok(Json::object([("id", Json::text("zstd")), ("level", level(3))])),
        BLOSC => {
            let code = parameter(6).unwrap_or(0);
            let known = BLOSC_CODECS.iter().find(|(number, _)| *number == code);
            let name = known.map(|(_, name)| *name).ok_or("filter blosc with this compressor")?;
            Ok(Json::object([
                ("id", Json::text("blosc")),
                ("cname", Json::text(name)),
                ("clevel", Json::Integer(i128::from(parameter(4).unwrap_or(5)))),
                ("shuffle", Json::Integer(i128::from(parameter(5).unwrap_or(1)))),
                ("blocksize", Json::Integer(0)),
            ]))
        }
        id => Err(match &filter.name {
            Some(name) => format!("filter {name} ({id})"),
            None => format!("filter {id}"),
        }),
    }
}

/// Returns the codecs of recoded chunks: zstd, after a shuffle of elements of several bytes.
pub(crate) fn recoded(element_size: u32) -> Vec<Json> {
    let zstd = Json::object([("id", Json::text("zstd")), ("level", Json::Integer(3))]);
    let size = Json::Integer(i128::from(element_size));
    let shuffle = Json::object([("id", Json::text("shuffle")), ("elementsize", size)]);
    if element_size > 1 { vec![shuffle, zstd] } else { vec![zstd] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(id: u16, client_data: &[u32]) -> FilterInfo {
        FilterInfo { id, name: None, flags: 0, client_data: client_data.to_vec() }
    }

    #[test]
    fn known_filters_have_codecs() {
        let found = codecs(&[filter(2, &[4]), filter(1, &[7]), filter(3, &[])]).unwrap();
        let texts: Vec<String> = found.iter().map(Json::to_string).collect();
        let expected =
            [r#"{"id":"shuffle","elementsize":4}"#, r#"{"id":"zlib","level":7}"#, r#"{"id":"fletcher32"}"#];
        assert_eq!(texts, expected);
        let blosc = codecs(&[filter(32001, &[2, 2, 4, 4096, 9, 2, 1])]).unwrap();
        assert!(blosc[0].to_string().contains(r#""cname":"lz4","clevel":9,"shuffle":2"#));
    }

    #[test]
    fn other_filters_are_named() {
        assert_eq!(codecs(&[filter(4, &[])]).unwrap_err(), "filter 4");
        assert!(codecs(&[filter(32001, &[2, 2, 4, 4096, 9, 2, 3])]).is_err());
        assert!(codecs(&[filter(1, &[7]), filter(2, &[4])]).is_err());
    }
}
