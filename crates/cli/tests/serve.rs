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
fn the_page_without_a_server_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let program = || Program::new(env!("CARGO_BIN_EXE_hyperslab"));
    let arguments = ["serve", "--export-page", out.to_str().unwrap()];
    assert_eq!(program().run(arguments).code(), 0);
    let reader = std::fs::read(out.join("page/hyperslab.wasm")).unwrap();
    assert!(reader.starts_with(b"\0asm"));
    let start = std::fs::read_to_string(out.join("index.html")).unwrap();
    let names = ["page/viewer.js", "page/viewer.css"];
    assert!(names.iter().all(|name| start.contains(name) && out.join(name).is_file()));
    assert!(out.join("page/worker.js").is_file() && out.join("page/licenses.txt").is_file());
    // The page of an earlier call is replaced, files of others are not.
    assert_eq!(program().run(arguments).code(), 0);
    std::fs::remove_file(out.join("page/hyperslab.wasm")).unwrap();
    let refused = program().run(arguments);
    assert_ne!(refused.code(), 0);
    assert!(refused.error().contains("the folder has other files"), "{}", refused.error());
    assert_ne!(program().run(["serve", "--export-page", "out", "a.h5"]).code(), 0);
}

#[cfg(feature = "cloud")]
#[test]
fn a_file_at_a_url_is_served() {
    let first = Served::start(&["serve", ".", "--no-token"]);
    let url = format!("{}files/weather_station.h5", first.url);
    let served = Served::start(&["serve", &url, "--no-token"]);
    assert!(served.url.ends_with("/?file=weather%5Fstation%2Eh5"), "{}", served.url);
    let [meta, list] = [served.get("/api/meta?path=/series/temperature"), served.get("/api/list")];
    assert!(meta.starts_with("HTTP/1.1 200") && meta.contains("\"shape\":[8760]"), "{meta}");
    assert!(list.contains("weather_station.h5"), "{list}");
    let query = "path=/series/temperature&selection=0:50&format=csv";
    let [near, far] = [&first, &served].map(|server| {
        server
            .get(&format!("/api/data?file=weather_station.h5&{query}"))
            .split_once("\r\n\r\n")
            .unwrap()
            .1
            .to_owned()
    });
    assert_eq!(near, far);
    assert!(served.get("/files/weather_station.h5").starts_with("HTTP/1.1 404"));
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
    let message = refused(&["serve", "file:///none/a.h5"]);
    assert!(message.contains("cannot open `file:///none/a.h5`"), "{message}");
    assert!(
        refused(&["serve", ".", "--bind", "203.0.113.1"]).contains("cannot bind the server to 203.0.113.1")
    );
}
