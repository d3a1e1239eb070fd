"""What the facts mean: functions from facts to findings, which say what is wrong and what to do."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings

from payments import clock
from payments.health.facts import DatabaseUse, LateMessages, OpenCircuit, Partitions, Replication, Unknown
from payments.models import ApiKey, LogHead, Merchant, MoneyCheck
from payments.sweeps.state import WorkerState
from payments.sweeps.webhook_queues import COUNTED_MAX, Queue
from payments.vault.base import Purpose
from payments.vault.key_wraps import WrappedKey, opens

UNKNOWN_MAX_AGE = timedelta(minutes=15)
WEBHOOK_MAX_AGE = timedelta(minutes=2)
# Receivers that are named one by one.
RECEIVERS_NAMED = 5
CHECK_MAX_AGE = timedelta(hours=26)
HEAD_MAX_AGE = timedelta(hours=3)
CLOCK_MAX_DIFFERENCE = timedelta(seconds=2)
STANDBY_MAX_SECONDS = 30.0
STANDBY_MAX_BYTES = 64 * 1024**2
SLOT_MAX_BYTES = 4 * 1024**3
GIGABYTE = 10**9
# Percents of the disk at which somebody should act, and must.
DISK_FULL_SOON, DISK_ALMOST_FULL = 80, 90
CONNECTIONS_MAX_PERCENT = 90
CERTIFICATE_WARNING = timedelta(days=14)
# What makes a Python fast, by the option that it is built with. Distributions do it in ways of their own.
OPTIMIZATIONS = {"--enable-optimizations": "profile-guided optimization", "--with-lto": "link-time optimization"}
OF_DISTRIBUTION = "'--prefix=/usr'"
SET_LIMITS = "Set it on kaha's role, as config/deploy/pgbouncer.sql does."


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, and what to do about it. An urgent one stops or endangers payments.

    `line` is what `/ready` says: anybody may read it where no proxy keeps `/ready` back, so it names no key, migration
    or table. A process that finds what `stops_serving` is not ready.
    """

    what: str
    do: str
    urgent: bool = False
    stops_serving: bool = False
    line: str = ""
    # Whether nothing is wrong, and something could only be better.
    is_advice: bool = False

    @property
    def degree(self) -> str:
        return "urgent" if self.urgent else "advice" if self.is_advice else "wrong"


def lines_of(found: Iterable[Finding], stops_serving: bool) -> list[str]:
    """Return what `/ready` says of `found`: what stops serving, or what it serves without."""
    return list(dict.fromkeys(each.line for each in found if each.line and each.stops_serving == stops_serving))


def of_limits(broken: Sequence[str]) -> Iterator[Finding]:
    for line in broken:
        yield Finding(line, SET_LIMITS, urgent=True, stops_serving=True, line=line)


def of_migrations(missing: Sequence[str]) -> Iterator[Finding]:
    if missing:
        what = f"{len(missing)} migrations are not applied, the first is {missing[0]}."
        do = "Run manage.py migrate, from the version that is deployed."
        yield Finding(what, do, urgent=True, stops_serving=True, line="migrations are not applied; run migrate")


def of_workers(state: WorkerState) -> Iterator[Finding]:
    if not state.alive:
        since = f"since {_moment(state.none_since)}" if state.none_since else "and none ever has"
        do = (
            "Start a worker, and read the end of its log: nothing is recovered, settled or sent to merchants meanwhile."
        )
        yield Finding(f"No worker works {since}.", do, urgent=True)
        return
    for worker in state.silent:
        what = f"The worker on {worker.host} (process {worker.pid}) is silent since {_moment(worker.seen_at)}."
        yield Finding(
            what, "Look whether its host runs, and start it again. One that you removed is forgotten in an hour."
        )


def of_sweeps(state: WorkerState) -> Iterator[Finding]:
    for behind in state.behind():
        what = f"The background task {behind.sweep.name} is behind since {_moment(behind.since)}: {behind.why}."
        yield Finding(
            what, "Look for its name in the worker's log. If it is only slow, start another worker.", urgent=True
        )


def of_redis(fault: str) -> Iterator[Finding]:
    if fault:
        what = f"Redis does not answer ({fault})."
        do = "Start it. Payments continue: webhooks leave a second later, and rates are counted per process."
        yield Finding(what, do, line="Redis does not answer")


