import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import call_command

from config.boot.checks import CONFIGURATION, log_live_cards, refuse_bad_configuration, version_faults

ROOT = Path(__file__).resolve().parent.parent
KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
PRODUCTION = {
    "PATH": os.environ["PATH"],
    "DATABASE_URL": "postgresql://kaha:unused@db.example.com/kaha",
    "REDIS_URL": "rediss://redis.example.com/0",
    "PUBLIC_URL": "https://pay.example.com",
    "ALLOWED_HOSTS": "pay.example.com",
    "SECRET_KEY": "an-example-that-is-long-enough-and-protects-nothing-at-all",
    "VAULT_KEYS": f"k1:{KEY}",
    "FINGERPRINT_KEY": KEY,
}


def faults() -> list[str]:
    return [fault.msg for fault in run_checks(tags=[CONFIGURATION])]


def python(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=PRODUCTION | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_environment_of_the_suite_is_in_order() -> None:
    assert faults() == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", ""),
        ("SECRET_KEY", "an-example-that-is-long-enough-but-for-one-letter"),
        ("VAULT_KEYS", ""),
        ("VAULT_KEYS", KEY),
        ("VAULT_TRANSIT_URL", "https://"),
        ("VAULT_TRANSIT_URL", "vault.example.com:8200"),
        ("VAULT_TRANSIT_URL", "http://vault.example.com:8200"),
        ("VAULT_TRANSIT_URL", "https://vault.example.com:port"),
        ("VAULT_TRANSIT_URL", "https://vault.example.com/v1"),
        ("VAULT_TRANSIT_TOKEN_FILE", ""),
        ("VAULT_TRANSIT_TOKEN_FILE", "/dev/null"),
        ("SMS_URL", "http://sms.example.com/send"),
        ("SMS_URL", "https://"),
        ("VAULT_TRANSIT_KEY", ""),
        ("VAULT_TRANSIT_KEY", "kaha/../other"),
        ("FINGERPRINT_KEY", ""),
        ("FINGERPRINT_KEY", "hunter22"),
        ("XENDIT_URL", ""),
        ("XENDIT_URL", "http://api.xendit.co"),
        ("XENDIT_URL", "https://api.xendit.co?key=1"),
        ("ADYEN_URL", "http://checkout.example.com/v72"),
        ("ADYEN_URL", "https://checkout.example.com:port"),
        ("ADYEN_URL", "https://checkout.example.com/v72"),
        ("ADYEN_URL", "https://checkout-test.adyen.com.example.com/v72"),
        ("XENDIT_URL", "https://xendit.example.com"),
        ("XENDIT_URL", "https://api.xendit.co@example.com"),
        ("PUBLIC_URL", "pay.example.com"),
        ("PUBLIC_URL", "ftp://pay.example.com"),
        ("PUBLIC_URL", "https://"),
        ("PUBLIC_URL", "https://pay.example.com/path"),
        ("PUBLIC_URL", "https://pay.example.com?query"),
        ("PUBLIC_URL", "https://pay.example.com:port"),
        ("PUBLIC_URL", "https://pay.example.com:0"),
        ("ALLOWED_HOSTS", []),
        ("ALLOWED_HOSTS", ["*"]),
        ("ALLOWED_HOSTS", ["https://pay.example.com"]),
        ("ALLOWED_HOSTS", ["pay.example.com:443"]),
        ("ALLOWED_HOSTS", ["elsewhere.example.com"]),
        ("ADMIN_HOST", "elsewhere.example.com"),
        ("ADMIN_HOST", "127.0.0.1"),
        ("ADMIN_HOST", "localhost:8443"),
        *(
            (name, host)
            for name in ("CHECKOUT_HOST", "LINKS_HOST", "REQUESTS_HOST")
            for host in ("elsewhere.example.com", "127.0.0.1", "localhost:8443", ".localhost")
        ),
        ("REDIS_URL", ""),
        ("REDIS_URL", "localhost:6379"),
        ("PAYOUT_DEBTOR_NAME", ""),
        ("PAYOUT_DEBTOR_NAME", "Söhne"),
        ("PAYOUT_DEBTOR_NAME", "x" * 71),
        ("REDIS_URL", "redis+sentinel://localhost:26379"),
        ("REDIS_URL", "redis+sentinel:///kaha"),
        ("REDIS_URL", "redis+sentinel://localhost:port/kaha"),
        ("REDIS_URL", "redis+sentinel://localhost/kaha/first"),
        ("REDIS_URL", "redis+sentinel://localhost/kaha?database=1"),
        ("REDIS_URL", "redis+sentinel://localhost/kaha?ssl_ca_certs=/ca.pem"),
        ("REDIS_URL", "rediss+sentinel://localhost/kaha?database=1"),
        ("NOTIFY_PORTS", []),
        ("NOTIFY_PORTS", ["443", "22"]),
        ("NOTIFY_PORTS", ["https"]),
        ("RATE_LIMIT", "lots"),
        ("RATE_LIMIT", "0/second"),
        ("RATE_LIMIT", "5/second; 100/minute"),
        ("RATE_LIMIT_ANONYMOUS", "30 a second"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://collector:4317"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:port"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://user:secret@collector.example.com"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example.com?key=1"),
        ("SENTRY_DSN", "sentry.example.com"),
        ("SENTRY_DSN", "https://sentry.example.com/1"),
        ("SENTRY_DSN", "https://key@sentry.example.com/project"),
        ("SENTRY_DSN", "http://key@sentry.example.com/1"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_variable(settings, name: str, value: Any) -> None:
    if name.startswith("VAULT_TRANSIT"):
        settings.VAULT_TRANSIT_URL, settings.VAULT_TRANSIT_TOKEN_FILE = "https://vault.example.com:8200", __file__
    if name == "PUBLIC_URL":
        settings.HTTPS, settings.ADMIN_MFA, settings.NOTIFY_ALLOW_LOOPBACK = True, True, False
    if name == "PAYOUT_DEBTOR_NAME":
        settings.PAYOUT_DEBTOR_ACCOUNTS = {"PHP": ("BNORPHMM", "001234567890")}
    setattr(settings, name, value)
    [fault] = faults()
    assert fault.startswith(f"{name} must ")


@pytest.mark.parametrize("url", ["https://vault.example.com:8200", "http://127.0.0.1:8200", "http://[::1]:8200"])
def test_beside_a_transit_engine_no_key_of_our_own_is_wanted(settings, url: str) -> None:
    settings.VAULT_KEYS, settings.VAULT_TRANSIT_URL, settings.VAULT_TRANSIT_TOKEN_FILE = "", url, __file__
    assert faults() == []


@pytest.mark.parametrize("name", ["SECRET_KEY", "VAULT_KEYS", "FINGERPRINT_KEY"])
def test_a_refused_secret_is_not_shown(settings, name: str) -> None:
    setattr(settings, name, "hunter22")
    assert "hunter22" not in str(run_checks(tags=[CONFIGURATION]))


@pytest.mark.parametrize(
    ("public_url", "hosts"),
    [
        ("https://pay.example.com", ["pay.example.com"]),
        ("https://PAY.example.com:8443", [".example.com"]),
        ("https://[::1]:8000", ["[::1]"]),
        ("https://127.0.0.1", ["localhost", "127.0.0.1"]),
    ],
)
def test_an_address_whose_host_is_allowed_does(settings, public_url: str, hosts: list[str]) -> None:
    settings.HTTPS = settings.ADMIN_MFA = True
    settings.NOTIFY_ALLOW_LOOPBACK = False
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS, settings.OWN_DOMAINS = public_url, hosts, ["example.com"]
    assert faults() == []


@pytest.mark.parametrize("hosts", [["localhost", "127.0.0.1"], [".localhost", "127.0.0.1"]])
def test_a_host_for_the_admin_that_is_another_does(settings, hosts: list[str]) -> None:
    settings.ALLOWED_HOSTS, settings.ADMIN_HOST = hosts, "localhost"
    assert faults() == []


HOSTS = ["127.0.0.1", "admin.example", "checkout.example", "links.example", "requests.example"]
OWN_HOSTS = dict(zip(("ADMIN_HOST", "CHECKOUT_HOST", "LINKS_HOST", "REQUESTS_HOST"), HOSTS[1:], strict=True))


def test_a_host_for_each_product_does(settings) -> None:
    settings.ALLOWED_HOSTS = HOSTS
    for name, host in OWN_HOSTS.items():
        setattr(settings, name, host)
    assert faults() == []


@pytest.mark.parametrize(("one", "other"), [*combinations(OWN_HOSTS, 2)])
def test_one_host_for_two_is_refused_for_both(settings, one: str, other: str) -> None:
    settings.ALLOWED_HOSTS = HOSTS
    for name, host in (OWN_HOSTS | {other: OWN_HOSTS[one].upper()}).items():
        setattr(settings, name, host)
    assert [fault.split()[0] for fault in faults()] == [one, other]


@pytest.mark.parametrize(("https", "count"), [(True, 1), (False, 0)])
def test_a_public_address_in_clear_text_does_only_without_https(settings, https: bool, count: int) -> None:
    settings.HTTPS, settings.PUBLIC_URL = https, "http://127.0.0.1:8000"
    assert len(faults()) == count


@pytest.mark.parametrize(
    ("endpoint", "count"),
    [("http://collector:4318", 1), ("http://127.0.0.1:4318", 0), ("https://collector.example.com/otlp", 0)],
)
def test_a_collectors_key_is_not_sent_in_clear_text(settings, endpoint: str, count: int) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT, settings.OTEL_EXPORTER_OTLP_HEADERS = endpoint, {"authorization": "hunter22"}
    found = faults()
    assert [line.split()[0] for line in found] == ["OTEL_EXPORTER_OTLP_HEADERS"] * count
    assert "hunter22" not in str(found)


@pytest.mark.parametrize(("version", "count"), [((14, 13), 1), ((15, 0), 0), ((18, 1), 0)])
def test_postgresql_before_15_is_refused(version: tuple[int, int], count: int) -> None:
    assert [fault.id for fault in version_faults(version)] == ["configuration.DATABASE_URL"] * count


@pytest.mark.django_db
def test_the_version_of_the_database_in_use_is_asked_for(django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(5):
        call_command("check", "--database", "default", "--fail-level", "WARNING")


def test_a_server_does_not_start_on_a_bad_environment(settings) -> None:
    settings.RATE_LIMIT, settings.REDIS_URL = "lots", "localhost"
    with pytest.raises(SystemExit) as refusal:
        refuse_bad_configuration()
    first, *rest = str(refusal.value).splitlines()
    assert first == "kaha does not start:"
    assert [line.split()[0] for line in rest] == ["REDIS_URL", "RATE_LIMIT"]


@pytest.mark.long
def test_production_settings_pass_the_deployment_checks() -> None:
    done = python("manage.py", "check", "--deploy", "--fail-level", "WARNING")
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_the_web_application_refuses_a_malformed_environment_without_a_traceback() -> None:
    done = python("-c", "import config.wsgi", IDEMPOTENCY_KEEP_DAYS="abc", VAULT_KEYS="k1:hunter22")
    assert done.returncode == 1
    first, *rest = done.stderr.splitlines()
    assert first == "kaha does not start:"
    assert [line.split()[0] for line in rest] == ["IDEMPOTENCY_KEEP_DAYS", "VAULT_KEYS"]
    assert "hunter22" not in done.stderr


@pytest.mark.long
def test_a_command_refuses_a_malformed_environment_without_a_traceback() -> None:
    done = python("manage.py", "merchant", "list-keys", HTTPS="ture")
    assert done.returncode == 1
    assert "HTTPS must be one of" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_an_unknown_display_time_zone_is_refused_with_an_example() -> None:
    done = python("manage.py", "merchant", "list-keys", DISPLAY_TIME_ZONE="Manila")
    assert "DISPLAY_TIME_ZONE must be a time zone of the IANA database, such as Asia/Manila" in done.stderr


@pytest.mark.parametrize("address", ["http://127.0.0.1:9000/v72", "https://checkout-test.adyen.com/v72", ""])
def test_a_provider_is_reached_at_its_own_hosts_or_on_this_machine(settings, address: str) -> None:
    settings.ADYEN_URL = address
    assert faults() == []


@pytest.mark.parametrize(("attested", "status"), [(True, "live cards are on"), (False, "live cards are off until")])
def test_the_log_says_what_live_cards_mean(settings, caplog, attested: bool, status: str) -> None:
    settings.LIVE_CARDS_ATTESTED = attested
    with caplog.at_level("INFO", "kaha.boot"):
        log_live_cards()

    [line] = caplog.messages
    assert line.startswith(status)
    assert "PCI DSS (SAQ-D)" in line
