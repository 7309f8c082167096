//! Whether files are locked, where nobody says so: the one place that reads the environment.

use hyperslab_engine::store::FileLocking;

/// As libhdf5 has it.
const VARIABLE: &str = "HDF5_USE_FILE_LOCKING";

/// What was chosen, else what the environment says.
pub(crate) fn choose(chosen: Option<FileLocking>) -> FileLocking {
    chosen.unwrap_or_else(|| said(std::env::var(VARIABLE).ok().as_deref()))
}

/// What a value of the variable means. Values that libhdf5 does not know either are as none.
fn said(value: Option<&str>) -> FileLocking {
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
    fn the_environment_speaks_as_to_libhdf5() {
        let values = ["TRUE", "1", "FALSE", "0", "BEST_EFFORT", "false", ""];
        let said = values.map(|value| said(Some(value)));
        use FileLocking::{BestEffort, Off, On};
        assert_eq!(said, [On, On, Off, Off, BestEffort, BestEffort, BestEffort]);
        assert_eq!(super::said(None), BestEffort);
        assert_eq!(choose(Some(Off)), Off);
    }
}
