//! The names of the server that requests may use in the header `Host`. A page of another site
//! whose name leads to this machine (DNS rebinding) has another name.

use std::net::IpAddr;

/// The names of the server.
#[derive(Debug, Clone)]
pub(super) struct Hosts {
    /// The address to which the server is bound.
    address: IpAddr,
    /// Further names.
    names: Vec<String>,
}

impl Hosts {
    pub(super) fn new(address: IpAddr, names: Vec<String>) -> Self {
        Self { address, names }
    }

    /// Returns true if the value of a header `Host` is a name of the server. The port does not
    /// count, because it can be that of a tunnel.
    pub(super) fn allows(&self, header: &str) -> bool {
        let host = without_port(header);
        if self.names.iter().any(|name| name.eq_ignore_ascii_case(host)) {
            return true;
        }
        let is_local = self.address.is_loopback() || self.address.is_unspecified();
        if host.eq_ignore_ascii_case("localhost") {
            return is_local;
        }
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        // Names lead to addresses, but an address leads to nothing else.
        let Ok(address) = bare.parse::<IpAddr>() else { return false };
        address == self.address || self.address.is_unspecified() || is_local && address.is_loopback()
    }
}

fn without_port(header: &str) -> &str {
    match header.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|digit| digit.is_ascii_digit()) && !host.ends_with(':') => {
            host
        }
        _ => header,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_server_are_allowed() {
        let local = Hosts::new(IpAddr::from([127, 0, 0, 1]), vec!["lab.example.org".into()]);
        for good in
            ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000", "lab.example.org", "127.0.0.1"]
        {
            assert!(local.allows(good), "{good}");
        }
        for bad in [
            "evil.example:8000",
            "",
            "10.0.0.1:8000",
            "localhost.evil.example",
            "lab.example.org.evil:1",
            ":",
        ] {
            assert!(!local.allows(bad), "{bad}");
        }
        let all = Hosts::new(IpAddr::from([0, 0, 0, 0]), Vec::new());
        assert!(all.allows("10.0.0.1:8000") && all.allows("[fe80::1]:1") && all.allows("localhost"));
        assert!(!all.allows("evil.example"));
        let one = Hosts::new(IpAddr::from([10, 0, 0, 1]), Vec::new());
        assert!(one.allows("10.0.0.1") && !one.allows("10.0.0.2") && !one.allows("localhost"));
    }
}
