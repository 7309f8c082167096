//! Uploads of objects, also in parts as the interface of S3 has them, with conditions.

use super::{Request, Shared, State};

const UPLOADS: &str = "<?xml version=\"1.0\"?><InitiateMultipartUploadResult><Bucket>b</Bucket><Key>k</Key>\
<UploadId>NUMBER</UploadId></InitiateMultipartUploadResult>";

const COMPLETED: &str = "<?xml version=\"1.0\"?><CompleteMultipartUploadResult><Bucket>b</Bucket><Key>k</Key>\
<ETag>TAG</ETag></CompleteMultipartUploadResult>";

impl Shared {
    /// Answers a request that changes objects.
    pub(super) fn write(&self, request: &Request) -> String {
        let mut state = self.state();
        let number = |name: &str| {
            let mut fields = request.query.split('&').filter_map(|field| field.split_once('='));
            fields.find(|(key, _)| *key == name).and_then(|(_, value)| value.parse::<u64>().ok())
        };
        match (request.method.as_str(), number("uploadId"), number("partNumber")) {
            ("POST", None, _) => {
                state.uploads += 1;
                answer("200 OK", &UPLOADS.replace("NUMBER", &state.uploads.to_string()), None)
            }
            ("PUT", Some(upload), Some(part)) => {
                state.parts.insert((upload, part), request.body.clone());
                answer("200 OK", "", Some(&format!("\"p{part}\"")))
            }
            ("POST", Some(upload), _) => {
                if !state.accepts(request) {
                    return answer("412 Precondition Failed", "", None);
                }
                let parts: Vec<_> = state.parts.range((upload, 0)..(upload + 1, 0)).collect();
                let bytes: Vec<u8> = parts.into_iter().flat_map(|(_, part)| part.clone()).collect();
                state.parts.retain(|(of, _), _| *of != upload);
                let tag = state.store(&request.path, bytes);
                answer("200 OK", &COMPLETED.replace("TAG", &tag), None)
            }
            ("DELETE", Some(upload), _) => {
                state.parts.retain(|(of, _), _| *of != upload);
                answer("204 No Content", "", None)
            }
            ("PUT", None, _) if state.accepts(request) => {
                let tag = state.store(&request.path, request.body.clone());
                answer("200 OK", "", Some(&tag))
            }
            ("PUT", ..) => answer("412 Precondition Failed", "", None),
            _ => answer("405 Method Not Allowed", "", None),
        }
    }
}

impl State {
    /// Returns whether the condition of a request holds for the object that it would replace.
    fn accepts(&self, request: &Request) -> bool {
        let tag = self.objects.get(&request.path).map(|(_, version)| format!("\"v{version}\""));
        match (&request.if_match, &request.if_none_match) {
            (Some(wanted), _) => tag.as_ref() == Some(wanted),
            (None, Some(_)) => tag.is_none(),
            (None, None) => true,
        }
    }

    /// Adds or replaces an object, and returns its tag.
    fn store(&mut self, path: &str, bytes: Vec<u8>) -> String {
        let version = self.objects.get(path).map_or(1, |(_, version)| version + 1);
        self.objects.insert(path.to_owned(), (bytes.into(), version));
        format!("\"v{version}\"")
    }
}

fn answer(status: &str, body: &str, tag: Option<&str>) -> String {
    let tag = tag.map_or(String::new(), |tag| format!("ETag: {tag}\r\n"));
    format!("HTTP/1.1 {status}\r\n{tag}Content-Length: {}\r\n\r\n{body}", body.len())
}
