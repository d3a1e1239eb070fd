"""Redis is believed nothing: who it is must be proved, and what it says only wakes."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery.contrib.testing.worker import start_worker

from config.boot.addresses import broker_of, broker_url
from config.celery import app
from payments.webhooks.wake_up import TaskSender
from tests.webhooks.transport.certificates import Certificate

HOST = "127.0.0.1"


class TlsServer:
    """Answers one TLS handshake with a self-signed certificate; `was_trusted` is whether the client accepted it."""

    def __init__(self, folder: Path) -> None:
        self._context = Certificate(folder, HOST).server()
        self._socket = socket.create_server((HOST, 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.was_trusted = False
        self.url = f"rediss://{HOST}:{self._socket.getsockname()[1]}/0"
        self.certificate_file = folder / f"{HOST}.pem"
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._socket.accept()
        try:
            with self._context.wrap_socket(connection, server_side=True) as client:
                # In TLS 1.3 a client that refuses says so only after the server's side of the handshake is over.
                self.was_trusted = bool(client.recv(1))
        except OSError:
            connection.close()

    def close(self) -> None:
        self._thread.join(10)
        self._socket.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TlsServer]:
    server = TlsServer(tmp_path)
    yield server
    server.close()


def call(url: str) -> None:
    with pytest.raises(Exception, match=r"."):
        TaskSender(broker_url(url))()


def test_a_redis_with_an_untrusted_certificate_is_not_used(server: TlsServer) -> None:
    call(server.url)
    server.close()
    assert not server.was_trusted


def test_a_redis_whose_certificate_is_trusted_is_spoken_to(server: TlsServer) -> None:
    call(f"{server.url}?ssl_ca_certs={server.certificate_file}")
    server.close()
    assert server.was_trusted


@pytest.mark.parametrize(
    ("redis_url", "url"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock"),
        ("unix:///run/redis.sock?db=3", "redis+socket:///run/redis.sock?virtual_host=3"),
        ("rediss://redis.example.com/0?ssl_cert_reqs=none", "rediss://redis.example.com/0?ssl_cert_reqs=none"),
    ],
)
def test_every_way_to_name_redis_is_said_in_celerys_words(redis_url: str, url: str) -> None:
    assert broker_url(redis_url) == url


def test_sentinels_are_said_in_celerys_words() -> None:
    url = "redis+sentinel://kaha:p%40ss@one:26379,two/master/3?sentinel_password=s%40me"
    celerys = "sentinel://kaha:p%40ss@one:26379/3;sentinel://kaha:p%40ss@two:26379/3"
    assert broker_of(url) == (celerys, {"master_name": "master", "sentinel_kwargs": {"password": "s@me"}})


def test_sentinels_with_tls_are_verified_whatever_the_client_does_by_default() -> None:
    broker, options = broker_of("rediss+sentinel://one/master?ssl_ca_certs=/ca.pem")
    assert broker == "sentinel://one:26379/0?ssl_cert_reqs=required&ssl_ca_certs=%2Fca.pem"
    assert options["sentinel_kwargs"] == {"ssl": True, "ssl_cert_reqs": "required", "ssl_ca_certs": "/ca.pem"}


@pytest.mark.long
def test_a_worker_takes_no_orders_from_redis() -> None:
    with start_worker(app, pool="solo", perform_ping_check=False):
        assert app.control.ping(timeout=2) == []
