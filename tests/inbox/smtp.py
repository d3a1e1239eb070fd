"""A mail server on loopback, which keeps what it takes."""

import socketserver
import threading
from email import message_from_bytes
from email.message import Message
from types import TracebackType
from typing import Self

from pytest_django.fixtures import Settings

BACKEND = "django.core.mail.backends.smtp.EmailBackend"


class _Session(socketserver.StreamRequestHandler):
    server: "Server"

    def handle(self) -> None:
        self._say(b"220 ready")
        while line := self.rfile.readline():
            verb = line[:4].upper().strip()
            if verb == b"QUIT":
                self._say(b"221 bye")
                return
            if verb == b"DATA":
                self._say(b"354 send it")
                message = message_from_bytes(self._message())
                if not self.server.refusal_of_data:
                    self.server.mails.append(message)
                self._say(self.server.refusal_of_data or b"250 taken")
            else:
                refused = verb == b"RCPT" and any(name in line for name in self.server.refuses)
                self._say(self.server.refusal if refused else b"250 ok")

    def _message(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line)
        return b"".join(lines)

    def _say(self, line: bytes) -> None:
        self.wfile.write(line + b"\r\n")


class Server(socketserver.ThreadingTCPServer):
    """Takes every mail but those to the addresses that contain one of `refuses`, which it answers with `refusal`."""

    daemon_threads = True
    refusal = b"550 nobody"
    # What it answers to every whole mail in place of taking it.
    refusal_of_data = b""

    def __init__(self, *refuses: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.refuses, self.mails = refuses, list[Message]()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()


def use(settings: Settings, server: Server) -> None:
    """Have mails go to `server`."""
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = BACKEND, "127.0.0.1", server.port
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_HOST_USER, settings.EMAIL_TIMEOUT = "", 5
