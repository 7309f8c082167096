//! The storage options of files at URLs.

use std::time::Duration;

use hyperslab::OpenOptions;
use hyperslab_cloud::CloudOptions;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the options for a file at a URL. Names that this package does not know are settings of
/// the store.
pub(crate) fn cloud_options(storage: &Bound<'_, PyDict>, opening: OpenOptions) -> PyResult<CloudOptions> {
    let mut options = CloudOptions::new().open_options(opening);
    for (name, value) in storage {
        let name: String = name.extract()?;
        options = match name.as_str() {
            "cache" => options.cache(value.extract()?),
            "parallel" => options.parallel(value.extract()?),
            "line" => options.line(value.extract()?),
            "first" => options.first(value.extract()?),
            "anonymous" => options.anonymous(value.extract()?),
            "plain_credentials" => options.plain_credentials(value.extract()?),
            "retries" => options.retries(value.extract()?),
            "deadline" => {
                let seconds = Duration::try_from_secs_f64(value.extract()?);
                options.deadline(seconds.map_err(|error| PyValueError::new_err(error.to_string()))?)
            }
            _ => options.config(name, value.str()?.to_string()),
        };
    }
    Ok(options)
}