def of_providers(circuits: Sequence[OpenCircuit]) -> Iterator[Finding]:
    for provider in sorted({each.provider for each in circuits}):
        routes = [each for each in circuits if each.provider == provider]
        example = f"{routes[0].source_type} of {routes[0].merchant}"
        what = f"{provider.title()} does not answer on {len(routes)} routes, such as {example}."
        do = "Look at the provider's status page. If it lasts, put another account before it in the merchant's routes."
        yield Finding(what, do, urgent=True)


def of_unknown_outcomes(unknown: Unknown) -> Iterator[Finding]:
    if unknown.since and clock.now() - unknown.since > UNKNOWN_MAX_AGE:
        what = f"{unknown.count:,} outcomes are unknown, the oldest since {_moment(unknown.since)}."
        yield Finding(
            what, "Open Unknown outcomes: look each up, or ask the provider by its reference. Never charge again."
        )


def of_webhooks(queues: Sequence[Queue]) -> Iterator[Finding]:
    late = [each for each in queues if each.due and clock.now() - each.oldest_due_at > WEBHOOK_MAX_AGE]
    if waiting := [each for each in late if not each.failing]:
        count, since = sum(each.due for each in waiting), _moment(waiting[0].oldest_due_at)
        what = f"{_at_least(count)} webhooks to {len(waiting)} receivers are due, the oldest since {since}."
        yield Finding(what, "Start another worker if they grow; a receiver that answers slowly delays only its own.")
    failing = sorted((each for each in queues if each.failing), key=lambda each: -each.failing)
    for each in failing[:RECEIVERS_NAMED]:
        merchant = Merchant.objects.values_list("title", flat=True).get(pk=each.merchant_id)
        counts = f"{_at_least(each.failing)} failed, {_at_least(each.due)} are due"
        what = f"Webhooks to {each.receiver} of {merchant} fail: {counts}."
        yield Finding(
            what, "Inform the merchant. They are tried again for three days, and can be sent again afterwards."
        )
    if (more := len(failing) - RECEIVERS_NAMED) > 0:
        yield Finding(f"Webhooks to {more:,} other receivers fail.", "Open Webhooks, filtered by those that fail.")


def of_messages(late: LateMessages) -> Iterator[Finding]:
    to_payers = "Open Messages to payers: each says why. Look at the mail server or the SMS service."
    for rows, wait, do in (
        (late.to_payers, "messages to payers wait", to_payers),
        (late.to_operators, "notifications to operators are not taken", "Look at the mail server or the chat room."),
    ):
        for since, why in rows[:1]:
            yield Finding(f"{_at_least(len(rows))} {wait}, the oldest since {_moment(since)}. {why}".rstrip(), do)


def of_money_check(check: MoneyCheck | None) -> Iterator[Finding]:
    if check is None:
        yield Finding("No money check has finished yet.", "Run manage.py check_money, or start a worker.")
        return
    if check.failures:
        names = ", ".join(str(failure["name"]) for failure in check.failures)
        do = "Open the money check for the objects. Do not correct anything before you know how it came about."
        yield Finding(f"The money check of {_moment(check.started_at)} failed: {names}.", do, urgent=True)
    if clock.now() - check.started_at > CHECK_MAX_AGE:
        what = f"The last money check began at {_moment(check.started_at)}; one is due every day."
        yield Finding(what, "Look for check_money in the worker's log, and run manage.py check_money.")


def of_log_head(found: tuple[int, LogHead | None]) -> Iterator[Finding]:
    leaves, head = found
    if not settings.TRANSPARENCY_KEYS:
        return
    do = "Look for append_to_log in the worker's log. Auditors see that heads are missing."
    if head is None:
        if leaves:
            yield Finding("No head of the transparency log was signed yet; one is due every hour.", do)
    elif clock.now() - head.signed_at > HEAD_MAX_AGE:
        what = f"The last head of the transparency log was signed at {_moment(head.signed_at)}; one is due every hour."
        yield Finding(what, do)
    elif head.signed_at - clock.now() > CLOCK_MAX_DIFFERENCE:
        what = f"The last head of the transparency log says that it was signed at {_moment(head.signed_at)}."
        yield Finding(what, "Correct the workers' clocks. Have auditors leave this head out: it has a wrong time.")


def of_partitions(found: Sequence[Partitions]) -> Iterator[Finding]:
    do = "Start a worker or run manage.py migrate. If both fail, end the transaction that locks the table."
    for each in found:
        if each.missing is None:
            continue
        what = f"{each.table} has no partition from {each.missing} on; without one, no charge can be made then."
        stops, line = each.missing in each.used[:1], ""
        if each.missing in each.used:
            line = f"no table for {'this' if stops else 'next'} month; start a worker or run migrate"
        yield Finding(what, do, urgent=True, stops_serving=stops, line=line)


