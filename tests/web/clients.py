"""Clients that speak HTTP by hand, from addresses of their own on loopback."""

import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse

PATIENCE_SECONDS = 60
# All of 127.0.0.0/8 is loopback.
ATTACKER, OTHER = "127.0.0.66", "127.0.0.7"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def connect(port: int, address: str = OTHER) -> socket.socket:
    """Return a connection to the server, from `address`."""
    return socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS, source_address=(address, 0))


def head(line: str, *headers: bytes, key: str = "") -> bytes:
    """Return the beginning of a request, up to the empty line after the headers."""
    authorization = f"Authorization: Bearer {key}\r\n".encode() if key else b""
    lines = b"".join(headers)
    fixed = b"Host: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{line} HTTP/1.1\r\n".encode() + fixed + authorization + lines + b"\r\n"


def length(body: bytes) -> bytes:
    """Return the Content-Length header."""
    return f"Content-Length: {len(body)}\r\n".encode()


def answer_on(connection: socket.socket, method: str = "GET") -> tuple[HTTPResponse, bytes]:
    """Return the next answer on a connection, with its body."""
    response = HTTPResponse(connection, method=method)
    response.begin()
    return response, response.read()


def ask(port: int, sent: bytes, address: str = OTHER) -> tuple[HTTPResponse, bytes]:
    """Return the answer to one request on a connection of its own."""
    with connect(port, address) as connection:
        connection.sendall(sent)
        return answer_on(connection, sent.partition(b" ")[0].decode())


def status_of(port: int, sent: bytes, address: str = OTHER) -> int:
    return ask(port, sent, address)[0].status


@contextmanager
def open_sockets(port: int, count: int, sent: bytes, address: str = ATTACKER) -> Iterator[list[socket.socket]]:
    """Yield this many connections, each of which has sent these bytes and sends no more."""
    with ExitStack() as stack:
        connections = [stack.enter_context(connect(port, address)) for _ in range(count)]
        for connection in connections:
            connection.sendall(sent)
        yield connections


def is_closed(connection: socket.socket) -> bool:
    """Wait, and return whether the server closes the connection; earlier data is ignored."""
    try:
        while connection.recv(65_536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def answered(connections: list[socket.socket]) -> list[socket.socket]:
    """Return the connections on which the server has sent something."""
    poll = select.poll()
    by_number = {connection.fileno(): connection for connection in connections}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(0)]
