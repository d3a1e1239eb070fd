"""The trace of a run of a sweep, with its statements, its questions to providers and its attempts of webhooks."""

from collections.abc import Iterator

import pytest
from celery.signals import task_postrun, task_prerun
from celery.utils.dispatch import Signal

from config import traced_sweeps
from config.celery import app
from config.logs import task_log
from config.worker import run_sweep
from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make
from payments.ids import new_id, public_id
from payments.models import Attempt
from payments.providers.base import Unknown
from payments.traces import spans, sweeps
from payments.traces.calls import record_provider_call
from payments.traces.statements import MOST_SPANS
from tests.client import ANSWER_LOST, Api, made
from tests.disputes.stories import dispute_on
from tests.payouts.stories import give_account, give_schedule, settled
from tests.test_logging import Lines, lines  # noqa: F401  the log as it is written
from tests.traces.conftest import Sent
from tests.traces.listeners import SpanGot

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker(exporting: Sent) -> Iterator[None]:
    """Have the tasks of this process logged and traced, as those of a worker are."""
    before = {signal: list(signal.receivers or ()) for signal in (task_prerun, task_postrun)}
    app.finalize()
    for signal in before:
        signal.receivers = []
        _forget(signal)
    task_log.connect()
    traced_sweeps.connect()
    yield
    for signal, receivers in before.items():
        signal.receivers = receivers
        _forget(signal)


def _forget(signal: Signal) -> None:
    signal.sender_receivers_cache.clear()


def roots(found: list[SpanGot]) -> list[SpanGot]:
    return [span for span in found if not span.parent and span.name.startswith("sweep ")]


def of_sweep(found: list[SpanGot]) -> tuple[SpanGot, list[SpanGot]]:
    """Return the root of the only run that was recorded, and all spans below it."""
    [root] = roots(found)
    below = [span for span in found if span.trace == root.trace and span is not root]
    assert {span.parent for span in below} <= {root.id}
    return root, below


def lost(api: Api) -> str:
    """Make a charge whose outcome is unknown and due to be looked up; return the ID of its request."""
    api.charge(ANSWER_LOST)
    Attempt.objects.exclude(state="done").update(due_at=clock.now())
    return Attempt.objects.latest("id").request_id


@pytest.mark.usefixtures("worker")
def test_a_run_is_a_trace_with_what_it_asked_of_its_provider(traced: Api, exporting: Sent) -> None:
    request_id = lost(traced)
    assert run_sweep(app, "resolve_attempts") == ""
    found = exporting()
    root, below = of_sweep(found)
    assert (root.name, root.attributes["kaha.result"], root.failed) == ("sweep resolve_attempts", 1, False)
    assert root.attributes["kaha.calls"] == 1
    [call] = [span for span in below if span.name.startswith("provider ")]
    assert call.attributes["kaha.request"] == request_id
    assert root.started <= call.started <= call.ended <= root.ended
    statements = [span for span in below if span.name == "statement"]
    assert any("payments_attempt" in span.attributes["db.query.summary"] for span in statements)
    # The request's own trace has the same question.
    own = [span for span in found if span.trace == request_id.partition("_")[2] and span.name == call.name]
    assert [(span.started, span.ended) for span in own].count((call.started, call.ended)) == 1


@pytest.mark.usefixtures("worker", "fees")
def test_payouts_and_responses_to_disputes_are_in_the_run_that_sends_them(
    api: Api, shop: NewMerchant, exporting: Sent
) -> None:
    path = dispute_on(api)
    made(api.post(f"{path}/accept"))
    settled(api)
    give_account(shop.merchant)
    make.make_now(give_schedule(shop.merchant).id)
    assert [run_sweep(app, name) for name in ("send_payouts", "send_dispute_responses")] == ["", ""]
    found = exporting()
    calls = {
        root.name: [
            span.attributes for span in found if span.trace == root.trace and "kaha.provider" in span.attributes
        ]
        for root in roots(found)
    }
    assert calls == {
        "sweep send_payouts": [{"kaha.provider": "simulator", "kaha.operation": "payout", "kaha.outcome": "Accepted"}],
        "sweep send_dispute_responses": [
            {"kaha.provider": "simulator", "kaha.operation": "respond", "kaha.outcome": "Approved"}
        ],
    }


