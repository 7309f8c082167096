//! Servers that run as programs of their own for one test.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hyperslab_testkit::workspace;

/// The credentials of the S3 servers.
pub(crate) const KEY: &str = "hyperslab-key";
pub(crate) const SECRET: &str = "hyperslab-secret";

/// The longest time until a server accepts connections.
const START_TIME: Duration = Duration::from_secs(60);

/// A running server. It ends when the value is dropped.
pub(crate) struct Running {
    child: Child,
    pub(crate) port: u16,
    folder: tempfile::TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        // The program may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the folder into which `cargo xtask cloud` installs servers.
pub(crate) fn folder() -> PathBuf {
    workspace::root().join("target/cloud-servers")
}

/// Returns the program of a server: the installed one, or one of the system.
fn program(installed: &str, name: &str, variable: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let own = Some(folder().join(installed)).filter(|path| path.is_file());
    let system = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].into_iter().map(|at| Path::new(at).join(name));
    let found = named.or(own).or_else(|| system.into_iter().find(|path| path.is_file()));
    if found.is_none() {
        workspace::skip(name, &format!("not installed (`cargo xtask cloud` installs it, or set {variable})"));
    }
    found
}

impl Running {
    /// Starts moto with one bucket.
    pub(crate) fn moto() -> Option<Self> {
        let program = program("venv/bin/moto_server", "moto_server", "HYPERSLAB_MOTO_SERVER")?;
        let server = Self::start(Command::new(program), |command, port, _| {
            command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        });
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let request =
            "PUT /bucket HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 200 "), "{answer}");
        Some(server)
    }

    /// Starts s3s-fs with one bucket.
    pub(crate) fn s3s_fs() -> Option<Self> {
        let program = program("bin/s3s-fs", "s3s-fs", "HYPERSLAB_S3S_FS")?;
        Some(Self::start(Command::new(program), |command, port, folder| {
            std::fs::create_dir(folder.join("bucket")).unwrap();
            command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
            command.args(["--access-key", KEY, "--secret-key", SECRET]).arg(folder);
        }))
    }

    /// Starts nginx, which serves the files of [`Running::folder`].
    pub(crate) fn nginx() -> Option<Self> {
        let program = program("bin/nginx", "nginx", "HYPERSLAB_NGINX")?;
        Some(Self::start(Command::new(program), |command, port, folder| {
            let shown = folder.display();
            let user = if std::env::var("USER").is_ok_and(|user| user != "root") { "" } else { "user root;" };
            let own = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map(|name| format!("{name}_temp_path {shown}/{name};"))
                .join(" ");
            let settings = format!(
                "daemon off; master_process off; {user} worker_processes 1; pid {shown}/pid; error_log stderr;\n\
                 events {{ worker_connections 256; }}\n\
                 http {{ access_log off; {own} server {{ listen 127.0.0.1:{port}; root {shown}; }} }}\n"
            );
            let file = folder.join("nginx.conf");
            std::fs::write(&file, settings).unwrap();
            command.arg("-p").arg(folder).arg("-c").arg(file).args(["-e", "stderr"]);
        }))
    }

    /// Returns the folder of the server's files.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn start(mut command: Command, configure: impl Fn(&mut Command, u16, &Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        configure(&mut command, port, folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = Self { child: command.spawn().unwrap(), port, folder };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = running.child.try_wait().unwrap();
            assert!(ended.is_none() && start.elapsed() < START_TIME, "{command:?}: {ended:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        running
    }
}
