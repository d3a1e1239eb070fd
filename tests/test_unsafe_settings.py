"""Settings that leave a door open are refused by name, with what to do instead."""

import base64
from typing import Any

import pytest
from django.conf import settings as django_settings

from tests.test_checks import KEY, PRODUCTION, faults, python

PUBLIC = {"PUBLIC_URL": "https://pay.example.com", "ALLOWED_HOSTS": ["pay.example.com"]}
CLOSED = {"HTTPS": True, "ADMIN_MFA": True, "NOTIFY_ALLOW_LOOPBACK": False, "KAHA_CLOCK": False, "EMBEDDED": False}


def encoded(key: bytes) -> str:
    return base64.b64encode(key).decode()


def put(settings: Any, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(settings, name, value)


def test_a_public_installation_with_every_door_shut_starts(settings: Any) -> None:
    put(settings, PUBLIC | CLOSED | {"LIVE_CARDS_ATTESTED": True})
    assert faults() == []


@pytest.mark.parametrize(
    ("name", "value", "instead"),
    [
        ("HTTPS", False, "must be true where PUBLIC_URL is not loopback"),
        ("ADMIN_MFA", False, "must be true where PUBLIC_URL is not loopback"),
        ("NOTIFY_ALLOW_LOOPBACK", True, "must be false beside LIVE_CARDS_ATTESTED and where PUBLIC_URL"),
    ],
)
@pytest.mark.parametrize("public_url", ["https://pay.example.com", "https://10.0.0.7", "https://localhost.example.com"])
def test_an_open_setting_is_refused_where_others_reach_us(
    settings: Any, public_url: str, name: str, value: bool, instead: str
) -> None:
    put(settings, CLOSED | {"PUBLIC_URL": public_url, "ALLOWED_HOSTS": [public_url.removeprefix("https://")]})
    setattr(settings, name, value)
    [fault] = faults()
    assert fault.startswith(f"{name} {instead}")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "kaha.localhost", "[::1]"])
def test_open_settings_are_accepted_on_loopback(settings: Any, host: str) -> None:
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = f"http://{host}:8000", [host]
    settings.HTTPS = settings.ADMIN_MFA = False
    settings.NOTIFY_ALLOW_LOOPBACK = settings.KAHA_CLOCK = settings.EMBEDDED = True
    assert faults() == []


@pytest.mark.parametrize("name", ["KAHA_CLOCK", "NOTIFY_ALLOW_LOOPBACK"])
def test_what_is_for_tests_is_refused_beside_live_cards_even_on_loopback(settings: Any, name: str) -> None:
    put(settings, {"KAHA_CLOCK": False, "NOTIFY_ALLOW_LOOPBACK": False, "LIVE_CARDS_ATTESTED": True, name: True})
    [fault] = faults()
    assert fault.startswith(f"{name} must be false beside LIVE_CARDS_ATTESTED")


