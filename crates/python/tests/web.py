"""A web server on this machine for tests: byte ranges, ETags, conditions, users, and counts."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """A server of objects in memory."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects: dict[str, bytes] = {}
        self.user: str | None = None
        self.requests: list[str] = []
        self.gate: threading.Event | None = None

    def url(self, path: str, user: str = "") -> str:
        """Return the URL of an object."""
        return f"http://{user}127.0.0.1:{self.server_port}/{path}"


class Handler(BaseHTTPRequestHandler):
    """The answers to GET and HEAD."""

    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, with_body: bool) -> None:
        """Send the requested range of an object."""
        path = self.path.split("?")[0].lstrip("/")
        self.server.requests.append(f"{path} {self.headers.get('Range')}")
        if self.server.gate is not None:
            self.server.gate.wait(20)
        expected = self.server.user and "Basic " + base64.b64encode(self.server.user.encode()).decode()
        if expected and self.headers.get("Authorization") != expected:
            return self.fail(401)
        data = self.server.objects.get(path)
        if data is None:
            return self.fail(404)
        tag = f'"{hashlib.sha1(data).hexdigest()}"'
        if self.headers.get("If-Match", tag) != tag:
            return self.fail(412)
        wanted = self.headers.get("Range")
        start, end = 0, len(data)
        if wanted:
            first, last = wanted.removeprefix("bytes=").split("-")
            start, end = int(first), min(int(last) + 1, len(data)) if last else len(data)
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.send_header("Content-Length", str(end - start))
        self.send_header("ETag", tag)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()
        if with_body:
            self.wfile.write(data[start:end])
        return None

    def fail(self, status: int) -> None:
        """Send an error."""
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def serve(**objects: bytes) -> Iterator[Server]:
    """Run a server of objects."""
    server = Server()
    server.objects.update(objects)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        if server.gate is not None:
            server.gate.set()
        server.shutdown()
        server.server_close()
