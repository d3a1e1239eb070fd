"""A scrape of a real web server and of a real worker."""

import json
import os
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from payments.domain.merchants.merchants import create_merchant
from payments.embedded.processes import wait_until
from payments.providers.registry import CONNECTORS, PROVIDERS
from payments.quickstart.ports import HOST
from tests.client import Api
from tests.metrics.conftest import PATIENCE_SECONDS, Families, Server, listens, value, web
from tests.metrics.test_rules import RULES, queries_of_board
from tests.support.processes import with_children
from tests.support.receiver import Receiver
from tests.web.clients import ask, head, length

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

METRIC = re.compile(r"\bkaha_[a-z_]+")


def charge(server: Server, api: Api, **members: Any) -> None:
    order = {"amount": 10_000, "currency": "PHP", "source": api.source(**members), "description": "Halo-halo"}
    body = json.dumps(order).encode()
    response, _ = ask(server.port, head("POST /v2/charges/", length(body), key=api.key) + body)
    assert response.status == 201


def outsider() -> bytes:
    """Return the header of a proxy for an address that was never counted."""
    return f"X-Forwarded-For: {uuid4().hex}\r\n".encode()


class Grown:
    """How much counts have grown since this was made: other tests ask the same server."""

    def __init__(self, server: Server) -> None:
        self._server, self._before = server, server.scrape()

    def by(self, name: str, **labels: str) -> float:
        return value(self._server.scrape(), name, **labels) - value(self._before, name, **labels)


def sample_names(families: Families) -> set[str]:
    return {family.name for family in families.values()} | {
        sample.name for family in families.values() for sample in family.samples
    }


def test_a_charge_is_counted_by_route_provider_and_outcome_over_all_processes(server: Server, api: Api) -> None:
    grown = Grown(server)
    for _ in range(6):
        charge(server, api)
    assert grown.by("kaha_requests_total", route="v2/charges/?$", method="POST", status="201") == 6
    assert grown.by("kaha_request_seconds_count", route="v2/charges/?$") == 6
    asked = {"provider": "simulator", "operation": "authorize", "outcome": "Approved"}
    assert grown.by("kaha_provider_calls_total", **asked) == 6
    assert grown.by("kaha_provider_call_seconds_count", provider="simulator") == 6
    assert grown.by("kaha_charges_total", mode="test", outcome="Approved") == 6


def test_no_label_grows_with_paths_methods_merchants_or_keys(server: Server, api: Api) -> None:
    charge(server, api)
    ask(server.port, head("GET /v2/nothing", outsider()))
    ask(server.port, head("ODD /v2/nothing", outsider()))
    before = {(sample.name, *sample.labels.items()) for family in server.scrape().values() for sample in family.samples}
    for number in range(20):
        ask(server.port, head(f"GET /v2/nothing/{number}", outsider()))
        ask(server.port, head(f"ODD{number} /v2/nothing/{number}", outsider()))
        ask(server.port, head(f"GET /{'x' * number}/%00/../{number}", outsider()))
    for number in range(3):
        charge(server, Api(create_merchant(f"Merchant {number}").keys["sk_test"]))
    after = {(sample.name, *sample.labels.items()) for family in server.scrape().values() for sample in family.samples}
    routes = {dict(labels).get("route") for _, *labels in after - before}
    assert routes <= {"none", None}
    assert len(after - before) <= 24
    text = str(after)
    assert not re.search(r"(ch|mer|key|src|req|cus)_[0-9a-f]{4}|[spr]k_(test|live)|nothing|ODD", text)
    providers = {dict(labels).get("provider") for _, *labels in after} - {None}
    assert providers <= PROVIDERS.keys() | CONNECTORS.keys()


def test_a_request_that_no_thread_took_is_counted_without_a_route(server: Server) -> None:
    grown = Grown(server)
    response, _ = ask(server.port, head("POST /providers/none/webhooks", outsider(), length(b"late")))
    assert response.status == 408
    assert grown.by("kaha_requests_total", route="none", method="POST", status="408") == 1


def test_pages_that_are_refused_without_a_thread_are_counted_by_route(server: Server) -> None:
    grown, page = Grown(server), head("GET /checkout/cs_0", b"Accept: text/html\r\n", outsider())
    assert [ask(server.port, page)[0].status for _ in range(20)] == [404, *[429] * 19]
    assert grown.by("kaha_requests_total", route="checkout/<str:token>", status="429") == 19


def test_a_scraper_that_sends_nothing_delays_others_only_for_seconds(server: Server) -> None:
    with socket.create_connection((HOST, server.metrics_port)) as silent:
        assert value(server.scrape(), "kaha_postgresql_up") == 1
        silent.settimeout(PATIENCE_SECONDS)
        assert silent.recv(1) == b""


def test_the_gauges_of_a_process_that_died_are_gone_and_its_counts_stay(server: Server, api: Api) -> None:
    grown = Grown(server)
    for _ in range(4):
        charge(server, api)
    assert wait_until(lambda: value(server.scrape(), "kaha_threads") == 400, PATIENCE_SECONDS)
    for child in with_children(server.pid)[1:]:
        if "manage.py" in Path(f"/proc/{child}/cmdline").read_text():
            os.kill(child, signal.SIGKILL)
            break
    assert wait_until(lambda: value(server.scrape(), "kaha_threads") == 200, PATIENCE_SECONDS)
    assert wait_until(lambda: value(server.scrape(), "kaha_threads") == 400, PATIENCE_SECONDS)
    assert grown.by("kaha_charges_total") == 4


def test_the_public_port_shows_no_metrics_and_the_folder_goes_with_the_server(tmp_path: Path, api: Api) -> None:
    with web(tmp_path) as server:
        response, content = ask(server.port, head("GET /metrics"))
        assert (response.status, b"kaha_" in content) == (404, False)
        assert len(list(tmp_path.glob("kaha-metrics-*/*.db"))) > 2
        ports = server.port, server.metrics_port
    assert not list(tmp_path.glob("kaha-metrics-*"))
    assert not any(listens(port) for port in ports)


def test_without_an_address_nothing_listens(tmp_path: Path, db: None) -> None:
    with web(tmp_path, METRICS_ADDRESS="") as server:
        assert not listens(server.metrics_port)


def test_every_metric_of_the_rules_and_the_board_is_in_a_scrape(
    server: Server, worker_scrape: Callable[[], Families], api: Api, receiver: Receiver
) -> None:
    urls = dict.fromkeys(("success", "fail", "notify"), receiver.url)
    charge(server, api, redirect=urls)
    named = set(METRIC.findall(RULES.read_text())) | {
        name for query in queries_of_board() for name in METRIC.findall(query)
    }
    assert wait_until(lambda: value(worker_scrape(), "kaha_workers") == 1, PATIENCE_SECONDS)
    assert wait_until(lambda: value(worker_scrape(), "kaha_webhook_attempts_total", result="2xx") > 0, PATIENCE_SECONDS)
    there = sample_names(worker_scrape()) | sample_names(server.scrape())
    assert len(named) > 30
    assert named - there == set()
    assert value(worker_scrape(), "kaha_threads") == 8
