//! `cargo xtask cloud`: installs real servers, and runs the tests of the crate hyperslab-cloud
//! against them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use hyperslab_testkit::workspace;

use crate::shell;

/// The folder of the installed servers, in which the tests find them.
const FOLDER: &str = "target/cloud-servers";

/// The servers, and the lines that their tests print.
const SERVERS: [&str; 3] = ["moto", "s3s-fs", "nginx"];

/// The versions of the servers.
const MOTO: &str = "moto[server]==5.2.5";
const S3S_FS: [&str; 4] = ["s3s-fs", "--version", "^0.14", "--features=binary"];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let install = match args {
        [] => true,
        [only] if only == "--no-install" => false,
        _ => bail!("cargo xtask cloud [--no-install]"),
    };
    if install {
        // A server that cannot be installed is reported, and its test is skipped.
        for (name, installed) in [("moto", moto()), ("s3s-fs", s3s_fs()), ("nginx", nginx())] {
            if let Err(error) = installed {
                println!("{name} cannot be installed: {error:#}");
            }
        }
    }
    let test = ["test", "--package", "hyperslab-cloud", "--features", "fs", "--test", "servers"];
    let mut command = shell::cargo(&[&test[..], &["--", "--nocapture", "--test-threads=1"]].concat());
    println!("$ {command:?}");
    let output = command.output().context("cargo test")?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    print!("{printed}{}", String::from_utf8_lossy(&output.stderr));
    let passed = |name: &&&str| printed.contains(&format!("{name}: all checks passed"));
    let count = SERVERS.iter().filter(passed).count();
    println!("cloud: all checks passed with {count} of {} servers", SERVERS.len());
    for missing in SERVERS.iter().filter(|name| !passed(name)) {
        println!("cloud: {missing} was not there, or its checks failed");
    }
    anyhow::ensure!(output.status.success(), "the tests failed");
    Ok(())
}

fn moto() -> Result<()> {
    let venv = workspace::root().join(FOLDER).join("venv");
    if venv.join("bin/moto_server").is_file() {
        return Ok(());
    }
    shell::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", MOTO];
    shell::run(Command::new(venv.join("bin/python")).args(install))
}

fn s3s_fs() -> Result<()> {
    let root = workspace::root().join(FOLDER);
    if root.join("bin/s3s-fs").is_file() {
        return Ok(());
    }
    let install = [&["install", "--locked", "--debug", "--root", FOLDER][..], &S3S_FS].concat();
    shell::run(&mut shell::cargo(&install))
}

fn nginx() -> Result<()> {
    let paths = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx"];
    if paths.iter().any(|path| Path::new(path).is_file()) {
        return Ok(());
    }
    shell::run(Command::new("apt-get").args(["install", "--yes", "--no-install-recommends", "nginx-light"]))
}
