"""A server on the loopback, whose hosts each have a robots.txt of their own.

A host is an address of 127/8, of which Linux has 16 million, so that one crawl asks many hosts. What a host
was asked for is kept.
"""

import ipaddress
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROBOTS = "/robots.txt"


def body_of(status):
    """The file in an answer: it disallows everything, or nothing if the status is an error of the server."""
    return b"User-agent: *\nDisallow: /\n" if status < 500 else b"User-agent: *\nDisallow:\n"


class Host:
    """The answer to the request for robots.txt: a status after so many redirects; and the pages by path."""

    def __init__(self, robots=b"", status=200, redirects=0, pages=None):
        self.robots, self.status, self.redirects, self.pages = robots, status, redirects, pages or {}
        self.targets = []  # The request targets, in the order of requests.

    def took_page(self, but):
        return any(target != but and not target.startswith(ROBOTS) for target in self.targets)

    def took_robots(self):
        return any(target.startswith(ROBOTS) for target in self.targets)

    def answer(self, target):
        """Return status, type, body and location."""
        self.targets.append(target)
        if not target.startswith(ROBOTS):
            page = self.pages.get(target, b"<!doctype html><title>page</title>")
            return 200, "text/html; charset=utf-8", page, None
        hop = int(target.partition("?hop=")[2] or 0)
        if hop < self.redirects:
            return 301, "text/plain", b"", "%s?hop=%d" % (ROBOTS, hop + 1)
        return self.status, "text/plain", self.robots, None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        host = self.server.hosts.get(self.connection.getsockname()[0], Host(status=404))
        status, kind, body, location = host.answer(self.path)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self):
        super().__init__(("", 0), Handler)
        self.hosts = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def verify_request(self, _, address):
        return ipaddress.ip_address(address[0]).is_loopback

    def handle_error(self, *_):
        pass  # A crawler that hangs up.

    def place(self, hosts):
        """Replace all hosts, and return the origin of each."""
        first = int(ipaddress.ip_address("127.1.0.0"))
        names = [str(ipaddress.ip_address(first + number)) for number in range(len(hosts))]
        self.hosts = dict(zip(names, hosts))
        return ["http://%s:%d" % (name, self.server_port) for name in names]
