"""The port of the web server, claimed before anything is started."""

import socket
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException

from payments.quickstart.supervisor import Failed

HOST = "127.0.0.1"


def claim(port: int) -> socket.socket:
    """Bind a port (0: any free one) and keep it for the web server, whose workers share it (SO_REUSEPORT).

    The socket never listens, so it takes no connection from them. Raises Failed where the port cannot be bound.
    """
    claimed = socket.socket()
    claimed.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((HOST, port))
            chosen = trial.getsockname()
        claimed.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        claimed.bind(chosen)
    except OSError as error:
        claimed.close()
        if isinstance(error, PermissionError):
            reason = f"port {port} needs rights that this user has not: choose one from 1024 up with --port."
        else:
            reason = f"port {port} is taken: choose another with --port (0 picks a free one)."
        raise Failed(reason) from error
    return claimed


def answers(port: int) -> bool:
    """Return whether a web server answers there."""
    connection = HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/ping")
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
