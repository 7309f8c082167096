//! The driver against a web server on the loopback interface: bytes, requests, faults and changes.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::sync::Arc;
use std::time::Duration;

use hyperslab::vfd::{Driver, DriverError, ReadRequest};
use hyperslab::{ErrorKind, FileOptions, LibraryVersion, LibverBounds, filter::FilterSpec, s};
use hyperslab_cloud::{CloudDriver, CloudOptions};
use hyperslab_testkit::web::{Fault, Server};

/// Returns bytes in which each offset is recognizable.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (((at * 7) ^ (at >> 8) ^ (at >> 16)) % 251).try_into().unwrap()).collect()
}

fn quick() -> CloudOptions {
    // Only a silent server takes this long, so that a busy machine does not matter.
    CloudOptions::new().deadline(Duration::from_secs(120)).retries(2)
}

fn driver_of(bytes: &[u8]) -> (Server, CloudDriver) {
    let server = Server::start().unwrap();
    server.put("a.bin", bytes);
    let driver = quick().driver(&server.url("a.bin")).unwrap();
    (server, driver)
}

fn read(driver: &CloudDriver, offset: usize, length: usize) -> Result<Vec<u8>, DriverError> {
    let mut buffer = vec![0; length];
    driver.read_at(offset as u64, &mut buffer).map(|()| buffer)
}

/// A file of chunks with filters, larger than the first request.
fn chunked_file() -> Vec<u8> {
    let file = FileOptions::new().create_in_memory().unwrap();
    let values: Vec<u32> = (0..1_500_000_u32).map(|at| at.wrapping_mul(2_654_435_761)).collect();
    let new = file.new_dataset("big").shape(&[1_500_000]).chunks(&[10_000]);
    new.filter(FilterSpec::deflate(1)).write(&values).unwrap();
    file.to_bytes().unwrap()
}

#[test]
fn all_reads_give_the_bytes_of_the_object() {
    let bytes = pattern(5_000_123);
    let (server, driver) = driver_of(&bytes);
    assert_eq!(driver.len().unwrap(), bytes.len() as u64);
    for (offset, length) in
        [(0, 8), (1_048_570, 20), (3_000_001, 70_000), (4_999_000, 1123), (2_000_000, 3_000_123), (7, 0)]
    {
        assert_eq!(
            read(&driver, offset, length).unwrap(),
            &bytes[offset..offset + length],
            "{offset} {length}"
        );
    }
    let mut buffers = [(4_000_000_usize, vec![0; 9000]), (1_200_000, vec![0; 100]), (4_000_500, vec![0; 10])];
    let mut requests: Vec<ReadRequest<'_>> =
        buffers.iter_mut().map(|(offset, buf)| ReadRequest { offset: *offset as u64, buf }).collect();
    driver.read_many(&mut requests).unwrap();
    for (offset, buffer) in &buffers {
        assert_eq!(buffer, &bytes[*offset..*offset + buffer.len()]);
    }
    assert!(matches!(read(&driver, 5_000_000, 200), Err(DriverError::PastEnd { .. })));
    assert!(server.served().requests > 1);
}

#[test]
fn random_reads_give_the_bytes_of_the_object() {
    let bytes = pattern(9_000_000);
    let (_server, driver) = driver_of(&bytes);
    let mut state = 1_u64;
    let mut next = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % limit
    };
    for _ in 0..300 {
        let offset = next(bytes.len());
        let limit = [100, 100_000, 4_000_000][next(3)];
        let length = next(limit).min(bytes.len() - offset);
        if next(4) == 0 {
            driver.expect_read(offset as u64, length);
        }
        assert_eq!(read(&driver, offset, length).unwrap(), &bytes[offset..offset + length]);
    }
}

#[test]
fn the_first_request_opens_a_small_file() {
    let fixture = hyperslab_testkit::workspace::root().join("fixtures/weather_station.h5");
    let server = Server::start().unwrap();
    server.put("data/w.h5", std::fs::read(&fixture).unwrap());
    let file = quick().open(&server.url("data/w.h5")).unwrap();
    let names = file.walk().count();
    assert_eq!(names, hyperslab::File::open(&fixture).unwrap().walk().count());
    assert_eq!(server.served().requests, 1);
}

