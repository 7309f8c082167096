//! The server with real sockets: tokens, hosts, origins, confinement, ranges, limits.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a failed test panics")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hyperslab::{File, FileOptions, Limits};
use hyperslab_serve::grove::AnswerLimits;
use hyperslab_serve::{Disk, Server, ServerOptions, Token};
use hyperslab_testkit::{corpus, fixtures};

const TOKEN: &str = "0123456789abcdef";

/// A running server. Its thread ends with the process.
struct Running {
    address: SocketAddr,
    url: String,
}

struct Response {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Running {
    fn start(paths: &[PathBuf], options: ServerOptions) -> Self {
        let disk = Disk::new(paths, Limits::cautious(), 64 << 20, false).unwrap();
        let server = Server::bind(options, disk).unwrap();
        let (address, url) = (server.address().unwrap(), server.url().unwrap());
        std::thread::spawn(move || server.run().unwrap());
        Self { address, url }
    }

    fn open(path: &Path) -> Self {
        Self::start(&[path.to_owned()], ServerOptions::default())
    }

    fn with_token(path: &Path) -> Self {
        let token = Some(Token::chosen(TOKEN).unwrap());
        Self::start(&[path.to_owned()], ServerOptions { token, ..ServerOptions::default() })
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
        let host = self.address.to_string();
        let has_host = headers.iter().any(|(name, _)| *name == "Host");
        let own = [("Host", host.as_str()), ("Connection", "close")];
        let own = if has_host { &own[1..] } else { &own[..] };
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in own.iter().chain(headers) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        self.raw(format!("{request}\r\n").as_bytes())
    }

    fn raw_bytes(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        bytes
    }

    fn raw(&self, request: &[u8]) -> Response {
        let bytes = self.raw_bytes(request);
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut body = bytes.get(end + 4..).unwrap_or(&[]).to_vec();
        if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            body = without_chunks(&body);
        }
        Response { status, head, body }
    }

    fn get(&self, path: &str) -> Response {
        self.send("GET", path, &[])
    }
}

fn without_chunks(mut body: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = body.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        all.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[end + 4 + size..];
    }
    all
}

/// The largest number of objects of one malformed file that the test asks for.
const MOST_PATHS: usize = 12;

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// Creates a folder with a file `a.h5`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("a.h5")).unwrap();
    file.new_dataset("data").write(&[1, 2, 3]).unwrap();
    file.close().unwrap();
    folder
}

#[test]
fn requests_need_the_token() {
    let folder = folder();
    let server = Running::with_token(folder.path());
    let paths = [
        "/",
        "/page/viewer.js",
        "/api/meta?file=a.h5",
        "/meta?file=a.h5",
        "/files/a.h5",
        "/api/list",
        "/none",
    ];
    for path in paths {
        assert_eq!(server.get(path).status, 401, "{path}");
        assert_eq!(
            server.send("GET", path, &[("Authorization", "Bearer 0123456789abcdeX")]).status,
            401,
            "{path}"
        );
    }
    for path in ["/?token=", "/?token=0123456789abcde", "/?token=0123456789abcdefg"] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
    assert_eq!(server.get("/healthz").status, 200);
    let page = server.get(&format!("/?file=a.h5&token={TOKEN}"));
    assert_eq!(page.status, 200);
    let cookie = page.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(server.url.ends_with(&format!("/?token={TOKEN}")), "{}", server.url);
    let pair = cookie.split(';').next().unwrap();
    let with_cookie = |path| server.send("GET", path, &[("Cookie", &format!("other=1; {pair}"))]);
    assert!(with_cookie("/api/meta?file=a.h5").text().contains("\"children\""));
    assert!(with_cookie("/").header("set-cookie").is_none());
    assert_eq!(
        server.send("GET", "/files/a.h5", &[("Authorization", &format!("Bearer {TOKEN}"))]).status,
        200
    );
    assert_eq!(server.get(&format!("/api/meta?file=a.h5&token={TOKEN}")).status, 200);
}

