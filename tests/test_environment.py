"""Settings are read from environment variables and files, and what cannot be read is a fault."""

from pathlib import Path

import pytest

from config.boot.environment import Environment
from tests.test_checks import KEY


@pytest.mark.parametrize("text", ["", "abc", "-1", "0", "1.5", "٣", "1e3"])
def test_a_number_that_is_none_is_a_fault_and_stands_at_its_default(monkeypatch, text: str) -> None:
    monkeypatch.setenv("KEEP_DAYS", text)
    env = Environment()
    assert env.integer("KEEP_DAYS", 30, at_least=1) == 30
    assert env.faults == {"KEEP_DAYS": "must be a whole number, 1 or more."}


@pytest.mark.parametrize("text", ["", "ture", "2", "yess"])
def test_a_word_that_is_neither_yes_nor_no_is_a_fault(monkeypatch, text: str) -> None:
    monkeypatch.setenv("HTTPS", text)
    env = Environment()
    assert env.boolean("HTTPS", True) is True
    assert "HTTPS" in env.faults


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("On", True), ("1", True), ("yes", True), ("FALSE", False), ("off", False), ("0", False)],
)
def test_yes_and_no_are_understood(monkeypatch, text: str, value: bool) -> None:
    monkeypatch.setenv("HTTPS", text)
    env = Environment()
    assert env.boolean("HTTPS", not value) is value
    assert not env.faults


