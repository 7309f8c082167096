//! `hyperslab serve` and `hyperslab view`.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use hyperslab_testkit::program::Program;

/// A running server, which ends with the test.
struct Served {
    child: Child,
    _output: BufReader<ChildStdout>,
    url: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hyperslab"))
            .args(arguments)
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        output.read_line(&mut url).unwrap();
        Self { child, _output: output, url: url.trim().to_owned() }
    }

    fn get(&self, path: &str) -> String {
        let host = self.url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }
}

#[test]
fn a_file_is_served_with_a_token() {
    let served = Served::start(&["serve", "weather_station.h5"]);
    let (before, token) = served.url.split_once("token=").unwrap();
    assert!(before.ends_with("/?file=weather%5Fstation%2Eh5&"), "{before}");
    assert!(token.len() >= 22);
    assert!(served.get("/api/meta").starts_with("HTTP/1.1 401"));
    let answer = served.get(&format!("/api/meta?path=/series/temperature&token={token}"));
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"shape\":[8760]"), "{answer}");
}

#[test]
fn a_folder_is_served_without_a_token_on_request() {
    let served = Served::start(&["serve", ".", "--no-token"]);
    assert!(!served.url.contains('?'), "{}", served.url);
    assert!(served.get("/api/list").contains("weather_station.h5"));
    assert!(served.get("/api/meta?file=weather_station.h5").starts_with("HTTP/1.1 200"));
}

#[test]
fn wrong_arguments_have_clear_errors() {
    let refused = |arguments: &[&str]| {
        let output = Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().run(arguments);
        assert_ne!(output.code(), 0, "{arguments:?}");
        output.error().to_owned()
    };
    assert!(refused(&["serve", "none.h5"]).contains("cannot open `none.h5`"));
    assert!(refused(&["serve", ".", "--token", "short"]).contains("at least 16"));
    assert!(refused(&["view", "."]).contains("`hyperslab serve` shows folders"));
    assert!(refused(&["serve", "https://me:secret@host/a.h5"]).contains("`https://host/a.h5` is a URL"));
    assert!(
        refused(&["serve", ".", "--bind", "203.0.113.1"]).contains("cannot bind the server to 203.0.113.1")
    );
}
