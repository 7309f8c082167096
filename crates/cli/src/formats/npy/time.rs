//! NumPy's times and durations, `M8[ns]` and `m8[ns]`. HDF5 stores times as integers of 64 bits,
//! with an attribute `units` in the notation of the climate and forecast (CF) conventions.

/// The size of a NumPy time value, in bytes.
pub(super) const BYTES: u32 = 8;

/// The name of the attribute with the unit of a dataset.
pub(crate) const UNITS: &str = "units";

/// The text at the end of a CF time unit whose times count from 1970, as in NumPy.
const EPOCH: &str = " since 1970-01-01";

/// The names of time units: in NumPy, and in the CF conventions.
const NAMES: [(&str, &str); 8] = [
    ("W", "weeks"),
    ("D", "days"),
    ("h", "hours"),
    ("m", "minutes"),
    ("s", "seconds"),
    ("ms", "milliseconds"),
    ("us", "microseconds"),
    ("ns", "nanoseconds"),
];

/// Returns the CF unit for a time type of NumPy such as `M8[ns]`. Returns `None` for other types,
/// and for units that have no name in the CF conventions.
pub(super) fn units_of(name: &str) -> Option<String> {
    let (kind, unit) = name.strip_suffix(']')?.split_once("8[")?;
    let (_, long) = NAMES.iter().find(|(short, _)| *short == unit)?;
    match kind {
        "M" => Some(format!("{long}{EPOCH}")),
        "m" => Some((*long).to_owned()),
        _ => None,
    }
}

/// Returns the NumPy time type for 64-bit integers with a CF unit. Returns `None` for units that
/// NumPy does not have.
pub(super) fn type_of(units: &str) -> Option<String> {
    let (kind, long) =
        match units.strip_suffix(EPOCH).or_else(|| units.strip_suffix(" since 1970-01-01T00:00:00")) {
            Some(long) => ("M8", long),
            None => ("m8", units),
        };
    let (short, _) = NAMES.iter().find(|(_, name)| *name == long)?;
    Some(format!("{kind}[{short}]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_back() {
        for name in ["M8[ns]", "M8[D]", "m8[ms]"] {
            let units = units_of(name).unwrap();
            assert_eq!(type_of(&units).as_deref(), Some(name), "{units}");
        }
        assert_eq!(units_of("M8[D]").as_deref(), Some("days since 1970-01-01"));
        for name in ["M8", "M8[Y]", "f8[ns]", "M8[2s]"] {
            assert_eq!(units_of(name), None, "{name}");
        }
        for units in ["K", "days since 1900-01-01", "ns"] {
            assert_eq!(type_of(units), None, "{units}");
        }
    }
}
