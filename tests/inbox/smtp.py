"""A mail server on loopback, which keeps what it takes."""

import socketserver
import threading
from email import message_from_bytes
from email.message import Message
from types import TracebackType
from typing import Self


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
                self.server.mails.append(message_from_bytes(self._message()))
                self._say(b"250 taken")
            else:
                refused = verb == b"RCPT" and any(name in line for name in self.server.refuses)
                self._say(b"550 nobody" if refused else b"250 ok")

    def _message(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line)
        return b"".join(lines)

    def _say(self, line: bytes) -> None:
        self.wfile.write(line + b"\r\n")


class Server(socketserver.ThreadingTCPServer):
    """Takes every mail but those to the addresses that contain one of `refuses`."""

    daemon_threads = True

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