#[test]
fn chunks_are_fetched_together() {
    let bytes = chunked_file();
    assert!(bytes.len() > 4 << 20);
    let (server, _) = driver_of(&bytes);
    server.set_delay(Duration::from_millis(20));
    server.reset();
    let (file, driver) = quick().open_with_driver(&server.url("a.bin")).unwrap();
    let dataset = file.dataset("big").unwrap();
    let before = driver.usage();
    let values = dataset.read_raw::<u32>(..).unwrap();
    assert!(values.iter().zip(0_u32..).all(|(value, at)| *value == at.wrapping_mul(2_654_435_761)));
    let used = driver.usage().since(before);
    assert!(used.requests <= 12 && used.bytes < bytes.len() as u64 * 13 / 10, "{used:?}");
    // A part of the dataset needs its chunks only.
    let (file, driver) = quick().open_with_driver(&server.url("a.bin")).unwrap();
    let dataset = file.dataset("big").unwrap();
    let before = driver.usage();
    assert_eq!(dataset.read_raw::<u32>(s![1_400_005..1_400_007]).unwrap().len(), 2);
    let used = driver.usage().since(before);
    assert!(used.bytes <= 300_000, "{used:?}");
}

#[test]
fn many_threads_read_one_file() {
    let bytes = Arc::new(pattern(6_000_000));
    let (server, driver) = driver_of(&bytes);
    server.set_delay(Duration::from_millis(2));
    std::thread::scope(|scope| {
        for thread in 0..16_usize {
            let (driver, bytes) = (&driver, &bytes);
            scope.spawn(move || {
                for step in 0..20_usize {
                    let offset = (thread * 37 + step * 101) * 9_973 % 5_800_000;
                    assert_eq!(read(driver, offset, 150_000).unwrap(), &bytes[offset..offset + 150_000]);
                }
            });
        }
    });
    assert!(server.served().at_once <= 32);
}

#[test]
fn passing_faults_are_overcome() {
    let bytes = pattern(3_000_000);
    let (server, driver) = driver_of(&bytes);
    for fault in [Fault::Status(500), Fault::Status(503), Fault::Cut] {
        server.reset();
        server.fail(0, 1, fault);
        let offset = 1_500_000 + server.log().len();
        let got = read(&quick().driver(&server.url("a.bin")).unwrap(), offset, 100_000).unwrap();
        assert_eq!(got, &bytes[offset..offset + 100_000], "{fault:?}");
        assert!(server.served().requests >= 3, "{fault:?}");
    }
    drop(driver);
}

