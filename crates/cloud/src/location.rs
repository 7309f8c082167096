//! The stores that URLs name.

use std::fmt;
use std::sync::Arc;

use hyperslab::{Error, Result};
use object_store::ObjectStore;
use object_store::path::Path;
use url::Url;

use crate::CloudOptions;

/// The store and the path of an object.
#[derive(Clone)]
pub(crate) struct Location {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) path: Path,
    /// The URL of the store without credentials, to which paths are added in messages.
    pub(crate) shown: String,
    /// True if the store accepts a condition at the end of an upload in parts.
    pub(crate) has_conditional_parts: bool,
}

/// Shows no store: the URL inside a store may have credentials.
impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Location").field("name", &self.name_of(&self.path)).finish_non_exhaustive()
    }
}

/// Returns whether a text is a URL of a store: `s3://`, `gs://`, `az://`, `http://`, `https://` or
/// `file://`.
///
/// ```
/// assert!(hyperslab_cloud::is_url("s3://bucket/run42.h5"));
/// assert!(!hyperslab_cloud::is_url("data/run42.h5"));
/// ```
pub fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)))
}

const SCHEMES: [&str; 6] = ["s3", "gs", "az", "http", "https", "file"];

impl Location {
    /// Returns the store and the path of a URL.
    pub(crate) fn of(text: &str, options: &CloudOptions) -> Result<Self> {
        let url = Url::parse(text).map_err(|error| Error::Misuse(format!("not a URL: {error}")))?;
        let path = Path::from_url_path(url.path()).map_err(|_| Error::unsupported("the path of this URL"))?;
        let host = url.host_str().map_or_else(String::new, str::to_owned);
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        let shown = format!("{}://{host}{port}", url.scheme());
        let store: Arc<dyn ObjectStore> = match url.scheme() {
            #[cfg(feature = "http")]
            "http" | "https" => http(&url, options)?,
            #[cfg(feature = "s3")]
            "s3" => s3(&host, options)?,
            #[cfg(feature = "gcs")]
            "gs" => gcs(&host, options)?,
            #[cfg(feature = "azure")]
            "az" => azure(&host, options)?,
            #[cfg(feature = "fs")]
            "file" => Arc::new(object_store::local::LocalFileSystem::new()),
            other => return Err(Error::unsupported(format!("URLs of the scheme `{other}` in this build"))),
        };
        Ok(Self { store, path, shown, has_conditional_parts: url.scheme() == "s3" })
    }

    /// Returns the location of a path in a store of the caller.
    pub(crate) fn of_store(store: Arc<dyn ObjectStore>, path: &Path) -> Self {
        Self { store, path: path.clone(), shown: "store:".into(), has_conditional_parts: false }
    }

    /// Returns the URL of a path in this store, without credentials.
    pub(crate) fn name_of(&self, path: &Path) -> String {
        format!("{}/{path}", self.shown)
    }
}

#[cfg(feature = "client")]
fn cannot_open(error: &object_store::Error) -> Error {
    Error::Misuse(crate::error::without_secrets(&error.to_string()))
}

#[cfg(feature = "http")]
fn http(url: &Url, options: &CloudOptions) -> Result<Arc<dyn ObjectStore>> {
    let mut base = url.clone();
    base.set_path("");
    base.set_fragment(None);
    let mut connector = options.connector();
    if !url.username().is_empty() || url.password().is_some() {
        connector.authorization = Some(basic(url)?);
        // A web server's URL always has a host, so that the user can be removed.
        let _ = (base.set_username(""), base.set_password(None));
    }
    let store = object_store::http::HttpBuilder::new()
        .with_url(base)
        .with_retry(options.retry())
        .with_http_connector(connector)
        .build()
        .map_err(|error| cannot_open(&error))?;
    Ok(Arc::new(store))
}

/// Returns the header value for the user and the password of a URL.
#[cfg(feature = "http")]
fn basic(url: &Url) -> Result<reqwest::header::HeaderValue> {
    let decoded = |text: &str| {
        let bytes: Vec<u8> = percent_encoding::percent_decode_str(text).collect();
        String::from_utf8(bytes).map_err(|_| Error::Misuse("the user of the URL is not UTF-8".into()))
    };
    let user = decoded(url.username())?;
    let password = url.password().map(decoded).transpose()?;
    let pair = format!("{user}:{}", password.as_deref().unwrap_or(""));
    let text = format!("Basic {}", base64::Engine::encode(&base64::engine::general_purpose::STANDARD, pair));
    let mut value = reqwest::header::HeaderValue::from_str(&text)
        .map_err(|_| Error::Misuse("the user of the URL has characters that a header cannot have".into()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Applies the settings of the caller to the builder of a store.
#[cfg(feature = "client")]
macro_rules! configured {
    ($builder:expr, $options:expr) => {{
        let mut builder = $builder;
        for (key, value) in &$options.config {
            let parsed = key.to_ascii_lowercase().parse();
            let key = parsed.map_err(|_| Error::Misuse(format!("this store has no setting `{key}`")))?;
            builder = builder.with_config(key, value);
        }
        if $options.anonymous {
            builder = builder.with_skip_signature(true);
        }
        let builder = builder.with_retry($options.retry()).with_http_connector($options.connector());
        Ok(Arc::new(builder.build().map_err(|error| cannot_open(&error))?))
    }};
}

#[cfg(feature = "s3")]
fn s3(bucket: &str, options: &CloudOptions) -> Result<Arc<dyn ObjectStore>> {
    let builder = object_store::aws::AmazonS3Builder::from_env().with_bucket_name(bucket);
    // The client refuses to send credentials without encryption to other machines.
    configured!(builder.with_allow_http(true), options)
}

#[cfg(feature = "gcs")]
fn gcs(bucket: &str, options: &CloudOptions) -> Result<Arc<dyn ObjectStore>> {
    configured!(object_store::gcp::GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket), options)
}

#[cfg(feature = "azure")]
fn azure(container: &str, options: &CloudOptions) -> Result<Arc<dyn ObjectStore>> {
    let builder = object_store::azure::MicrosoftAzureBuilder::from_env().with_container_name(container);
    configured!(builder.with_allow_http(true), options)
}
