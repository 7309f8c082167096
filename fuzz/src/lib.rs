//! What the fuzz targets share: the law that every structure keeps, and checksums made right again.
//!
//! The input of a target for one structure begins with eight control bytes, all of which may be zero: they choose
//! what the bytes behind them depend on (widths, addresses, K values). Seeds are zeros and a piece of a fixture.

pub mod control;
pub mod law;
pub mod mutate;
pub mod repair;
pub mod seal;
pub mod side;
pub mod walk;