#[test]
fn a_browser_is_opened_with_a_token_for_one_request() {
    let folder = folder();
    let disk = Disk::new(&[folder.path().join("a.h5")], Limits::cautious(), 0, false).unwrap();
    let options = ServerOptions { token: Some(Token::random().unwrap()), ..ServerOptions::default() };
    let server = Server::bind(options, disk).unwrap();
    let (address, opening) = (server.address().unwrap(), server.opening_url().unwrap());
    let running = Running { address, url: server.url().unwrap() };
    std::thread::spawn(move || server.run().unwrap());
    assert_ne!(opening, running.url);
    let path = opening.strip_prefix(&format!("http://{address}")).unwrap();
    assert_eq!(running.get(&path.replace("/?", "/api/meta?")).status, 401);
    assert!(running.get(path).header("set-cookie").is_some());
    assert_eq!(running.get(path).status, 401);
}

#[test]
fn other_hosts_methods_and_sites_are_refused() {
    let folder = folder();
    let server = Running::open(folder.path());
    for host in ["evil.example", "evil.example:80", "10.0.0.1", ""] {
        assert_eq!(server.send("GET", "/api/", &[("Host", host)]).status, 403, "{host}");
    }
    assert_eq!(server.send("GET", "/api/", &[("Host", "localhost")]).status, 200);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
        let response = server.send(method, "/api/meta?file=a.h5", &[("Content-Length", "0")]);
        assert_eq!((response.status, response.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
    let head = server.send("HEAD", "/api/data?file=a.h5&path=data&format=bin", &[]);
    assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("12"), 0));
    let foreign = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")];
    assert_eq!(server.send("GET", "/api/meta?file=a.h5", &foreign).status, 403);
    let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")];
    assert_eq!(server.send("GET", "/", &link).status, 200);
    let own = [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "cors")];
    assert_eq!(server.send("GET", "/api/meta?file=a.h5", &own).status, 200);
}

