//! The default of file locking, which an environment variable sets. No other module reads the
//! environment.

use hyperslab_engine::store::FileLocking;

/// The name of the environment variable by which libhdf5 controls file locking.
const VARIABLE: &str = "HDF5_USE_FILE_LOCKING";

/// Returns the file locking that the caller has chosen, or else the file locking that the
/// environment variable states.
pub(crate) fn choose(chosen: Option<FileLocking>) -> FileLocking {
    chosen.unwrap_or_else(|| parse(std::env::var(VARIABLE).ok().as_deref()))
}

/// Parses the value of the environment variable for file locking. Values that libhdf5 does not know
/// count as not set.
fn parse(value: Option<&str>) -> FileLocking {
    match value {
        Some("TRUE" | "1") => FileLocking::On,
        Some("FALSE" | "0") => FileLocking::Off,
        _ => FileLocking::BestEffort,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_variable_mean_what_libhdf5_means() {
        let values = ["TRUE", "1", "FALSE", "0", "BEST_EFFORT", "false", ""];
        let parsed = values.map(|value| parse(Some(value)));
        use FileLocking::{BestEffort, Off, On};
        assert_eq!(parsed, [On, On, Off, Off, BestEffort, BestEffort, BestEffort]);
        assert_eq!(parse(None), BestEffort);
        assert_eq!(choose(Some(Off)), Off);
    }
}
