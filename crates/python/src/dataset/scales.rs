//! Dimension scales.
