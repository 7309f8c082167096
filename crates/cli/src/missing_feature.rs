//! The error of commands that need a part with which this program was not built.

/// Returns the error of a command that needs `parts`, such as "Parquet tables".
pub(crate) fn missing_feature(parts: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "unsupported: this build has no {parts}; `cargo install --path crates/cli --features full` installs a build with all parts"
    )
}