#[test]
fn answers_have_headers_of_security() {
    let folder = folder();
    let server = Running::open(folder.path());
    for path in ["/", "/none", "/api/meta?file=none.h5", "/files/a.h5"] {
        let response = server.get(path);
        let policy = response.header("content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("'unsafe-eval'"));
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(response.header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(response.header("access-control-allow-origin"), None, "{path}");
    }
    let origin = "https://lab.example";
    let options = ServerOptions {
        origins: vec![origin.into()],
        frame_ancestors: vec![origin.into()],
        ..ServerOptions::default()
    };
    let shared = Running::start(&[folder.path().to_owned()], options);
    let foreign = [("Origin", origin), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors")];
    let response = shared.send("GET", "/api/meta?file=a.h5", &foreign);
    assert_eq!((response.status, response.header("access-control-allow-origin")), (200, Some(origin)));
    assert_eq!(response.header("x-frame-options"), None);
    let evil =
        [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors")];
    let response = shared.send("GET", "/api/meta?file=a.h5", &evil);
    assert_eq!((response.status, response.header("access-control-allow-origin")), (403, None));
}

#[test]
fn the_page_is_part_of_the_program() {
    let folder = folder();
    let server = Running::open(folder.path());
    assert!(server.get("/").text().contains("page/viewer.js"));
    let packed = server.send("GET", "/page/viewer.js", &[("Accept-Encoding", "br, gzip")]);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let plain = server.send("GET", "/page/viewer.js", &[("Accept-Encoding", "gzip;q=0")]);
    assert!(plain.header("content-encoding").is_none() && plain.body.len() > packed.body.len());
    assert!(server.get("/page/licenses.txt").text().contains("@h5web/app"));
    assert_eq!(server.get("/page/../Cargo.toml").status, 404);
}

#[test]
fn files_are_read_by_ranges() {
    let folder = folder();
    let bytes = std::fs::read(folder.path().join("a.h5")).unwrap();
    let server = Running::open(folder.path());
    let whole = server.get("/files/a.h5");
    assert!(whole.body == bytes && whole.header("accept-ranges") == Some("bytes"));
    let tag = whole.header("etag").unwrap().to_owned();
    let part = |headers: &[(&str, &str)]| server.send("GET", "/files/a.h5", headers);
    let first = part(&[("Range", "bytes=0-7"), ("If-Match", &tag), ("If-Range", &tag)]);
    assert_eq!((first.status, first.body.as_slice()), (206, &bytes[..8]));
    assert_eq!(first.header("content-range"), Some(format!("bytes 0-7/{}", bytes.len()).as_str()));
    let last = part(&[("Range", "bytes=-5")]);
    assert_eq!(last.body, bytes[bytes.len() - 5..]);
    let beyond = part(&[("Range", &format!("bytes={}-", bytes.len()))]);
    assert_eq!(
        (beyond.status, beyond.header("content-range")),
        (416, Some(format!("bytes */{}", bytes.len()).as_str()))
    );
    assert_eq!(part(&[("If-Match", "\"other\"")]).status, 412);
    assert_eq!(part(&[("If-None-Match", &tag)]).status, 304);
    assert_eq!(part(&[("Range", "bytes=0-7"), ("If-Range", "\"other\"")]).status, 200);
    let head = server.send("HEAD", "/files/a.h5", &[("Range", "bytes=0-7")]);
    assert_eq!((head.status, head.header("content-length"), head.body.len()), (206, Some("8"), 0));
    // A change of the file changes its tag.
    let file = FileOptions::new().create(folder.path().join("a.h5")).unwrap();
    file.new_dataset("more").write(&[0; 100]).unwrap();
    file.close().unwrap();
    assert_eq!(part(&[("Range", "bytes=0-7"), ("If-Match", &tag)]).status, 412);
    assert!(server.get("/api/meta?file=a.h5").text().contains("more"));
}

#[test]
fn equal_requests_have_the_answer_of_the_present_file() {
    let folder = folder();
    let path = folder.path().join("a.h5");
    let server = Running::open(folder.path());
    let write = |values: [i32; 3], seconds: u64| {
        let file = FileOptions::new().create(&path).unwrap();
        file.new_dataset("data").write(&values).unwrap();
        file.close().unwrap();
        let changed = std::fs::File::options().write(true).open(&path).unwrap();
        changed.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    let data = "/api/data?file=a.h5&path=data";
    let missing = "/api/data?file=a.h5&path=more";
    for (number, values) in [(1_u64, [4, 5, 6]), (2, [7, 8, 9])] {
        write(values, 1_000_000_000 + number);
        let [one, two, three] = values;
        for _ in 0..3 {
            assert_eq!(server.get(data).text(), format!("[{one},{two},{three}]"));
            assert_eq!(server.get(&format!("{data}&selection=1")).text(), two.to_string());
            let bytes = server.get(&format!("{data}&format=bin"));
            assert_eq!(bytes.body, values.map(i32::to_le_bytes).concat());
            assert_eq!(bytes.header("content-type"), Some("application/octet-stream"));
            let head = server.send("HEAD", &format!("{data}&format=bin"), &[]);
            assert_eq!((head.header("content-length"), head.body.len()), (Some("12"), 0));
            assert_eq!(server.get("/api/stats?file=a.h5&path=data").status, 200);
            assert_eq!((server.get(missing).status, server.get("/api/none?file=a.h5").status), (404, 404));
        }
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(server.get(data).status, 404);
}

#[cfg(unix)]
#[test]
fn nothing_outside_of_the_folder_is_read() {
    use std::os::unix::fs::symlink;
    let outside = folder();
    let secret = outside.path().join("secret.h5");
    std::fs::rename(outside.path().join("a.h5"), &secret).unwrap();
    std::fs::write(outside.path().join("raw.bin"), [7_u8; 12]).unwrap();
    let folder = folder();
    symlink(&secret, folder.path().join("link.h5")).unwrap();
    symlink(outside.path(), folder.path().join("sub")).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "private").unwrap();
    let file = File::create(folder.path().join("links.h5")).unwrap();
    file.link_external("absolute", "/etc/passwd", "/data").unwrap();
    file.link_external("other", secret.to_str().unwrap(), "/data").unwrap();
    file.link_external("relative", "../../../../../etc/passwd", "/data").unwrap();
    file.link_external("good", "a.h5", "/data").unwrap();
    let raw = outside.path().join("raw.bin");
    file.new_dataset("raw")
        .of::<i32>()
        .shape(&[3])
        .external(&[(raw.to_str().unwrap(), 0, Some(12))])
        .create()
        .unwrap();
    file.close().unwrap();
    let server = Running::open(folder.path());
    let outside_name = outside.path().to_str().unwrap();
    for name in [
        "link.h5",
        "sub/secret.h5",
        "../a.h5",
        "%2e%2e/a.h5",
        secret.to_str().unwrap(),
        "/etc/passwd",
        "%00",
        "a.h5%00.h5",
    ] {
        for path in [format!("/api/meta?file={name}"), format!("/files/{name}")] {
            let response = server.get(&path);
            assert!(matches!(response.status, 400 | 404), "{path}: {}", response.status);
            assert!(!response.text().contains(outside_name), "{path}: {}", response.text());
        }
    }
    assert_eq!(server.get("/files/notes.txt").status, 403);
    let list = server.get("/api/list").text();
    assert!(
        list.contains("links.h5")
            && !list.contains("link.h5")
            && !list.contains("sub")
            && !list.contains("notes"),
        "{list}"
    );
    assert_eq!(server.get("/api/data?file=links.h5&path=good").text(), "[1,2,3]");
    for name in ["absolute", "other", "relative"] {
        assert_eq!(
            server.get(&format!("/api/meta?file=links.h5&path={name}&resolve_links=all")).status,
            404,
            "{name}"
        );
    }
    let raw = server.get("/api/data?file=links.h5&path=raw");
    // The name of the raw file is in the HDF5 file; the folder of the server is not.
    assert!(raw.status == 404 && !raw.text().contains(folder.path().to_str().unwrap()), "{}", raw.text());
}

#[test]
fn one_file_has_its_neighbours() {
    let folder = folder();
    let file = File::create(folder.path().join("master.h5")).unwrap();
    file.link_external("part", "a.h5", "/data").unwrap();
    file.close().unwrap();
    let server = Running::open(&folder.path().join("master.h5"));
    assert!(server.url.contains("file=master%2Eh5"), "{}", server.url);
    assert_eq!(server.get("/api/data?path=part").text(), "[1,2,3]");
    assert_eq!(server.get("/api/data?file=a.h5&path=data").status, 404);
}

#[test]
fn large_selections_are_refused_or_sent_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("big.h5")).unwrap();
    // 80 GB of fill values.
    file.new_dataset("huge").of::<f64>().shape(&[100_000, 100_000]).chunks(&[100, 100]).create().unwrap();
    file.new_dataset("rank").of::<u8>().shape(&[1 << 40, 1 << 20]).chunks(&[1, 1]).create().unwrap();
    file.close().unwrap();
    let limits = AnswerLimits { response_bytes: 32 << 20, ..AnswerLimits::default() };
    let server =
        Running::start(&[folder.path().to_owned()], ServerOptions { limits, ..ServerOptions::default() });
    for path in ["huge", "rank"] {
        for format in ["json", "bin", "npy", "csv", "tiff"] {
            let response = server.get(&format!("/api/data?file=big.h5&path={path}&format={format}"));
            assert_eq!(response.status, 422, "{path} {format}");
            assert!(response.text().contains("select less"), "{}", response.text());
        }
    }
    let part = server.get("/api/data?file=big.h5&path=huge&selection=0:2000,0:2000&format=bin");
    assert_eq!(
        (part.status, part.header("content-length"), part.body.len()),
        (200, Some("32000000"), 32_000_000)
    );
    let text = server.get("/api/data?file=big.h5&path=huge&selection=0:1000,0:1000&flatten=true");
    assert!(text.body.starts_with(b"[0.0,0.0,") && text.body.len() == 4_000_001, "{}", text.body.len());
}

#[test]
fn a_body_that_fails_has_no_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.h5");
    let file = File::create(&path).unwrap();
    let values: Vec<i32> = (0..2000).collect();
    let dataset = file.new_dataset("d").chunks(&[1000]).fletcher32().write(&values).unwrap();
    file.flush().unwrap();
    let address = usize::try_from(dataset.chunks().list().unwrap()[1].address).unwrap();
    drop(dataset);
    file.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[address + 50] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let limits = AnswerLimits { piece_bytes: 4000, ..AnswerLimits::default() };
    let server =
        Running::start(&[folder.path().to_owned()], ServerOptions { limits, ..ServerOptions::default() });
    let get = |query: &str| {
        let path = format!("/api/data?file=damaged.h5&path=d&{query}");
        let close = "Connection: close";
        server.raw_bytes(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{close}\r\n\r\n").as_bytes())
    };
    let whole = get("format=json&selection=:1000");
    assert!(whole.ends_with(b"998,999]"), "{}", String::from_utf8_lossy(&whole));
    let part = get("format=json");
    assert!(part.starts_with(b"HTTP/1.1 200") && !part.ends_with(b"0\r\n\r\n"));
    let part = get("format=bin");
    assert!(String::from_utf8_lossy(&part).contains("content-length: 8000") && part.len() < 8000);
    assert!(get("selection=1500").starts_with(b"HTTP/1.1 422"));
}

#[test]
fn clients_that_go_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("big.h5")).unwrap();
    file.new_dataset("d").of::<f64>().shape(&[10_000_000]).chunks(&[100_000]).create().unwrap();
    file.close().unwrap();
    let options = ServerOptions { requests: 2, timeout: Duration::from_secs(5), ..ServerOptions::default() };
    let server = Running::start(&[folder.path().to_owned()], options);
    for _ in 0..8 {
        let mut stream = TcpStream::connect(server.address).unwrap();
        write!(
            stream,
            "GET /api/data?file=big.h5&path=d&format=bin HTTP/1.1\r\nHost: {}\r\n\r\n",
            server.address
        )
        .unwrap();
        let mut start = [0; 100];
        stream.read_exact(&mut start).unwrap();
    }
    assert_eq!(server.get("/api/data?file=big.h5&path=d&selection=0:3").text(), "[0.0,0.0,0.0]");
}

#[test]
fn malformed_requests_have_answers() {
    let folder = folder();
    let server = Running::open(folder.path());
    let long = format!("GET /api/meta?file={} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X-A: b\r\n".repeat(10_000));
    for request in
        [long.as_bytes(), many.as_bytes(), b"\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"]
    {
        let status = server.raw(request).status;
        assert!(matches!(status, 0 | 400..=499), "{status}");
    }
    for query in [
        "file=%",
        "file=%ff%fe",
        "file=a.h5&path=%ff",
        "&&&=&",
        "file=a.h5&path=/data/../../x",
        "file=a.h5&path=//data//",
    ] {
        let status = server.get(&format!("/api/meta?{query}")).status;
        assert!(matches!(status, 200 | 404 | 422), "{query}: {status}");
    }
    assert_eq!(server.get("/api/").text(), "ok");
}

#[test]
fn malformed_files_have_clear_failures() {
    let Some(folder) = corpus::dir() else { return };
    let server = Running::open(&folder.join("malformed"));
    let mut served = 0;
    let mut ask = |name: &str, endpoint: &str, rest: &str| {
        let file = encoded(name);
        let response = server.get(&format!("/api/{endpoint}?file={file}{rest}"));
        let text = response.text();
        let status = response.status;
        assert!(matches!(status, 200 | 404 | 422 | 500), "{endpoint} {name} {rest}: {status} {text}");
        assert!(!text.contains("internal error"), "{endpoint} {name} {rest}: {text}");
        served += 1;
        text
    };
    for entry in folder.join("malformed").read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        for endpoint in ["meta", "attr", "data", "stats"] {
            ask(&name, endpoint, "");
        }
        let paths = ask(&name, "paths", "&resolve_links=none");
        let paths: Vec<String> = serde_json::from_str(&paths).unwrap_or_default();
        for path in paths.iter().take(MOST_PATHS) {
            let path = format!("&path={}", encoded(path));
            for endpoint in ["meta", "attr", "stats", "data"] {
                ask(&name, endpoint, &path);
            }
            for rest in
                ["&selection=0", "&format=bin&dtype=safe", "&format=npy", "&format=csv", "&format=tiff"]
            {
                ask(&name, "data", &format!("{path}{rest}"));
            }
        }
    }
    assert!(served > 0 && server.get("/api/").text() == "ok");
}

