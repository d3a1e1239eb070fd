"""Requests through the application as a web server calls it (PEP 3333)."""

import json
import logging
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

from config.wsgi import application
from tests.fuzz.inputs.requests import Case

logger = logging.getLogger("kaha.error")

# A server gives these two without the prefix of the others.
OWN_NAMES = {"CONTENT_TYPE", "CONTENT_LENGTH"}


@dataclass(frozen=True)
class Answer:
    """What a request was answered."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        """Raises ValueError where it is none."""
        return json.loads(self.content)


def ask(case: Case, protocol: str = "HTTP/1.1") -> Answer:
    """Send `case`; what the application raises, a server answers with a 500 of its own."""
    status_line: list[Any] = []
    try:
        with closing(application(_environ(case, protocol), lambda *line: status_line.extend(line))) as parts:
            content = b"".join(parts)
    except Exception:
        logger.exception("The application raised.")
        return Answer(500, {}, b"")
    return Answer(int(status_line[0].split()[0]), dict(status_line[1]), content)


def _environ(case: Case, protocol: str) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": case.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(case.path).decode("latin-1"),
        "QUERY_STRING": case.query,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": protocol,
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1:8000",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(case.body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        **_length(case),
        **{_name(name): value for name, value in case.headers.items()},
    }


def _length(case: Case) -> dict[str, Any]:
    """Return the server states the length of every body that it has read."""
    return {"CONTENT_LENGTH": str(len(case.body))} if case.body else {}


def _name(header: str) -> str:
    name = header.upper().replace("-", "_")
    return name if name in OWN_NAMES else f"HTTP_{name}"