@pytest.mark.long
def test_a_forgotten_database_is_refused_where_others_reach_us(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.delitem(PRODUCTION, "DATABASE_URL")
    done = python("-c", "import config.wsgi", KAHA_DATA=str(tmp_path))
    first, line = done.stderr.splitlines()
    assert (done.returncode, first) == (1, "kaha does not start:")
    assert line.strip().startswith("DATABASE_URL must name your PostgreSQL, for PUBLIC_URL is not loopback")


@pytest.mark.parametrize("text", ["s" * 64, "ab" * 32, "abcdefghij" * 6, "0" * 63 + "1"])
def test_a_secret_key_that_repeats_itself_is_refused(settings: Any, text: str) -> None:
    settings.SECRET_KEY = text
    [fault] = faults()
    assert fault.startswith("SECRET_KEY must be random")
    assert text not in fault


DEGENERATE = [bytes(32), b"\xff" * 32, b"ab" * 16, bytes(31) + b"\x01", bytes(range(32)), bytes(range(64, 32, -1))]


@pytest.mark.parametrize("key", DEGENERATE)
def test_a_vault_key_that_nobody_drew_is_refused_wherever_it_stands(settings: Any, key: bytes) -> None:
    settings.VAULT_KEYS = f"new:{KEY},old:{encoded(key)}"
    [fault] = faults()
    assert fault.startswith("VAULT_KEYS must hold random keys only")


@pytest.mark.parametrize("key", DEGENERATE)
def test_a_fingerprint_key_that_nobody_drew_is_refused(settings: Any, key: bytes) -> None:
    settings.FINGERPRINT_KEY = encoded(key)
    [fault] = faults()
    assert fault.startswith("FINGERPRINT_KEY must be random")


@pytest.mark.parametrize("host", [".com.ph", ".github.io", ".pay.example.com", ".example.com.ph", ".COM", ".nosuchtld"])
def test_all_below_a_domain_that_nobody_says_to_own_is_refused(settings: Any, host: str) -> None:
    settings.ALLOWED_HOSTS, settings.OWN_DOMAINS = ["127.0.0.1", host], ["example.com", "com", "nosuchtld"]
    [fault] = faults()
    assert fault.startswith("ALLOWED_HOSTS must name each host.")


@pytest.mark.parametrize(
    "host", [".example.com", ".EXAMPLE.com", "pay.example.com.ph", "kaha", ".kaha.internal", ".localhost", "[::1]"]
)
def test_a_host_of_ones_own_is_accepted(settings: Any, host: str) -> None:
    settings.ALLOWED_HOSTS, settings.OWN_DOMAINS = ["127.0.0.1", host], ["example.com"]
    assert faults() == []


@pytest.mark.parametrize(
    "query",
    [
        "ssl_cert_reqs=none",
        "ssl_cert_reqs=optional",
        "ssl_cert_reqs=required&ssl_cert_reqs=none",
        "ssl_check_hostname=0",
    ],
)
def test_a_redis_whose_certificate_nobody_checks_is_refused(settings: Any, query: str) -> None:
    settings.REDIS_URL = f"rediss://redis.example.com/0?{query}"
    [fault] = faults()
    assert fault.startswith("REDIS_URL must leave ssl_cert_reqs=required")


@pytest.mark.parametrize("query", ["", "?ssl_cert_reqs=required", "?ssl_ca_certs=/etc/ca.pem&ssl_check_hostname=true"])
def test_a_redis_whose_certificate_is_checked_is_accepted(settings: Any, query: str) -> None:
    settings.REDIS_URL = f"rediss://redis.example.com/0{query}"
    assert faults() == []


def name_database(monkeypatch: Any, host: str, options: dict[str, str]) -> None:
    database = django_settings.DATABASES["default"]
    monkeypatch.setitem(database, "HOST", host)
    monkeypatch.setitem(database, "OPTIONS", options)


@pytest.mark.parametrize("host", ["db.example.com", "8.8.8.8", "10.0.0.7,db.example.com"])
@pytest.mark.parametrize("mode", ["disable", "allow"])
def test_a_database_in_clear_text_is_refused_across_a_public_network(monkeypatch: Any, mode: str, host: str) -> None:
    name_database(monkeypatch, host, {"sslmode": mode})
    [fault] = faults()
    assert fault.startswith("DATABASE_URL must not have sslmode=disable")


@pytest.mark.parametrize(
    ("host", "options"),
    [
        ("127.0.0.1", {"sslmode": "disable"}),
        ("", {"sslmode": "disable", "host": "/run/postgresql"}),
        ("10.0.0.7", {"sslmode": "disable"}),
        ("postgres", {"sslmode": "disable"}),
        ("db.internal", {"sslmode": "disable"}),
        ("db.example.com", {"sslmode": "verify-full"}),
        ("db.example.com", {}),
    ],
)
def test_a_database_nearby_or_encrypted_is_accepted(monkeypatch: Any, host: str, options: dict[str, str]) -> None:
    name_database(monkeypatch, host, options)
    assert faults() == []