@pytest.mark.usefixtures("worker")
def test_a_run_that_finds_nothing_to_do_leaves_no_trace(exporting: Sent) -> None:
    assert run_sweep(app, "resolve_attempts") == ""
    assert exporting() == []


@pytest.mark.usefixtures("worker")
def test_a_run_that_fails_is_marked_by_the_class_of_its_error(exporting: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise LookupError("4242424242424242")

    monkeypatch.setattr("payments.ledger.settlement.settle_all_due", fail)
    assert run_sweep(app, "settle_due") == "LookupError"
    found = exporting()
    root, _ = of_sweep(found)
    assert (root.failed, root.attributes["error.type"]) == (True, "LookupError")
    assert "42424242" not in repr(found)


@pytest.mark.usefixtures("worker")
def test_a_share_of_all_runs_is_sampled_and_without_one_nothing_is_collected(traced: Api, exporting: Sent) -> None:
    spans.export_to(spans.exporter(), 0)
    lost(traced)
    assert run_sweep(app, "resolve_attempts") == ""
    assert exporting() == []
    assert sweeps.begin("resolve_attempts") is None


def test_half_of_all_runs_are_sampled_at_a_rate_of_a_half(exporting: Sent) -> None:
    spans.export_to(spans.exporter(), 0.5)
    assert 400 < sum(sweeps.begin("settle_due") is not None for _ in range(1000)) < 600


@pytest.mark.usefixtures("worker")
def test_the_line_of_a_run_names_its_trace(traced: Api, exporting: Sent, lines: Lines) -> None:  # noqa: F811
    lost(traced)
    run_sweep(app, "resolve_attempts")
    root, _ = of_sweep(exporting())
    [line] = lines.of("kaha.task")
    assert line["trace_id"] == root.trace
    assert sweeps.under_way.get() is None


def test_a_run_has_a_bounded_number_of_spans(exporting: Sent) -> None:
    run = sweeps.begin("deliver_webhooks")
    assert run
    token = sweeps.under_way.set(run)
    for _ in range(sweeps.MOST_CALLS + 5):
        record_provider_call("", "simulator", "authorize", Unknown(""), 0.1, True)
    for _ in range(MOST_SPANS + 5):
        run.statements(lambda sql, *_: sql, "SELECT 1", [], False, {})
    sweeps.under_way.reset(token)
    run.end(1, "")
    root, below = of_sweep(exporting())
    assert len(below) == sweeps.MOST_CALLS + MOST_SPANS
    assert root.attributes["kaha.calls"] == sweeps.MOST_CALLS + 5


def test_a_call_outside_of_requests_and_sweeps_is_not_recorded(exporting: Sent) -> None:
    record_provider_call("", "simulator", "authorize", Unknown(""), 0.1, True)
    record_provider_call(public_id("req", new_id()), "simulator", "authorize", Unknown(""), 0.1, True)
    [span] = exporting()
    assert span.failed


@pytest.mark.parametrize("endpoint", ["", "http://127.0.0.1:4318"])
def test_tasks_are_traced_only_where_traces_are_on(settings, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint
    connected = []
    for signal in ("task_prerun", "task_postrun"):
        monkeypatch.setattr(f"config.traced_sweeps.{signal}", Recorder(connected))
    traced_sweeps.connect()
    assert len(connected) == (2 if endpoint else 0)


class Recorder:
    """A signal that keeps what is connected to it."""

    def __init__(self, connected: list[object]) -> None:
        self._connected = connected

    def connect(self, receiver: object, weak: bool) -> None:
        self._connected.append(receiver)
