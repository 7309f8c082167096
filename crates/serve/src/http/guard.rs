//! The checks of each request before it is answered, and the headers of each answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::Shared;
use super::reply::failure;
use crate::grove::Failure;

/// Checks a request, answers it, and adds the headers of all answers.
pub(super) async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match check(&shared, &request) {
        Ok(cookie) => {
            let mut response = next.run(request).await;
            if let Some(cookie) = cookie {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(refusal) => *refusal,
    };
    add_headers(&shared, origin, response.headers_mut());
    response
}

/// Checks the method, the host, the origin and the token of a request. Returns the cookie that the
/// answer sets.
fn check(shared: &Shared, request: &Request) -> Result<Option<HeaderValue>, Box<Response>> {
    let headers = request.headers();
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let refusal = Failure { status: 405, message: "only GET and HEAD are allowed".into() };
        return Err(Box::new(([(header::ALLOW, "GET, HEAD")], failure(&refusal)).into_response()));
    }
    let refuse = |status: StatusCode, message: &str| {
        Box::new(failure(&Failure { status: status.as_u16(), message: message.into() }))
    };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(|host| shared.hosts.allows(host)) {
        return Err(refuse(StatusCode::FORBIDDEN, "the host of the request is no name of this server"));
    }
    if request.uri().path() == "/healthz" {
        return Ok(None);
    }
    if is_foreign(shared, headers) {
        return Err(refuse(StatusCode::FORBIDDEN, "the request comes from a page of another site"));
    }
    let Some(token) = &shared.options.token else { return Ok(None) };
    let is_page = request.uri().path() == "/";
    let in_query =
        query_token(request).is_some_and(|text| token.is(text) || is_page && shared.opens_once(text));
    let in_headers = cookies(headers, &shared.cookie).any(|text| token.is(text))
        || bearer(headers).is_some_and(|text| token.is(text));
    if !in_query && !in_headers {
        let message = "the token is missing: open the address that `hyperslab serve` printed";
        return Err(refuse(StatusCode::UNAUTHORIZED, message));
    }
    let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", shared.cookie, token.text());
    Ok(HeaderValue::from_str(&cookie).ok().filter(|_| is_page && in_query))
}

/// Returns true if a page of another site sent the request, and this site is not allowed. A
/// browser states this in headers that pages cannot change. A link to the page is no such request.
fn is_foreign(shared: &Shared, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if text("origin").is_some_and(|origin| shared.options.origins.iter().any(|allowed| allowed == origin)) {
        return false;
    }
    let is_link = text("sec-fetch-mode") == Some("navigate");
    matches!(text("sec-fetch-site"), Some("cross-site" | "same-site")) && !is_link
}

fn query_token(request: &Request) -> Option<&str> {
    request.uri().query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Returns the values of a cookie in a request.
fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(';')).filter_map(move |pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

fn add_headers(shared: &Shared, origin: Option<HeaderValue>, headers: &mut HeaderMap) {
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, shared.policy.clone());
    if shared.options.frame_ancestors.is_empty() {
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    if shared.options.origins.is_empty() {
        return;
    }
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    let is_allowed =
        |origin: &HeaderValue| shared.options.origins.iter().any(|allowed| origin == allowed.as_str());
    if let Some(origin) = origin.filter(is_allowed) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let exposed = HeaderValue::from_static("Content-Range, ETag, Content-Length, Accept-Ranges");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    }
}

/// Returns the policy for the contents of the page: everything comes from this server.
pub(super) fn policy(frame_ancestors: &[String]) -> String {
    let frames = if frame_ancestors.is_empty() { "'none'".to_owned() } else { frame_ancestors.join(" ") };
    format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; \
         base-uri 'none'; form-action 'none'; frame-ancestors {frames}"
    )
}