#[test]
fn fixtures_are_listed() {
    let server = Running::open(fixtures::path("weather_station.h5").parent().unwrap());
    let list = server.get("/api/list").text();
    assert!(
        list.contains("weather_station.h5")
            && list.contains("\"kind\":\"folder\"")
            && !list.contains("README"),
        "{list}"
    );
    assert_eq!(server.get("/api/list?folder=none").status, 404);
}

#[test]
fn a_token_in_the_path_is_valid_for_all_addresses_below() {
    let folder = folder();
    let server = Running::with_token(folder.path());
    let page = server.get(&format!("/t/{TOKEN}/?file=a.h5"));
    assert!(page.status == 200 && page.text().contains("page/viewer.js"));
    assert!(page.header("set-cookie").is_none());
    let paths = ["page/viewer.js", "api/meta?file=a.h5&path=/data", "files/a.h5", "meta?file=a.h5"];
    for path in paths {
        assert_eq!(server.get(&format!("/t/{TOKEN}/{path}")).status, 200, "{path}");
        for wrong in ["", "0123456789abcdeX", "0123456789abcde", &TOKEN.repeat(2)] {
            assert_eq!(server.get(&format!("/t/{wrong}/{path}")).status, 401, "{wrong} {path}");
        }
    }
    assert_eq!(server.get(&format!("/t/{TOKEN}/none")).status, 404);
    assert_eq!(server.get(&format!("/t/{TOKEN}")).status, 401);
    // A page of another site may show the page in a frame, but may not read answers.
    let site = ("Sec-Fetch-Site", "cross-site");
    let meta = format!("/t/{TOKEN}/api/meta?file=a.h5");
    assert_eq!(server.send("GET", &meta, &[site, ("Sec-Fetch-Mode", "cors")]).status, 403);
    let page = format!("/t/{TOKEN}/?file=a.h5");
    assert_eq!(server.send("GET", &page, &[site, ("Sec-Fetch-Mode", "navigate")]).status, 200);
    let host = ("Host", "evil.example");
    assert_eq!(server.send("GET", &page, &[host]).status, 403);
}

