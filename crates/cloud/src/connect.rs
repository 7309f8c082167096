//! The HTTP client of all stores: TLS, redirects, credentials, and the status of each answer.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};

/// The largest number of redirects of one request.
const MAX_REDIRECTS: usize = 5;

/// The longest time until a connection is there.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// The status of the last answer to one request, or 0. An extension of the request.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastStatus(Arc<AtomicU16>);

impl LastStatus {
    pub(crate) fn get(&self) -> Option<u16> {
        Some(self.0.load(Ordering::Relaxed)).filter(|status| *status != 0)
    }
}

/// The maker of HTTP clients.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connector {
    /// The value of the header `Authorization`, which is marked as sensitive.
    pub(crate) authorization: Option<HeaderValue>,
    /// Credentials may be sent without encryption to other machines.
    pub(crate) plain_credentials: bool,
    /// The longest time without a byte of an answer.
    pub(crate) idle: Duration,
    /// The condition under which an upload in parts becomes an object.
    pub(crate) completion: Option<(HeaderName, HeaderValue)>,
}

/// A client that adds credentials, and notes the status of answers.
#[derive(Debug)]
struct Client {
    /// Sends requests without the header `Authorization`.
    open: reqwest::Client,
    /// Sends requests with credentials in headers, which stay on their host.
    trusted: reqwest::Client,
    connector: Connector,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        // An error says that the program has chosen another provider, which is used then.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = |has_credentials| {
            let client = reqwest::Client::builder()
                .user_agent(concat!("hyperslab/", env!("CARGO_PKG_VERSION")))
                .redirect(Policy::custom(move |attempt| redirect(attempt, has_credentials)))
                .referer(false)
                .http1_only()
                .connect_timeout(CONNECT_TIME)
                .read_timeout(self.idle)
                .build();
            client.map_err(|error| object_store::Error::Generic {
                store: "HTTP",
                source: Box::new(error.without_url()),
            })
        };
        let (open, trusted) = (client(false)?, client(true)?);
        Ok(HttpClient::new(Client { open, trusted, connector: self.clone() }))
    }
}

/// Follows a redirect. Credentials stay on their host: in headers of the request, or in the query
/// of the URL.
fn redirect(attempt: Attempt<'_>, has_credentials: bool) -> reqwest::redirect::Action {
    let Some(first) = attempt.previous().first() else { return attempt.stop() };
    let same_host = first.host_str() == attempt.url().host_str()
        && first.port_or_known_default() == attempt.url().port_or_known_default();
    let has_secret = has_credentials || first.query().is_some() || !first.username().is_empty();
    let loses_encryption = first.scheme() == "https" && attempt.url().scheme() != "https";
    if attempt.previous().len() > MAX_REDIRECTS || loses_encryption || (has_secret && !same_host) {
        return attempt.stop();
    }
    attempt.follow()
}

impl HttpService for Client {
    fn call<'life, 'future>(
        &'life self,
        mut request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'future>>
    where
        'life: 'future,
        Self: 'future,
    {
        Box::pin(async move {
            if let Some(authorization) = &self.connector.authorization {
                request.headers_mut().insert(AUTHORIZATION, authorization.clone());
            }
            let has_credentials = request.headers().contains_key(AUTHORIZATION);
            if has_credentials && !self.may_send_credentials(&request) {
                let error = "credentials are not sent without encryption (http) to another machine";
                return Err(HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(error)));
            }
            if let Some((name, value)) = &self.connector.completion
                && completes_upload(&request)
            {
                request.headers_mut().insert(name, value.clone());
            }
            let status = request.extensions().get::<LastStatus>().cloned();
            let client = if has_credentials { &self.trusted } else { &self.open };
            let response = client.call(request).await;
            if let (Some(status), Ok(response)) = (status, &response) {
                status.0.store(response.status().as_u16(), Ordering::Relaxed);
            }
            response
        })
    }
}

impl Client {
    fn may_send_credentials(&self, request: &HttpRequest) -> bool {
        self.connector.plain_credentials
            || request.uri().scheme_str() != Some("http")
            || request.uri().host().is_some_and(is_loopback)
    }
}

/// Returns whether a request completes an upload in parts to S3. Its signature does not cover the
/// header of a condition, which S3 does not demand.
fn completes_upload(request: &HttpRequest) -> bool {
    let query = request.uri().query().unwrap_or("");
    request.method().as_str() == "POST" && query.split('&').any(|part| part.starts_with("uploadId="))
}

/// Returns whether a host of a URL is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        assert!(["localhost", "127.0.0.1", "[::1]"].into_iter().all(is_loopback));
        assert!(
            !["localhost.evil.example", "10.0.0.1", "127.0.0.1.evil.example"].into_iter().any(is_loopback)
        );
    }
}
