"""A TCP relay before kaha, by which a test takes the service away and gives it back."""

import socket
from contextlib import suppress
from threading import Thread


class Relay:
    """Passes connections on to `port` of this machine, from a port of its own that stays the same."""

    def __init__(self, port: int) -> None:
        self._target = port
        self.port = 0
        self._sockets: list[socket.socket] = []
        self.restore()

    def restore(self) -> None:
        """Accept connections."""
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        self._listener.listen()
        Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self) -> None:
        """End every connection and refuse new ones."""
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._sockets = []

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near = listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self._target))
                self._sockets += [near, far]
                for one, other in ((near, far), (far, near)):
                    Thread(target=_pump, args=(one, other), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while read := source.recv(65536):
            target.sendall(read)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