@pytest.mark.parametrize("text", ["9100", ":9100", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:٣"])
def test_an_address_without_a_host_or_a_port_is_a_fault(monkeypatch, text: str) -> None:
    monkeypatch.setenv("METRICS_ADDRESS", text)
    env = Environment()
    assert env.host_and_port("METRICS_ADDRESS") is None
    assert "METRICS_ADDRESS" in env.faults


@pytest.mark.parametrize(
    ("text", "value"), [("", None), ("0.0.0.0:9100", ("0.0.0.0", 9100)), ("[::1]:9100", ("::1", 9100))]
)
def test_an_address_is_understood(monkeypatch, text: str, value: object) -> None:
    monkeypatch.setenv("METRICS_ADDRESS", text)
    env = Environment()
    assert env.host_and_port("METRICS_ADDRESS") == value
    assert not env.faults


@pytest.mark.parametrize("text", ["", "abc", "1.1", "-0.1", "2", "0,5", ".5", "1e-3", "٠.٥"])
def test_a_share_that_is_none_is_a_fault(monkeypatch, text: str) -> None:
    monkeypatch.setenv("TRACES_SAMPLE_RATE", text)
    env = Environment()
    assert env.share("TRACES_SAMPLE_RATE", 0.01) == 0.01
    assert env.faults == {"TRACES_SAMPLE_RATE": "must be a number from 0 to 1, such as 0.01."}


@pytest.mark.parametrize(("text", "value"), [("0", 0.0), ("1", 1.0), ("1.0", 1.0), ("0.001", 0.001)])
def test_a_share_is_understood(monkeypatch, text: str, value: float) -> None:
    monkeypatch.setenv("TRACES_SAMPLE_RATE", text)
    env = Environment()
    assert env.share("TRACES_SAMPLE_RATE", 0.01) == value
    assert not env.faults


@pytest.mark.parametrize("text", ["Authorization", "=x", "a b=x", "x=", "x=%0d%0ay", "x=%c3%a9"])
def test_headers_that_are_none_are_a_fault(monkeypatch, text: str) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", text)
    env = Environment()
    assert env.headers("OTEL_EXPORTER_OTLP_HEADERS") == {}
    assert "OTEL_EXPORTER_OTLP_HEADERS" in env.faults


def test_headers_are_understood(monkeypatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20a2V5Og==, x-tenant=kaha")
    env = Environment()
    assert env.headers("OTEL_EXPORTER_OTLP_HEADERS") == {"authorization": "Basic a2V5Og==", "x-tenant": "kaha"}
    assert not env.faults


def test_a_secret_may_stand_in_a_file(monkeypatch, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"new:{KEY}\nold:{KEY}\n")
    monkeypatch.setenv("VAULT_KEYS", "k1:of-the-environment")
    monkeypatch.setenv("VAULT_KEYS_FILE", str(file))
    env = Environment()
    assert env.text("VAULT_KEYS") == f"new:{KEY}\nold:{KEY}"
    assert not env.faults


def test_the_database_may_be_named_in_a_file(monkeypatch, tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("postgresql://kaha:secret@db.internal:5432/kaha\n")
    monkeypatch.setenv("DATABASE_URL_FILE", str(file))
    env = Environment()
    assert env.database("DATABASE_URL", "postgresql:///kaha")["HOST"] == "db.internal"
    assert not env.faults


def test_a_file_that_cannot_be_read_is_a_fault(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VAULT_KEYS_FILE", str(tmp_path / "keys"))
    env = Environment()
    env.text("VAULT_KEYS")
    assert env.faults == {"VAULT_KEYS_FILE": "must name a text file that this process may read."}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "kaha",
        "mysql://kaha:pass@db.example.com/kaha",
        "sqlite:///kaha.db",
        "postgresql://kaha:pass@db.example.com",
        "postgresql://kaha:pass@db.example.com:port/kaha",
    ],
)
def test_a_database_url_that_names_no_postgresql_database_is_a_fault(monkeypatch, url: str) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    env = Environment()
    assert env.database("DATABASE_URL", "postgresql:///kaha")["NAME"] == "kaha"
    assert "pass@" not in env.faults["DATABASE_URL"]


def test_a_database_url_is_taken_apart(monkeypatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://kaha:p%40ss@db.example.com:5433/shop")
    database = Environment().database("DATABASE_URL", "postgresql:///kaha")
    assert database["ENGINE"] == "django.db.backends.postgresql"
    assert (database["USER"], database["PASSWORD"], database["NAME"]) == ("kaha", "p@ss", "shop")


def test_bank_accounts_are_read_by_their_currencies(monkeypatch) -> None:
    monkeypatch.setenv("ACCOUNTS", "PHP=BNORPHMM/001234567890, EUR=COBADEFFXXX/DE89370400440532013000")
    accounts = {"PHP": ("BNORPHMM", "001234567890"), "EUR": ("COBADEFFXXX", "DE89370400440532013000")}
    assert Environment().bank_accounts("ACCOUNTS") == accounts


def test_a_bank_account_of_a_currency_that_is_withdrawn_stops_no_start(monkeypatch) -> None:
    monkeypatch.setenv("ACCOUNTS", "ZWL=CABZZWHX/001234567890")
    assert Environment().bank_accounts("ACCOUNTS") == {"ZWL": ("CABZZWHX", "001234567890")}


@pytest.mark.parametrize(
    "text",
    [
        "PHP",
        "PHP=BNORPHMM",
        "PHP=BNORPHMM/",
        "XYZ=BNORPHMM/123456",
        "PHP=BNO/123456",
        "PHP=BNORPHMM/123456,PHP=BNORPHMM/123457",
        "PHP=BNORPHMM/1234567890.0",
        "EUR=COBADEFFXXX/DE89370400440532013001",
        "EUR=COBADEFFXXX/0532013000",
    ],
)
def test_a_malformed_bank_account_is_a_fault(monkeypatch, text: str) -> None:
    monkeypatch.setenv("ACCOUNTS", text)
    env = Environment()
    assert env.bank_accounts("ACCOUNTS") == {}
    assert list(env.faults) == ["ACCOUNTS"]


def test_a_database_url_may_name_several_hosts(monkeypatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://kaha:pass@one:5432,two:5433/kaha?target_session_attrs=read-write")
    database = Environment().database("DATABASE_URL", "postgresql:///kaha")
    assert (database["HOST"], database["PORT"]) == ("one,two", "5432,5433")
    assert database["OPTIONS"] == {"target_session_attrs": "read-write"}


def test_words_are_freed_of_their_spaces(monkeypatch) -> None:
    monkeypatch.setenv("HOSTS", " one.example.com, two.example.com ,")
    assert Environment().words("HOSTS", []) == ["one.example.com", "two.example.com"]