#[cfg(unix)]
#[test]
fn hostile_names_are_data() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{}.h5", "n".repeat(252));
    let names = [
        "<script>alert(1)</script>.h5",
        "a\r\nX-Evil: 1\r\n\r\n<b>.h5",
        "\"quoted\".h5",
        "%2e%2e%2fa.h5",
        "a?file=b.h5&path=x#y.h5",
        "-rf.h5",
        "..h5",
        "tab\tand\u{7f}.h5",
        "\u{202e}5h.txt",
        "日本.h5",
        " ",
        &long,
    ];
    // The path of a file of Linux cannot have a slash; these names are components.
    let names: Vec<String> = names.iter().map(|name| name.replace('/', "\u{2215}")).collect();
    for name in &names {
        let file = File::create(folder.path().join(name)).unwrap();
        file.new_dataset("<img src=x onerror=alert(1)>\r\n").write(&[1, 2]).unwrap();
        file.root().set_attribute("\"></title><script>", "\u{2028}</script>").unwrap();
        file.close().unwrap();
    }
    let server = Running::open(folder.path());
    let list: serde_json::Value = serde_json::from_str(&server.get("/api/list").text()).unwrap();
    let listed: Vec<&str> =
        list.as_array().unwrap().iter().filter_map(|entry| entry["name"].as_str()).collect();
    for name in &names {
        // Backslashes, colons and null bytes separate components on some system.
        let is_plain = !name.contains(['\\', ':', '\0']);
        // Files that begin with a point are hidden, but can be named.
        let is_listed = is_plain && !name.starts_with('.');
        assert_eq!(listed.contains(&name.as_str()), is_listed, "{name:?} in {listed:?}");
        let addresses = [format!("/api/meta?file={}", encoded(name)), format!("/files/{}", encoded(name))];
        for address in addresses {
            let response = server.get(&address);
            assert_eq!(response.status, if is_plain { 200 } else { 404 }, "{address}");
            assert!(response.header("x-evil").is_none() && !response.head.contains("<"), "{}", response.head);
            let is_html = response.header("content-type").is_some_and(|kind| kind.contains("html"));
            assert!(!is_html && response.header("x-content-type-options") == Some("nosniff"), "{address}");
        }
    }
    let text = server.get(&format!("/api/paths?file={}", encoded("-rf.h5"))).text();
    let paths: Vec<String> = serde_json::from_str(&text).unwrap();
    assert_eq!(paths, ["/", "/<img src=x onerror=alert(1)>\r\n"]);
    let data = format!("/api/data?file={}&path={}", encoded("-rf.h5"), encoded(&paths[1]));
    assert_eq!(server.get(&data).text(), "[1,2]");
    let missing = server.get("/api/meta?file=%3Cscript%3E&path=%3Cscript%3E");
    assert!(missing.status == 404 && missing.header("content-type") == Some("application/json"));
}
