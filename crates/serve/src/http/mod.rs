//! The server: sockets, checks of requests, and routes.

mod files;
mod guard;
mod hosts;
mod page;
mod recent;
mod reply;
mod token;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;
use tower_http::compression::CompressionLayer;

use hyperslab::File;

pub use token::Token;

use crate::Disk;
use crate::grove::{self, Answer, AnswerLimits, Entry, Failure, Library};
use hosts::Hosts;
use recent::{Key, Recent, Whole};
use reply::{Body, Reply};

/// The largest number of bytes of the request line and headers.
const HEADER_BYTES: usize = 16 << 10;

/// The time in which a client must send the headers of a request.
const HEADER_TIME: Duration = Duration::from_secs(20);

/// The largest number of connections at the same time.
const MAX_CONNECTIONS: usize = 512;

/// The start of a path that has the token as its next component.
const TOKEN_PATH: &str = "/t/";

/// The options of a server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The address to which the server is bound.
    pub address: IpAddr,
    /// The port; 0 for a free one.
    pub port: u16,
    /// The secret that requests must have; `None` for requests of everyone who reaches the port.
    pub token: Option<Token>,
    /// The other names of the server that requests may use.
    pub hosts: Vec<String>,
    /// The origins, such as `https://example.org`, whose pages may read answers.
    pub origins: Vec<String>,
    /// The origins whose pages may show this page in a frame.
    pub frame_ancestors: Vec<String>,
    /// The limits on answers.
    pub limits: AnswerLimits,
    /// The largest number of requests that are answered at the same time.
    pub requests: usize,
    /// The time for the first part of an answer, and for the client to take each part.
    pub timeout: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            token: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            frame_ancestors: Vec::new(),
            limits: AnswerLimits::default(),
            requests: 32,
            timeout: Duration::from_secs(60),
        }
    }
}

/// A server that is bound to a port.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// The state that all requests share.
#[derive(Debug)]
struct Shared {
    options: ServerOptions,
    disk: Disk,
    recent: Recent,
    hosts: Hosts,
    /// The name of the cookie with the token. Cookies do not depend on the port, so the name does.
    cookie: String,
    policy: HeaderValue,
    requests: Arc<Semaphore>,
    /// The token that opens the page once; see [`Server::opening_url`].
    once: Mutex<Option<Token>>,
}

impl Server {
    /// Binds a server to its address.
    ///
    /// # Errors
    /// Returns an error if the address is not available, or an option has invalid characters.
    pub fn bind(options: ServerOptions, disk: Disk) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::new(options.address, options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let policy = HeaderValue::from_str(&guard::policy(&options.frame_ancestors));
        let shared = Shared {
            hosts: Hosts::new(address.ip(), options.hosts.clone()),
            cookie: format!("hyperslab-{}", address.port()),
            policy: policy.map_err(io::Error::other)?,
            requests: Arc::new(Semaphore::new(options.requests.max(1))),
            once: Mutex::new(None),
            recent: Recent::new(disk.share()),
            options,
            disk,
        };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// Returns the address to which the server is bound.
    ///
    /// # Errors
    /// Returns an error of the operating system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns the address of the page: of a file, or of the list of files. The address has the
    /// token.
    ///
    /// # Errors
    /// Returns an error of the operating system.
    pub fn url(&self) -> io::Result<String> {
        self.url_with(self.shared.options.token.as_ref())
    }

    /// Returns the address of the page with a token that is valid for one request. Other users of
    /// this machine see the arguments of a browser that is started, and so must not find the token
    /// of the server in them.
    ///
    /// # Errors
    /// Returns an error of the operating system.
    pub fn opening_url(&self) -> io::Result<String> {
        if self.shared.options.token.is_none() {
            return self.url();
        }
        let token = Token::random()?;
        let url = self.url_with(Some(&token))?;
        *self.shared.once.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
        Ok(url)
    }

    /// Returns the path and query of the page with the token in its path. All addresses below the
    /// page have the token too, so that it works in a frame of another site, where a browser sends
    /// no cookies.
    pub fn framed_path(&self) -> String {
        let file = self.file_parameter().map_or_else(String::new, |file| format!("?{file}"));
        match &self.shared.options.token {
            Some(token) => format!("{TOKEN_PATH}{}/{file}", token.text()),
            None => format!("/{file}"),
        }
    }

    fn file_parameter(&self) -> Option<String> {
        let encoded = |text: &str| {
            percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
        };
        self.shared.disk.only_file().map(|file| format!("file={}", encoded(file)))
    }

    fn url_with(&self, token: Option<&Token>) -> io::Result<String> {
        let mut address = self.address()?;
        if address.ip().is_unspecified() {
            address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        let file = self.file_parameter();
        let token = token.map(|token| format!("token={}", token.text()));
        let query: Vec<String> = file.into_iter().chain(token).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        Ok(format!("http://{address}/{mark}{}", query.join("&")))
    }

    /// Answers requests until the process ends.
    ///
    /// # Errors
    /// Returns an error if the threads of the server cannot be started.
    pub fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(self.accept())
    }

    async fn accept(self) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let router = router(&self.shared);
        let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return Ok(()) };
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Too many open files, for instance: the next attempt may succeed.
                    tracing::warn!("a connection was not accepted: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let service = TowerToHyperService::new(router.clone());
            tokio::spawn(async move {
                let mut http = hyper::server::conn::http1::Builder::new();
                http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(HEADER_BYTES);
                if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
                    tracing::debug!("a connection ended: {error}");
                }
                drop(permit);
            });
        }
    }
}

