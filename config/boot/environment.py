"""Environment variables, read so that a malformed one is reported to the operator without a traceback."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote
from zoneinfo import available_timezones

import environ
from environ.fileaware_mapping import FileAwareMapping

from payments import bank_accounts
from payments.money import KNOWN_CURRENCIES

NO_MAIL: Mapping[str, Any] = {
    "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
    "EMAIL_HOST": "",
    "EMAIL_PORT": 25,
    "EMAIL_HOST_USER": "",
    "EMAIL_HOST_PASSWORD": "",  # nosec B105 # no password
    "EMAIL_USE_TLS": False,
    "EMAIL_USE_SSL": False,
}
MAIL_SCHEMES = ("smtp", "smtp+tls", "smtp+ssl")
# A currency, and the BIC and number of our account in it.
BANK_ACCOUNT = re.compile(r"([A-Z]{3})=([^/]+)/(.+)")
HEADER_NAME = re.compile(r"[a-z0-9!#$&^_`|~.+-]{1,100}")
HEADER_VALUE = re.compile(r"[\x20-\x7e]{1,4096}")
BOOLEANS = ("true", "false", "on", "off", "yes", "no", "1", "0")


class Environment:
    """The environment variables, by django-environ; a file that `NAME_FILE` names has the value of `NAME`.

    A malformed variable has its default and an entry in `faults` (name: expected form), which `config.boot.checks`
    reports together with all other faults.
    """

    def __init__(self) -> None:
        self.faults: dict[str, str] = {}
        self._env = environ.Env()
        self._env.ENVIRON = FileAwareMapping(cache=False)

    def text(self, name: str, default: str = "") -> str:
        """Return the text of a variable or of its file, which may end with a line end."""
        try:
            return str(self._env.str(name, default)).rstrip("\r\n")
        except (OSError, ValueError):
            self.faults[f"{name}_FILE"] = "must name a text file that this process may read."
            return default

    def words(self, name: str, default: list[str]) -> list[str]:
        """Return words separated by commas."""
        given = self.text(name, ",".join(default)).split(",")
        return [word.strip() for word in given if word.strip()]

    def integer(self, name: str, default: int, at_least: int) -> int:
        """Return a whole number, not below `at_least`."""
        text = self.text(name, str(default)).strip()
        if text.isascii() and text.isdigit() and at_least <= int(text):
            return int(text)
        self.faults[name] = f"must be a whole number, {at_least} or more."
        return default

    def share(self, name: str, default: float) -> float:
        """Return a decimal number from 0 to 1."""
        text = self.text(name, str(default)).strip()
        if re.fullmatch(r"[01](?:\.[0-9]{1,9})?", text) and float(text) <= 1:
            return float(text)
        self.faults[name] = f"must be a number from 0 to 1, such as {default}."
        return default

    def headers(self, name: str) -> dict[str, str]:
        """Return values by the names of HTTP headers, written as `name=value,name=value`, percent-encoded."""
        pairs = [word.partition("=") for word in self.words(name, [])]
        headers = {key.strip().lower(): unquote(value.strip()) for key, _, value in pairs}
        if all(HEADER_NAME.fullmatch(key) and HEADER_VALUE.fullmatch(value) for key, value in headers.items()):
            return headers
        self.faults[name] = "must look like name=value,name=value, its values percent-encoded."
        return {}

    def counts(self, name: str, default: dict[str, int]) -> dict[str, int]:
        """Return the `name=number` pairs (1 or more) for the names in `default`, which fills in missing ones."""
        given = {word.partition("=")[0]: word.partition("=")[2] for word in self.words(name, [])}
        if given.keys() <= default.keys() and all(re.fullmatch("[1-9][0-9]{0,8}", text) for text in given.values()):
            return default | {kind: int(text) for kind, text in given.items()}
        example = ",".join(f"{kind}={number}" for kind, number in default.items())
        self.faults[name] = f"must be whole numbers of 1 or more, such as {example}."
        return default

    def bank_accounts(self, name: str) -> Mapping[str, tuple[str, str]]:
        """Return BIC and number of an account by its currency, written as `currency=BIC/number`."""
        text = self.text(name)
        found = [_bank_account(word.strip()) for word in re.split(r"[,\n]", text) if word.strip()]
        accounts = {currency: (bank, number) for currency, bank, number in found}
        if len(accounts) == len(found) and accounts.keys() <= KNOWN_CURRENCIES:
            return accounts
        self.faults[name] = (
            "must be a BIC and an account number by currency, such as PHP=BNORPHMM/001234567890; the IBAN where the "
            "bank's country has them."
        )
        return {}

    def host_and_port(self, name: str) -> tuple[str, int] | None:
        """Return an address of this machine and a port; None where it is not set."""
        text = self.text(name).strip()
        if not text:
            return None
        host, _, port = text.rpartition(":")
        if host and re.fullmatch("[0-9]{1,5}", port) and 0 < int(port) < 65536:
            return host.strip("[]"), int(port)
        self.faults[name] = "must be an address and a port, such as 127.0.0.1:9100."
        return None

    def boolean(self, name: str, default: bool) -> bool:
        """Return true or false, and note any other word, which django-environ would read as false."""
        text = self.text(name, str(default)).strip().lower()
        if text in BOOLEANS:
            return text in self._env.BOOLEAN_TRUE_STRINGS
        self.faults[name] = f"must be one of {', '.join(BOOLEANS)}."
        return default

    def choice(self, name: str, default: str, choices: Sequence[str]) -> str:
        """Return one of `choices`, which are in upper case, however it is written."""
        given = self.text(name, default).strip().upper()
        if given in choices:
            return given
        self.faults[name] = f"must be one of {', '.join(choices)}."
        return default

    def email(self, name: str) -> Mapping[str, Any]:
        """Return Django's settings for the mail server that a URL names; NO_MAIL where it is not set."""
        url = self.text(name).strip()
        if not url:
            return NO_MAIL
        if url.partition("://")[0] in MAIL_SCHEMES and (settings := environ.Env.email_url_config(url))["EMAIL_HOST"]:
            return {**NO_MAIL, **settings}
        self.faults[name] = "must look like smtp+tls://user:password@host:587, or smtp:// or smtp+ssl://."
        return NO_MAIL

    def time_zone(self, name: str, default: str) -> str:
        """Return the name of a time zone in the IANA database."""
        zone = self.text(name, default)
        if zone in available_timezones():
            return zone
        self.faults[name] = "must be a time zone of the IANA database, such as Asia/Manila or UTC."
        return default

    def database(self, name: str, default: str) -> dict[str, Any]:
        """Return Django's settings for the PostgreSQL database that a URL names."""
        url = self.text(name, default)
        if url.startswith(("postgresql://", "postgres://")):
            try:
                settings = environ.Env.db_url_config(url)
            except ValueError:
                settings = {}
            if settings.get("NAME"):
                return dict(settings)
        self.faults[name] = "must look like postgresql://user:password@host:5432/name, its parts percent-encoded."
        return dict(environ.Env.db_url_config(default))


def _bank_account(text: str) -> tuple[str, str, str]:
    """Return currency, BIC and number; a currency that is none where the text is malformed."""
    match = BANK_ACCOUNT.fullmatch(text)
    try:
        bank = bank_accounts.checked_bic(match[2] if match else "")
        return match[1] if match else "", bank, bank_accounts.checked_number(bank[4:6], match[3] if match else "")
    except ValueError:
        return "", "", ""
