"""Several installations behind one address: a real HAProxy leads each request to the cell that its key names."""

import hashlib
import os
import re
import shutil
import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from config.boot.checks import check_environment
from payments.domain.merchants.api_keys import create_key, find_key
from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import spawn, stop, wait_until
from payments.models import ApiKey
from payments.quickstart.ports import HOST
from payments.sensitive_data.redaction import redact
from tests.client import Api
from tests.deploy.conftest import FILES, free_port, make_certificate

CLUSTER = FILES / "cluster"
RANDOM = "0123456789abcdef" * 3
MOVED, MOVING = f"sk_live_second_{RANDOM[::-1]}", f"sk_live_{RANDOM[::-1]}"


class Cell(BaseHTTPRequestHandler):
    """Answers with its name, and the address that the proxy says the client has."""

    def __init__(self, name: str, *arguments: Any) -> None:
        self.name = name
        super().__init__(*arguments)

    def do_GET(self) -> None:
        body = f"{self.name} {self.headers.get('X-Forwarded-For', '')}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def cell(name: str) -> Iterator[str]:
    server = ThreadingHTTPServer((HOST, 0), partial(Cell, name))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"{HOST}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    program = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("no haproxy is installed (Debian: haproxy)")
    folder = tmp_path_factory.mktemp("cells")
    make_certificate(folder / "tls")
    folder.chmod(0o755)
    with ExitStack() as stack:
        first, second = (stack.enter_context(cell(name)) for name in ("first", "second"))
        port = stack.enter_context(free_port())
        (folder / "haproxy.cfg").write_text(config(folder, port))
        (folder / "cells.map").write_text((CLUSTER / "cells.map").read_text())
        digests = [hashlib.sha256(key.encode()).hexdigest().upper() for key in (MOVED, MOVING)]
        moved = f"{digests[0]} first\n{digests[1]} moving\n"
        (folder / "moved.map").write_text((CLUSTER / "moved.map").read_text() + moved)
        environment = os.environ | {"KAHA_FIRST": first, "KAHA_SECOND": second}
        process = spawn(
            [program, "-db", "-f", str(folder / "haproxy.cfg")],
            log=folder / "proxy.log",
            environment=environment,
            cwd=folder,
        )
        stack.callback(stop, process, timeout_seconds=5)
        verify = ssl.create_default_context(cafile=str(folder / "tls" / "fullchain.pem"))
        client = stack.enter_context(httpx.Client(base_url=f"https://{HOST}:{port}", verify=verify))
        assert wait_until(lambda: _answers(client), 20), (folder / "proxy.log").read_text()
        yield client


def config(folder: Path, port: int) -> str:
    """Return the sample as it stands, but for paths, the port, the user, and TLS to the cells."""
    text = (CLUSTER / "haproxy-cells.cfg").read_text().replace("bind :443", f"bind {HOST}:{port}")
    text = text.replace("/etc/kaha/tls/", f"{folder}/tls/").replace("/etc/kaha/", f"{folder}/")
    text = re.sub(r"^    (user|group) haproxy\n", "", text, flags=re.MULTILINE)
    return re.sub(r" ssl verify required ca-file \S+", "", text)


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/v2/ping").status_code == 200
    except httpx.TransportError:
        return False


def basic(key: str) -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{key}:".encode()).decode()}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.tools
@pytest.mark.parametrize("header", [basic, bearer])
@pytest.mark.parametrize("kind", ["sk_live", "sk_test", "rk_live", "rk_test", "pk_live", "pk_test"])
def test_a_key_leads_to_its_cell(proxy: httpx.Client, kind: str, header: Any) -> None:
    assert proxy.get("/v2/me", headers=header(f"{kind}_second_{RANDOM}")).text.split()[0] == "second"
    assert proxy.post("/v2/charges/", headers=header(f"{kind}_{RANDOM}"), json={}).text.split()[0] == "first"


@pytest.mark.tools
@pytest.mark.parametrize("headers", [{}, basic("sk_live_nowhere_00"), {"Authorization": "Basic ???"}, bearer("none")])
def test_what_has_no_key_of_any_cell_is_refused_by_the_first(proxy: httpx.Client, headers: dict[str, str]) -> None:
    assert proxy.get("/v2/me", headers=headers).text.split()[0] == "first"


@pytest.mark.tools
def test_a_key_of_a_merchant_who_has_moved_leads_to_the_new_cell(proxy: httpx.Client) -> None:
    assert proxy.get("/v2/me", headers=basic(MOVED)).text.split()[0] == "first"


@pytest.mark.tools
def test_a_merchant_who_is_being_moved_is_asked_to_wait(proxy: httpx.Client) -> None:
    answer = proxy.post("/v2/charges/", headers=bearer(MOVING), json={})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert answer.json()["error"]["code"] == "internal_error"


@pytest.mark.tools
def test_a_cell_is_given_the_address_that_is_true(proxy: httpx.Client) -> None:
    answer = proxy.get("/v2/me", headers=basic(f"sk_live_second_{RANDOM}") | {"X-Forwarded-For": "203.0.113.9"})
    assert answer.text.split()[1] == HOST


def test_a_key_that_is_made_in_a_cell_names_it_and_works(shop: NewMerchant, settings: Settings) -> None:
    settings.CELL = "second"
    key, text = create_key(shop.merchant, False, ApiKey.Kind.SECRET)
    assert re.fullmatch(r"sk_test_second_[0-9a-f]{48}", text)
    assert Api(text).get("/me").status_code == 200
    assert find_key(text) == key
    assert RANDOM not in redact(f"sk_test_second_{RANDOM}")


def test_without_a_cell_a_key_names_none(shop: NewMerchant) -> None:
    assert re.fullmatch(r"sk_test_[0-9a-f]{48}", shop.keys["sk_test"])


@pytest.mark.long
@pytest.mark.parametrize("name", ["Second", "2nd", "se_cond", "a" * 9, "sécond", "a "])
def test_a_cell_of_another_form_is_refused_at_boot(settings: Settings, name: str) -> None:
    settings.CELL = name
    assert any("CELL" in str(fault.msg) for fault in check_environment())