impl Shared {
    /// Returns true if a text is the token that opens the page once. Then it is no longer valid.
    fn opens_once(&self, text: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        once.take_if(|token| token.is(text)).is_some()
    }

    /// Answers a request of h5grove's protocol. A whole answer is kept for equal requests, as long
    /// as the file does not change.
    fn answer(&self, path: &str, query: &str) -> Reply {
        let until = Instant::now().checked_add(self.options.timeout);
        let limits = &AnswerLimits { until, ..self.options.limits };
        let Some(name) = grove::file_of(path, query) else {
            return grove::answer(&self.disk, path, query, limits).into();
        };
        let (file, version) = match self.disk.open_version(name.as_deref()) {
            Ok(opened) => opened,
            Err(failure) => return Answer::from(failure).into(),
        };
        let make = || Reply::from(grove::answer(&Opened(file), path, query, limits));
        let Some(version) = version else { return make() };
        let making = match self.recent.get(Key { version, request: format!("{path}?{query}") }) {
            Ok(answer) => return answer.into(),
            Err(making) => making,
        };
        let reply = make();
        if let (200, Body::Whole(body)) = (reply.head.status, &reply.body) {
            making.keep(&Whole { head: reply.head.clone(), body: body.clone() });
        }
        reply
    }
}

/// The file that a request names, which is open.
#[derive(Debug)]
struct Opened(File);

impl Library for Opened {
    fn open(&self, _: Option<&str>) -> Result<File, Failure> {
        Ok(self.0.clone())
    }

    fn list(&self, _: &str) -> Result<Vec<Entry>, Failure> {
        Err(Failure::internal("a file has no listing"))
    }
}

fn router(shared: &Arc<Shared>) -> Router {
    let mut router = Router::new()
        .route("/", get(index))
        .route("/healthz", get(|| async { "ok" }))
        .route(
            "/page/{name}",
            get(|Path(name): Path<String>, headers: HeaderMap| async move { page::part(&name, &headers) }),
        )
        .route("/api", get(api))
        .route("/api/{*path}", get(api))
        .route("/api/", get(api));
    // Clients of h5grove have these paths without a prefix.
    for path in ["/attr", "/data", "/meta", "/paths", "/stats"] {
        router = router.route(path, get(api));
    }
    // Between programs of one machine, compression takes longer than the transfer.
    let is_remote = !shared.options.address.is_loopback();
    let router = if is_remote { router.layer(CompressionLayer::new()) } else { router };
    let router = router
        .route("/files/{*name}", get(bytes))
        .fallback(|| async { reply::failure(&Failure::not_found("no such page")) })
        .layer(axum::middleware::from_fn_with_state(Arc::clone(shared), guard::guard))
        .with_state(Arc::clone(shared));
    // The token leaves the path before a route is chosen.
    Router::new().fallback_service(router).layer(axum::middleware::map_request(without_token_path))
}

/// Returns a request whose path begins with a token as a request with the token in a header.
async fn without_token_path(mut request: Request) -> Request {
    let path = request.uri().path_and_query().map(|path| path.as_str().to_owned());
    let rest = path.as_deref().and_then(|path| path.strip_prefix(TOKEN_PATH)?.split_once('/'));
    let Some((token, rest)) = rest else { return request };
    let (uri, value) = (format!("/{rest}").parse(), HeaderValue::from_str(&format!("Bearer {token}")));
    if let (Ok(uri), Ok(value)) = (uri, value) {
        *request.uri_mut() = uri;
        request.headers_mut().insert(header::AUTHORIZATION, value);
    }
    request
}

async fn index(headers: HeaderMap) -> Response {
    page::part("index.html", &headers)
}

async fn api(State(shared): State<Arc<Shared>>, uri: Uri) -> Response {
    reply::work(shared, move |shared| {
        let path = uri.path().strip_prefix("/api").unwrap_or(uri.path());
        shared.answer(path, uri.query().unwrap_or(""))
    })
    .await
}

async fn bytes(State(shared): State<Arc<Shared>>, Path(name): Path<String>, request: Request) -> Response {
    let headers = request.headers().clone();
    reply::work(shared, move |shared| files::reply(&shared.disk, &name, &headers)).await
}