def of_database(use: DatabaseUse) -> Iterator[Finding]:
    disk_gigabytes = settings.DATABASE_DISK_GB
    percent = use.size_bytes * 100 // (disk_gigabytes * GIGABYTE) if disk_gigabytes else 0
    if percent >= DISK_FULL_SOON:
        what = f"The database takes {use.size_bytes / GIGABYTE:,.1f} GB, {percent} % of DATABASE_DISK_GB."
        do = "Enlarge the disk, or shorten EVENTS_KEEP_DAYS. On a full disk PostgreSQL stops, and so do payments."
        yield Finding(what, do, urgent=percent >= DISK_ALMOST_FULL)
    if use.connections * 100 >= use.connections_max * CONNECTIONS_MAX_PERCENT:
        what = f"{use.connections} of {use.connections_max} connections of PostgreSQL are in use."
        yield Finding(what, "Raise max_connections, or lower DATABASE_CONNECTIONS of each process.", urgent=True)


def of_replication(found: Replication) -> Iterator[Finding]:
    for name, seconds, size in found.standbys:
        if seconds > STANDBY_MAX_SECONDS or size > STANDBY_MAX_BYTES:
            what = f"The standby {name} is {seconds:,.0f} s and {size / 1024**2:,.0f} MiB behind."
            yield Finding(
                what, "Look at its disk, network and long queries. Do not fail over to it before it is level."
            )
    for name, size in found.unused_slots:
        if size > SLOT_MAX_BYTES:
            what = f"Nobody reads the replication slot {name}, which keeps {size / 1024**3:,.1f} GiB of WAL."
            yield Finding(what, "Start its standby, or drop the slot: it fills the disk of the database.", urgent=True)


def of_clock(difference: timedelta) -> Iterator[Finding]:
    if abs(difference) > CLOCK_MAX_DIFFERENCE:
        direction = "ahead of" if difference > timedelta() else "behind"
        what = f"The clock of this host is {abs(difference).total_seconds():,.1f} s {direction} the database's."
        yield Finding(
            what, "Let both hosts follow NTP: receivers refuse webhooks whose signatures are too old or too new."
        )


def of_api_keys(keys: Sequence[ApiKey]) -> Iterator[Finding]:
    if keys:
        first = keys[0]
        end = f"first {first} of {first.merchant.title} at {_moment(first.expires_at)}"
        what = f"{len(keys)} live API keys in use expire within two weeks, {end}."
        yield Finding(what, "Ask the merchant to roll the key; after its end their charges are refused.")


def of_bin_table(is_missing: bool) -> Iterator[Finding]:
    if is_missing:
        what = "The BIN table is empty: bank and funding of live cards are unknown unless a provider says them."
        yield Finding(what, "Import one with manage.py import_bins.")


def of_vault(keys: Iterable[WrappedKey]) -> Iterator[Finding]:
    for key in keys:
        if not opens(key):
            what = f"Data keys wrapped by {key.kek} cannot be opened."
            do = "Put the key back into VAULT_KEYS, or look at the transit engine and its token: cards wait for it."
            # The CVCs of a key are given up after minutes, and new ones have another key.
            stops, line = key.purpose is not Purpose.CVC, "the vault cannot open its data keys; run the doctor"
            yield Finding(what, do, urgent=True, stops_serving=stops, line=line if stops else "")


def of_certificate(end: datetime | None) -> Iterator[Finding]:
    now = clock.now()
    if end and end - now < CERTIFICATE_WARNING:
        what = f"The certificate at PUBLIC_URL {'ended' if end < now else 'ends'} at {_moment(end)}."
        yield Finding(
            what, "Renew it and reload the proxy: merchants and payers cannot connect without.", urgent=end < now
        )


def of_python(options: str) -> Iterator[Finding]:
    lacking = [name for option, name in OPTIMIZATIONS.items() if option not in options]
    if lacking and OF_DISTRIBUTION not in options:
        do = "Run kaha with Debian's Python, as the image of config/deploy does: a charge takes up to a sixth less CPU."
        yield Finding(f"Python was built without {' and '.join(lacking)}.", do, is_advice=True)


def _at_least(count: int) -> str:
    return f"more than {COUNTED_MAX:,}" if count >= COUNTED_MAX else f"{count:,}"


def _moment(moment: datetime | None) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else "now"
