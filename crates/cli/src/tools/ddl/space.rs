//! Dataspaces in the data description language.

use hyperslab::Dataspace;

/// Returns the text of a dataspace, such as `SIMPLE { ( 4, 5 ) / ( H5S_UNLIMITED, 5 ) }`.
pub(crate) fn dataspace(space: &Dataspace) -> String {
    match space {
        Dataspace::Null => "NULL".into(),
        Dataspace::Scalar => "SCALAR".into(),
        Dataspace::Simple(extent) => {
            let dims: Vec<String> = extent.dims.iter().map(u64::to_string).collect();
            let shown =
                |size: &Option<u64>| size.map_or_else(|| "H5S_UNLIMITED".into(), |size| size.to_string());
            let maximum =
                extent.max_dims.as_ref().map(|maximum| maximum.iter().map(shown).collect::<Vec<String>>());
            let maximum = maximum.unwrap_or_else(|| dims.clone());
            format!("SIMPLE {{ ( {} ) / ( {} ) }}", dims.join(", "), maximum.join(", "))
        }
    }
}

/// Formats a list of numbers, such as `( 1, 2 )`.
pub(crate) fn list(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("( {} )", numbers.join(", "))
}
