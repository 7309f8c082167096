//! The commands in a build without the web server.

use anyhow::Result;

use super::{ServeArguments, ViewArguments};
use crate::missing_feature::missing_feature;

pub(super) fn serve(_: &ServeArguments) -> Result<()> {
    Err(missing_feature("web server"))
}

pub(super) fn view(_: &ViewArguments) -> Result<()> {
    Err(missing_feature("web server"))
}
