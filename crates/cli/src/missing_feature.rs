//! The error for a command that needs a feature that is missing in this build of the program.

/// Returns the error of a command that needs a part of the program that this build lacks. `parts`
/// names the part, such as "Parquet tables".
pub(crate) fn missing_feature(parts: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "unsupported: this build has no {parts}; `cargo install --path crates/cli --features full` installs a build with all parts"
    )
}
