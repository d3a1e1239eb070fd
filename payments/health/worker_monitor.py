"""A monitor of the workers, which sends the alarm itself while none works, because no worker can."""

import logging
import time
from threading import Thread

from payments.concurrency.connections import release_connection
from payments.sweeps.state import read_state

logger = logging.getLogger("kaha.health")

PAUSE_SECONDS = 15.0
# Longer than workers take to be replaced; with their silence before it is known, within two minutes.
ALARM_AFTER_SECONDS = 30.0


class WorkerMonitor:
    """What is wrong with the workers, known without a query."""

    def __init__(self) -> None:
        self.warning = ""
        self._none_since: float | None = None

    def start(self) -> None:
        """Watch until the process ends."""
        Thread(target=self._watch_for_ever, name="worker-monitor", daemon=True).start()

    def _watch_for_ever(self) -> None:
        while True:
            try:
                self.watch()
            except Exception as error:  # noqa: BLE001 # the database's own monitor says what it is about
                logger.info("The workers could not be looked at.", extra={"error": type(error).__name__})
            finally:
                release_connection()
            time.sleep(PAUSE_SECONDS)

    def watch(self) -> None:
        """Look once; send the alarm where no worker has worked for a while."""
        state = read_state()
        if state.alive:
            self.warning, self._none_since = "", None
            return
        self._none_since = self._none_since or time.monotonic()
        if time.monotonic() - self._none_since >= ALARM_AFTER_SECONDS:
            since = f"since {state.none_since:%Y-%m-%dT%H:%M:%SZ}" if state.none_since else "yet"
            self.warning = f"no worker works {since}"
            send_alarm()


def send_alarm() -> None:
    """Send what needs attention as a worker does; each message goes out once, though several processes send."""
    # Only now, for a web process starts faster without them.
    from payments.inbox import announcements, mails

    announcements.announce()
    mails.send_due()
