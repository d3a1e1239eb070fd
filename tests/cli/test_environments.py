"""What in an environment keeps a request from being sent: one line that says what to mend, never a traceback."""

import os

import pytest

from tests.cli.terminal import Terminal

pytestmark = pytest.mark.long

KEY = "sk_test_" + "0a" * 24
DIGITS = "9" * 5000
BYTES = os.fsdecode(b"\xff\xfe")
HTTPS = {"KAHA_URL": "https://pay.invalid"}
RECEIVER = ("listen", "--forward-to")
# The file of an authority: only beside one are the keys of a connection written for a debugger.
TRUSTED = {"SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt"}

# Variables, arguments, exit code, and a part of the message.
TABLE = [
    ({"ALL_PROXY": "socks5://127.0.0.1:9"}, ("balance",), 2, "pip install 'httpx2[socks]'"),
    ({"all_proxy": "socks5h://127.0.0.1:9"}, ("balance",), 2, "unset all_proxy"),
    ({"HTTPS_PROXY": "http://127.0.0.1:x"}, ("balance",), 2, "HTTPS_PROXY is not an address like http://proxy"),
    ({"HTTPS_PROXY": f"http://127.0.0.1:{DIGITS}"}, ("balance",), 2, "HTTPS_PROXY is not an address"),
    ({"https_proxy": "ftp://127.0.0.1"}, ("balance",), 2, "https_proxy is not an address"),
    ({"HTTPS_PROXY": "http://127.0.0.1:1"}, ("balance",), 3, "It was tried by the proxy: see HTTPS_PROXY"),
    ({"SSL_CERT_FILE": "/nonexistent"}, ("balance",), 2, "SSL_CERT_FILE cannot be used (No such file or directory)"),
    ({"SSL_CERT_FILE": "/dev/null"}, ("balance",), 2, "SSL_CERT_FILE cannot be used"),
    ({"SSL_CERT_FILE": "/"}, ("balance",), 2, "SSL_CERT_FILE cannot be used"),
    (TRUSTED | {"SSLKEYLOGFILE": "/nonexistent/keys"}, ("balance",), 2, "SSLKEYLOGFILE cannot be used"),
    ({"SSLKEYLOGFILE": "/nonexistent/keys"}, ("balance",), 3, "https://pay.invalid cannot be reached"),
    ({"REQUESTS_CA_BUNDLE": "/nonexistent"}, ("balance",), 3, "https://pay.invalid cannot be reached"),
    ({"KAHA_URL": "http://127.0.0.1:70000"}, ("balance",), 2, "must look like https://pay.example.com"),
    ({"KAHA_URL": "http://127.0.0.1:0"}, ("balance",), 2, "must look like"),
    ({"KAHA_URL": f"http://127.0.0.1:{DIGITS}"}, ("balance",), 2, "must look like"),
    ({"KAHA_URL": "http://127.0.0.1:port"}, ("balance",), 2, "must look like"),
    ({"KAHA_URL": "http://pay..example"}, ("balance",), 2, "must look like"),
    ({"KAHA_URL": f"http://{'a' * 64}.example"}, ("balance",), 2, "must look like"),
    ({"KAHA_URL": "http://[::1"}, ("balance",), 2, "must look like"),
    ({"KAHA_URL": BYTES}, ("balance",), 2, "KAHA_URL has bytes that are not UTF-8"),
    ({"KAHA_KEY": KEY + BYTES}, ("balance",), 2, "KAHA_KEY has bytes that are not UTF-8"),
    ({"KAHA_PROFILE": BYTES}, ("balance",), 2, "KAHA_PROFILE has bytes that are not UTF-8"),
    ({"KAHA_WEBHOOK_SECRET": BYTES}, (*RECEIVER, "http://127.0.0.1:1"), 2, "KAHA_WEBHOOK_SECRET has bytes"),
    ({}, ("charges", "create", "5", "--source", "s", "--description", BYTES), 2, "Argument 7 has bytes"),
    ({}, ("charges", "create", DIGITS, "--source", "src_1"), 2, "A text of 5000 characters is no amount"),
    ({}, ("charges", "capture", "ch_1", "--amount", f"{DIGITS}.00"), 2, "A text of 5003 characters is no amount"),
    ({}, ("charges", "list", "--limit", DIGITS), 2, "'--limit'"),
    ({}, ("charges", "list", "--start-after", DIGITS * 20), 2, "too long for an address"),
    ({}, ("charges", "create", "5", "--source", "s", "--idempotency-key", ""), 2, "1 to 240 printable ASCII"),
    ({}, (*RECEIVER, "http://127.0.0.1:70000/"), 2, "must look like http://localhost:3000/hook"),
    ({}, (*RECEIVER, "http://a..b/"), 2, "must look like http://localhost:3000/hook"),
    ({}, ("check-receiver", f"http://127.0.0.1:{DIGITS}/"), 2, "must look like http://localhost:3000/hook"),
    ({}, ("check-receiver", "http://127.0.0.1:1/", "--secret-file", "/dev/null"), 2, "is set, but empty"),
    ({}, ("check-receiver", "http://127.0.0.1:1/", "--secret-file", "/nonexistent"), 2, "No such file"),
]


@pytest.mark.parametrize(("variables", "arguments", "code", "message"), TABLE)
def test_it_is_said_in_one_line_what_to_mend(
    variables: dict[str, str], arguments: tuple[str, ...], code: int, message: str, bare_terminal: Terminal
) -> None:
    done = bare_terminal.run(*arguments, **{"KAHA_KEY": KEY, **HTTPS, **variables})
    lines = [line for line in done.err.splitlines() if line and not line.startswith(("Usage:", "Try "))]
    assert (done.code, len(lines)) == (code, 1)
    assert message in lines[0]


def test_a_user_without_a_home_learns_what_to_set(bare_terminal: Terminal) -> None:
    done = bare_terminal.shell("unset HOME; unshare --user --map-user=4321 kaha balance")
    assert (done.code, "Set HOME" in done.err, "Traceback" in done.err) == (2, True, False)