#[test]
fn each_lasting_fault_is_a_clear_error_and_leaves_nothing_behind() {
    let bytes = pattern(3_000_000);
    let (server, _) = driver_of(&bytes);
    for (fault, text) in [
        (Fault::Status(500), "the server failed (500)"),
        (Fault::Status(403), "access is denied (403)"),
        (Fault::Status(404), "does not exist (404)"),
        (Fault::Status(416), "no bytes in the requested range (416)"),
        (Fault::Cut, ""),
        (Fault::Whole, "(200)"),
        (Fault::WrongRange, "does not have the requested bytes"),
        (Fault::ShortBody, "bytes"),
        (Fault::Status(412), "has changed since it was opened"),
    ] {
        server.reset();
        let driver = quick().retries(1).driver(&server.url("a.bin")).unwrap();
        server.fail(0, 200, fault);
        let error = read(&driver, 2_000_000, 100_000).unwrap_err();
        let shown = match &error {
            DriverError::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        assert!(shown.contains(text), "{fault:?}: {shown}");
        server.reset();
        assert_eq!(read(&driver, 2_000_000, 100_000).unwrap(), &bytes[2_000_000..2_100_000], "{fault:?}");
    }
}

#[test]
fn a_silent_server_is_an_error_and_leaves_nothing_behind() {
    let bytes = pattern(3_000_000);
    let (server, _) = driver_of(&bytes);
    // A busy machine may need several attempts within the deadline.
    let options = quick().retries(0).deadline(Duration::from_secs(1));
    let driver = (0..100).find_map(|_| options.driver(&server.url("a.bin")).ok()).unwrap();
    server.fail(0, 200, Fault::Silence);
    let error = read(&driver, 2_000_000, 100_000).unwrap_err();
    let DriverError::Io { source, .. } = &error else { panic!("{error}") };
    assert_eq!(source.kind(), std::io::ErrorKind::TimedOut);
    assert_eq!(source.to_string(), "no answer within 1 seconds");
    server.reset();
    let got = (0..100).find_map(|_| read(&driver, 2_000_000, 100_000).ok()).unwrap();
    assert_eq!(got, &bytes[2_000_000..2_100_000]);
}

#[test]
fn a_replaced_object_is_never_mixed() {
    for (has_tags, weak) in [(true, false), (true, true), (false, false)] {
        let (server, _) = driver_of(&pattern(3_000_000));
        server.set_tags(has_tags, weak);
        let driver = quick().driver(&server.url("a.bin")).unwrap();
        assert_eq!(driver.notices_changes(), has_tags);
        // Without a tag, only another length is noticed.
        server.put("a.bin", vec![0; if has_tags { 3_000_000 } else { 2_900_000 }]);
        let error = read(&driver, 2_000_000, 10).unwrap_err();
        assert!(matches!(error, DriverError::Changed { .. }), "{error}");
        assert!(matches!(read(&driver, 2_000_000, 200_000), Err(DriverError::Changed { .. })));
    }
}

#[test]
fn a_server_without_byte_ranges_serves_small_files() {
    let server = Server::start().unwrap();
    server.put("a.bin", chunked_file());
    server.fail(0, 1000, Fault::Whole);
    let file = quick().open(&server.url("a.bin")).unwrap();
    assert_eq!(file.dataset("big").unwrap().read_raw::<u32>(s![0..3]).unwrap()[1], 2_654_435_761);
    assert_eq!(server.served().requests, 2);
}

#[test]
fn credentials_are_sent_and_never_shown() {
    let server = Server::start().unwrap();
    server.put("a.bin", pattern(10));
    server.require("Basic bWU6c2VjcmV0IQ==");
    let url = server.url("a.bin").replace("http://", "http://me:secret!@") + "?X-Amz-Signature=hidden";
    let options = quick().config("aws_secret_access_key", "hidden");
    let driver = options.driver(&url).unwrap();
    assert!(!format!("{options:?}{driver:?}").contains("hidden"));
    assert!(!format!("{driver:?}").contains("secret!") && !driver.name().contains("secret"));
    let missing = options.driver(&url.replace("a.bin", "b.bin")).unwrap_err();
    assert!(format!("{missing:?} {missing}").contains("b.bin"));
    assert!(!format!("{missing:?} {missing}").contains("hidden"), "{missing:?}");
    let refused = quick().driver(&server.url("a.bin")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Io);
    let elsewhere = options.driver("http://me:secret!@192.0.2.1/a.bin").unwrap_err();
    assert!(format!("{elsewhere:?}").contains("without encryption"), "{elsewhere:?}");
}

#[test]
fn a_redirect_is_followed_but_a_query_stays_on_its_host() {
    let (here, there) = (Server::start().unwrap(), Server::start().unwrap());
    here.put("elsewhere", pattern(30));
    there.put("b.bin", pattern(20));
    here.fail(0, 1, Fault::Redirect);
    assert_eq!(quick().driver(&here.url("a.bin")).unwrap().len().unwrap(), 30);
    here.redirect_to(&there.url("b.bin"));
    here.fail(0, 2, Fault::Redirect);
    assert_eq!(quick().driver(&here.url("a.bin")).unwrap().len().unwrap(), 20);
    let before = there.served().requests;
    let error = quick().driver(&(here.url("a.bin") + "?signature=hidden")).unwrap_err();
    assert!(format!("{error:?}").contains("302") && there.served().requests == before, "{error:?}");
}

#[test]
fn credentials_in_headers_stay_on_their_host() {
    let (here, there) = (Server::start().unwrap(), Server::start().unwrap());
    here.put("elsewhere", pattern(30));
    there.put("b.bin", pattern(20));
    let with_user = |url: String| url.replace("http://", "http://me:secret!@");
    let s3 = quick()
        .config("aws_endpoint", here.url("").trim_end_matches('/'))
        .config("aws_access_key_id", "key")
        .config("aws_secret_access_key", "secret!")
        .config("aws_session_token", "session!")
        .config("aws_region", "us-east-1");
    for (options, url) in [(quick(), with_user(here.url("a.bin"))), (s3, "s3://bucket/a.bin".into())] {
        here.reset();
        here.redirect_to("/elsewhere");
        here.fail(0, 1, Fault::Redirect);
        assert_eq!(options.driver(&url).unwrap().len().unwrap(), 30, "{url}");
        here.redirect_to(&there.url("b.bin"));
        here.fail(0, 20, Fault::Redirect);
        let error = options.driver(&url).unwrap_err();
        let shown = format!("{error:?} {error}");
        assert!(shown.contains("302") && !shown.contains('!'), "{shown}");
        assert_eq!(there.served().requests, 0, "{url}");
    }
}

#[test]
fn missing_objects_and_wrong_urls_have_clear_errors() {
    let server = Server::start().unwrap();
    let text = |url: &str| {
        let error = quick().open(url).unwrap_err();
        format!(
            "{error}: {}",
            std::error::Error::source(&error)
                .map_or(String::new(), |source| { source.source().unwrap_or(source).to_string() })
        )
    };
    assert!(text(&server.url("none.h5")).contains("does not exist (404)"));
    assert!(text("nonsense").contains("not a URL"));
    assert!(text("ftp://host/a.h5").contains("`ftp`"));
    server.put("empty.h5", Vec::new());
    assert!(text(&server.url("empty.h5")).contains("416"));
}

#[test]
fn a_walk_fetches_metadata_level_by_level() {
    let file = FileOptions::new().create_in_memory().unwrap();
    for group in 0..20 {
        let group = file.create_group(&format!("g{group}")).unwrap();
        for name in ["a", "b", "c", "d"] {
            let dataset = group.new_dataset(name).write(&vec![1.5_f64; 20_000]).unwrap();
            dataset.set_attribute("unit", "metres per second").unwrap();
        }
    }
    let (server, _) = driver_of(&file.to_bytes().unwrap());
    let list = |file: &hyperslab::File| {
        let mut attributes = 0;
        for visited in file.walk() {
            let found = visited.object.unwrap().attributes().unwrap();
            attributes += found.iter().filter(|attribute| attribute.read_dyn().is_ok()).count();
        }
        assert_eq!(attributes, 80);
    };
    let (file, driver) = quick().open_with_driver(&server.url("a.bin")).unwrap();
    let before = driver.usage();
    list(&file);
    let used = driver.usage().since(before);
    assert!(used.rounds <= 5 && used.requests > used.rounds, "{used:?}");
    // The depth-first order needs as few rounds.
    let (file, driver) = quick().open_with_driver(&server.url("a.bin")).unwrap();
    let before = driver.usage();
    assert!(file.prefetch(usize::MAX, |object| {
        let attributes = object.attributes();
        attributes.iter().flatten().for_each(|attribute| drop(attribute.read_dyn()));
    }));
    let fetched = driver.usage();
    list(&file);
    assert_eq!(driver.usage(), fetched);
    assert!(fetched.since(before).rounds <= 5, "{:?}", fetched.since(before));
    // A failure in advance is the failure of the read after it, and is not kept.
    let (file, _) = quick().retries(0).open_with_driver(&server.url("a.bin")).unwrap();
    server.fail(0, 1000, Fault::Status(403));
    let fails = |visited: hyperslab::Visited| {
        visited.object.is_err() || visited.links.is_some_and(|links| links.is_err())
    };
    assert!(file.walk().any(fails));
    server.reset();
    list(&file);
}

#[test]
fn large_groups_are_listed_level_by_level() {
    // Symbol tables, and dense storage of links and attributes, with several levels of nodes.
    for version in [LibraryVersion::Earliest, LibraryVersion::V110] {
        let bounds = LibverBounds::new(version, LibraryVersion::LATEST).unwrap();
        let options = FileOptions::new().libver(bounds);
        let file = options.create_in_memory().unwrap();
        file.new_dataset("before").write(&vec![1_u8; 2 << 20]).unwrap();
        for group in 0..6 {
            let group = file.create_group(&format!("group {group}")).unwrap();
            for number in 0..700 {
                group.create_group(&format!("a longer name, so that the heap has blocks {number}")).unwrap();
            }
            for number in 0..200 {
                group.set_attribute(&format!("attribute {number}"), number).unwrap();
            }
        }
        let (server, _) = driver_of(&file.to_bytes().unwrap());
        // Small lines, so that neighbours are not in memory by chance.
        let options = quick().line(512).first(4096);
        let (file, driver) = options.open_with_driver(&server.url("a.bin")).unwrap();
        let before = driver.usage();
        assert_eq!(file.walk().filter(|visited| visited.object.is_ok()).count(), 6 * 701 + 2);
        let used = driver.usage().since(before);
        assert!(used.rounds <= 24 && used.requests > 2 * used.rounds, "{version:?}: {used:?}");
        // A look-up needs only its path.
        let (file, driver) = options.open_with_driver(&server.url("a.bin")).unwrap();
        let before = driver.usage();
        assert!(file.group("group 3/a longer name, so that the heap has blocks 99").is_ok());
        assert!(file.group("group 4").unwrap().attribute("attribute 77").is_ok());
        let used = driver.usage().since(before);
        assert!(used.bytes < 120_000, "{version:?}: {used:?}");
    }
}

#[test]
fn a_long_read_goes_straight_into_the_buffer() {
    let bytes = pattern(9_000_000);
    let (server, driver) = driver_of(&bytes);
    let before = driver.usage();
    assert_eq!(read(&driver, 1234, 8_900_000).unwrap(), &bytes[1234..8_901_234]);
    let used = driver.usage().since(before);
    assert_eq!((used.rounds, used.bytes), (1, 8_900_000));
    for (fault, count) in [(Fault::Status(403), 1), (Fault::ShortBody, 100), (Fault::Cut, 100)] {
        server.reset();
        server.fail(3, count, fault);
        assert!(read(&driver, 0, 9_000_000).is_err(), "{fault:?}");
        server.reset();
        assert_eq!(read(&driver, 0, 9_000_000).unwrap(), bytes, "{fault:?}");
    }
    server.put("a.bin", vec![0; 9_000_000]);
    assert!(matches!(read(&driver, 0, 9_000_000), Err(DriverError::Changed { .. })));
}

#[test]
fn contiguous_elements_are_fetched_together() {
    let values: Vec<u32> = (0..4_000_000_u32).map(|at| at.wrapping_mul(2_654_435_761)).collect();
    let file = FileOptions::new().create_in_memory().unwrap();
    file.new_dataset("x").shape(&[2000, 2000]).write(&values).unwrap();
    let (server, _) = driver_of(&file.to_bytes().unwrap());
    server.set_delay(Duration::from_millis(20));
    let opened = || {
        let (file, driver) = quick().open_with_driver(&server.url("a.bin")).unwrap();
        let dataset = file.dataset("x").unwrap();
        server.reset();
        (dataset, driver)
    };
    // All elements, whole rows, a part of each row, and elements that are converted.
    let (dataset, driver) = opened();
    let before = driver.usage();
    assert_eq!(dataset.read_raw::<u32>(..).unwrap(), values);
    assert_eq!(driver.usage().since(before).rounds, 1);
    let (dataset, driver) = opened();
    let before = driver.usage();
    assert_eq!(dataset.read_raw::<u32>(s![500..1500, ..]).unwrap(), values[1_000_000..3_000_000]);
    assert_eq!(driver.usage().since(before).rounds, 1);
    let (dataset, _) = opened();
    let part = dataset.read_raw::<u32>(s![500.., 1..1990]).unwrap();
    assert_eq!((part.len(), part[1989]), (1500 * 1989, values[501 * 2000 + 1]));
    assert!(server.served().at_once >= 4, "{:?}", server.served());
    let (dataset, _) = opened();
    let converted = dataset.read_raw::<f64>(..).unwrap();
    assert!(converted.iter().zip(&values).all(|(got, value)| *got == f64::from(*value)));
    assert!(server.served().at_once >= 4, "{:?}", server.served());
    let stored = 16_000_000;
    assert!(server.served().bytes <= stored * 13 / 10, "{:?}", server.served());
}
