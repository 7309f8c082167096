//! Commands that read files at URLs: the output is the same as for the file on disk.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::web::Server;
use hyperslab_testkit::{fixtures, workspace};

fn hyperslab(arguments: &[&str]) -> Run {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_fixtures().run(arguments)
}

/// Starts a server with a fixture.
fn serve(fixture: &str) -> (Server, String) {
    let server = Server::start().unwrap();
    server.put(&format!("data/{fixture}"), std::fs::read(fixtures::path(fixture)).unwrap());
    let url = server.url(&format!("data/{fixture}"));
    (server, url)
}

#[test]
fn reading_commands_take_urls() {
    let fixture = "weather_station.h5";
    let (_server, url) = serve(fixture);
    for arguments in [
        &["tree", "FILE"][..],
        &["ls", "-r", "FILE"],
        &["info", "--json", "FILE", "series/temperature"],
        &["cat", "FILE", "series/temperature"],
        &["head", "FILE", "series/temperature"],
        &["find", "FILE", "--type", "dataset"],
        &["digest", "FILE"],
        &["check", "FILE"],
        &["stat", "--json", "FILE"],
        &["h5dump", "FILE"],
        &["h5ls", "-r", "FILE"],
        &["h5stat", "FILE"],
        &["export", "FILE", "series/temperature", "-"],
    ] {
        let with =
            |name: &str| -> Vec<String> { arguments.iter().map(|word| word.replace("FILE", name)).collect() };
        let run = |name: &str| {
            let words = with(name);
            hyperslab(&words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let (local, remote) = (run(fixture), run(&url));
        assert_eq!(remote.code(), local.code(), "{arguments:?}: {}", remote.error());
        let same = |text: &str| text.replace(&url, fixture).replace("\"other\"", "\"sec2\"");
        assert_eq!(same(remote.out()), same(local.out()), "{arguments:?}");
    }
    let run = hyperslab(&["diff", fixture, &url]);
    assert_eq!(run.code(), 0, "{}", run.error());
}

#[test]
fn whole_files_are_copied_from_and_to_urls() {
    let fixture = "weather_station.h5";
    let (_server, url) = serve(fixture);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.h5");
    let name = copy.to_str().unwrap();
    assert_eq!(hyperslab(&["cp", &url, name]).code(), 0);
    assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(fixtures::path(fixture)).unwrap());
    // The copy has the mode of any new file.
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions();
    assert_eq!(mode(&copy), mode(&plain));
    std::fs::remove_file(plain).unwrap();
    let again = hyperslab(&["cp", &url, name]);
    assert!(again.code() != 0 && again.error().contains("exists"), "{}", again.error());
    let other = format!("file://{}", folder.path().join("other.h5").display());
    assert_eq!(hyperslab(&["cp", &url, &other]).code(), 0);
    let again = hyperslab(&["cp", name, &other]);
    assert!(again.code() != 0 && again.error().contains("exists already"), "{}", again.error());
    assert_eq!(std::fs::read(folder.path().join("other.h5")).unwrap(), std::fs::read(&copy).unwrap());
    assert!(hyperslab(&["cp", name, "x"]).error().contains("TO is missing"));
    // An object of a remote file is copied as from a file.
    let run =
        hyperslab(&["cp", &url, "series/temperature", folder.path().join("part.h5").to_str().unwrap(), "t"]);
    assert_eq!(run.code(), 0, "{}", run.error());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

/// Returns a program that reaches a server as S3.
fn with_store(server: &Server) -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab"))
        .in_fixtures()
        .env("AWS_ENDPOINT", server.url("").trim_end_matches('/'))
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
}

#[test]
fn objects_are_changed_by_commands() {
    let server = Server::start().unwrap();
    let url = "s3://bucket/run/a.h5";
    let run = |arguments: &[&str]| {
        let run = with_store(&server).run(arguments);
        assert_eq!(run.code(), 0, "{arguments:?}: {}", run.error());
        run
    };
    run(&["cp", "weather_station.h5", url]);
    assert!(with_store(&server).run(["cp", "weather_station.h5", url]).error().contains("exists already"));
    run(&["cp", "--replace", "weather_station.h5", url]);
    run(&["attr", "set", url, "/", "note", "new"]);
    assert!(run(&["attr", "get", url, "/", "note"]).printed().contains("new"));
    run(&["cp", "weather_station.h5", "series/temperature", url, "copy"]);
    assert_eq!(run(&["diff", "weather_station.h5", url, "series/temperature", "copy"]).code(), 0);
    // A failed command changes nothing.
    let before = server.get("bucket/run/a.h5").unwrap();
    assert_ne!(with_store(&server).run(["rm", url, "copy", "nothing"]).code(), 0);
    assert_eq!(server.get("bucket/run/a.h5").unwrap(), before);
    run(&["mkdir", "s3://bucket/run/new.h5", "group"]);
    assert!(run(&["ls", "s3://bucket/run/new.h5"]).printed().contains("group"));
    run(&["repack", "--cloud", url, "s3://bucket/run/packed.h5"]);
    run(&["diff", url, "s3://bucket/run/packed.h5"]);
    let (paths, _) = server.stored();
    assert_eq!(paths, ["bucket/run/a.h5", "bucket/run/new.h5", "bucket/run/packed.h5"]);
}

#[test]
fn requests_are_counted() {
    let (server, url) = serve("weather_station.h5");
    let printed = hyperslab(&["stat", "--cloud", &url]).printed().clone();
    assert!(printed.contains("open") && printed.contains("list all"), "{printed}");
    assert!(printed.contains("/series/temperature"), "{printed}");
    assert!(server.served().requests > 0);
    let file = workspace::root().join("fixtures/weather_station.h5");
    let local = hyperslab(&["stat", "--cloud", file.to_str().unwrap()]);
    assert_eq!(local.printed(), printed);
    let both = hyperslab(&["stat", "--cloud", "--repacked", "--json", &url]).printed().clone();
    assert!(both.contains("\"repacked\""), "{both}");
}

#[test]
fn errors_name_the_url_without_credentials() {
    let (_server, url) = serve("weather_station.h5");
    let missing = url.replace("weather", "whether").replace("http://", "http://me:secret@") + "?token=secret";
    for arguments in [&["info", missing.as_str()][..], &["check", &missing], &["cp", &missing, "copy.h5"]] {
        let run = hyperslab(arguments);
        assert_ne!(run.code(), 0);
        assert!(run.error().contains("does not exist (404)"), "{}", run.error());
        assert!(!run.error().contains("secret"), "{}", run.error());
    }
}

#[cfg(feature = "tables")]
#[test]
fn references_name_the_option_that_leaves_objects_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = hyperslab::File::create(path("a.h5")).unwrap();
    file.new_dataset("x").write(&[1.5, 2.5]).unwrap();
    let target = hyperslab::ReferenceTarget::object(&file.dataset("x").unwrap());
    let references = file.new_dataset("r").shape(&[1]).datatype(hyperslab::Datatype::object_reference(8));
    references.create().unwrap().write_references(.., &[target]).unwrap();
    file.close().unwrap();
    for output in ["refs.json", "refs.parq"] {
        let run = hyperslab(&["export", &path("a.h5"), "kerchunk", "-o", &path(output)]);
        assert_eq!(run.code(), 1, "{}", run.out());
        assert!(run.error().contains("`r`") && run.error().contains("--skip-unsupported"), "{}", run.error());
        assert!(!folder.path().join(output).exists(), "{output}");
        let run =
            hyperslab(&["export", &path("a.h5"), "kerchunk", "-o", &path(output), "--skip-unsupported"]);
        assert_eq!(run.code(), 0, "{}", run.error());
        assert!(run.error().contains("`r` has no references"), "{}", run.error());
    }
    let refs = std::fs::read_to_string(path("refs.json")).unwrap();
    assert!(refs.contains("\"x/.zarray\"") && !refs.contains("\"r/.zarray\""), "{refs}");
    assert!(folder.path().join("refs.parq/.zmetadata").is_file());
}
