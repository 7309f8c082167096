//! The conversion of seconds since 1970-01-01 to dates.

/// The number of seconds in a day.
const DAY_SECONDS: i64 = 86_400;

/// The number of days in 400 years, after which the Gregorian calendar repeats.
const ERA_DAYS: i64 = 146_097;

/// Formats a time in seconds since 1970-01-01, such as `2015-03-03 08:05:15 UTC`.
pub(crate) fn utc(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
    // Years begin with March here, so that the leap day is the last day of a year. Eras have 400
    // years; the first era began on 0000-03-01. The number of days is far below 64 bits.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_425_369_915, "2015-03-03 08:05:15 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(seconds), expected);
        }
        // Any number of seconds has a date.
        assert!(utc(i64::MAX).ends_with("UTC") && utc(i64::MIN).ends_with("UTC"));
    }
}
