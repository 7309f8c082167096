"""A client of the benchmark for large answers: many connections, and one large buffer.

`wrk` takes 8 KiB at once, so that for answers of some MiB it is slower than the servers.
"""

import re
import selectors
import socket
import time
import urllib.parse

BUFFER_BYTES = 1 << 20
HEAD_END = b"\r\n\r\n"


class Connection:
    """A connection that sends one request again and again."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.request = f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()
        self.socket = socket.create_connection((parts.hostname, parts.port))
        self.head, self.left = b"", None

    def send(self):
        self.socket.sendall(self.request)

    def receive(self, view):
        """Takes the bytes that are there. Returns true at the end of an answer."""
        count = self.socket.recv_into(view)
        if count == 0:
            raise OSError("the server ended the connection")
        if self.left is None:
            self.head += bytes(view[:count])
            head, end, start = self.head.partition(HEAD_END)
            if not end:
                return False
            if not head.startswith(b"HTTP/1.1 200"):
                raise OSError(head.decode())
            self.left = int(re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)[1])
            self.head, count = b"", len(start)
        self.left -= count
        if self.left:
            return False
        self.left = None
        return True


def rate(urls, clients, seconds):
    """Returns the answers in a second, if each client asks for one of the URLs again and again."""
    connections = [Connection(urls[number % len(urls)]) for number in range(clients)]
    view = memoryview(bytearray(BUFFER_BYTES))
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send()
        start, answers = time.perf_counter(), 0
        while (took := time.perf_counter() - start) < seconds:
            for key, _ in selector.select(1):
                if key.data.receive(view):
                    answers += 1
                    key.data.send()
    for connection in connections:
        connection.socket.close()
    return answers / took
