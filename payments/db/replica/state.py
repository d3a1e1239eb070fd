"""Whether the replica may be read from, for those who look after it."""

import math
import time
from contextlib import suppress
from dataclasses import dataclass

import psycopg
from django.conf import settings
from django.db import connection, connections

from payments.db.backend import session
from payments.db.replica import REPLICA
from payments.db.replica.positions import positions
from payments.db.replica.reads import REPLAYED, is_configured

PAUSE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """The age of its data (None: not known yet; infinite: above all that is known), and what is wrong with it."""

    age_seconds: float | None = None
    faults: tuple[str, ...] = ()
    error: str = ""

    @property
    def is_behind(self) -> bool:
        return self.age_seconds is not None and self.age_seconds > settings.REPLICA_MAX_LAG_SECONDS


def read_state() -> ReplicaState | None:
    """Return its state by the positions that this process has noted; None without a replica."""
    if not is_configured():
        return None
    own = connections[REPLICA]
    try:
        params = own.get_connection_params()
        with session.open_outside_pool(params, application_name="kaha monitor") as probe:
            [[replayed]] = probe.execute(REPLAYED).fetchall()
            age = math.inf if replayed is None else positions.age_seconds(replayed)
            is_known = age < math.inf or replayed is None or _are_old_enough()
            faults = session.faults_of(probe, own.statement_time_seconds)  # type: ignore[attr-defined]
            return ReplicaState(age if is_known else None, tuple(faults))
    except psycopg.Error as error:
        return ReplicaState(error=type(error).__name__)


def find_state() -> ReplicaState | None:
    """Return its state in a process that notes no positions, within REPLICA_MAX_LAG_SECONDS or little more."""
    if not is_configured():
        return None
    until = time.monotonic() + settings.REPLICA_MAX_LAG_SECONDS + PAUSE_SECONDS
    # Another check says so where the primary does not answer.
    with suppress(psycopg.Error), session.open_outside_pool(connection.get_connection_params()) as primary:
        positions.note(primary)
    while (state := read_state()) and not state.error and state.age_seconds is None and time.monotonic() < until:
        time.sleep(PAUSE_SECONDS)
    return state


def _are_old_enough() -> bool:
    return positions.known_seconds() > settings.REPLICA_MAX_LAG_SECONDS
