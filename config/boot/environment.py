"""Environment variables, read so that a malformed one is reported to the operator without a traceback."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

import environ

from payments.money import CURRENCIES

NO_MAIL = {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend", "EMAIL_HOST": ""}
MAIL_SCHEMES = ("smtp", "smtp+tls", "smtp+ssl")
# A currency, and the BIC and number of our account in it.
BANK_ACCOUNT = re.compile(r"([A-Z]{3})=([A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)/([A-Z0-9]{1,34})")
BOOLEANS = ("true", "false", "on", "off", "yes", "no", "1", "0")


class Environment:
    """The environment variables, by django-environ.

    A malformed variable has its default and an entry in `faults` (name: expected form), which `config.boot.checks`
    reports together with all other faults.
    """

    def __init__(self) -> None:
        self.faults: dict[str, str] = {}
        self._env = environ.Env()

    def text(self, name: str, default: str = "") -> str:
        return str(self._env.str(name, default))

    def text_or_file(self, name: str) -> str:
        """Return the variable `name`, or the content of the file that `name`_FILE names."""
        file = self.text(f"{name}_FILE")
        if not file:
            return self.text(name)
        try:
            return Path(file).read_text(encoding="utf-8")
        except (OSError, ValueError):
            self.faults[f"{name}_FILE"] = "must name a text file that this process may read."
            return self.text(name)

    def words(self, name: str, default: list[str]) -> list[str]:
        """Return words separated by commas."""
        given = self._env.list(name, default=default)
        return [word.strip() for word in given if word.strip()]

    def integer(self, name: str, default: int, at_least: int) -> int:
        """Return a whole number, not below `at_least`."""
        text = self.text(name, str(default)).strip()
        if text.isascii() and text.isdigit() and at_least <= int(text):
            return int(text)
        self.faults[name] = f"must be a whole number, {at_least} or more."
        return default

    def counts(self, name: str, default: dict[str, int]) -> dict[str, int]:
        """Return the `name=number` pairs (1 or more) for the names in `default`, which fills in missing ones."""
        given = {word.partition("=")[0]: word.partition("=")[2] for word in self.words(name, [])}
        if given.keys() <= default.keys() and all(re.fullmatch("[1-9][0-9]{0,8}", text) for text in given.values()):
            return default | {kind: int(text) for kind, text in given.items()}
        example = ",".join(f"{kind}={number}" for kind, number in default.items())
        self.faults[name] = f"must be whole numbers of 1 or more, such as {example}."
        return default

    def bank_accounts(self, name: str) -> Mapping[str, tuple[str, str]]:
        """Return BIC and number of an account by its currency, from `currency=BIC/number` or a file with it."""
        text = self.text_or_file(name)
        found = [BANK_ACCOUNT.fullmatch(word.strip()) for word in re.split(r"[,\n]", text) if word.strip()]
        accounts = {match[1]: (match[2], match[3]) for match in found if match}
        if len(accounts) == len(found) and accounts.keys() <= CURRENCIES:
            return accounts
        self.faults[name] = "must be a BIC and an account number by currency, such as PHP=BNORPHMM/001234567890."
        return {}

    def boolean(self, name: str, default: bool) -> bool:
        """Return true or false, and note any other word, which django-environ would read as false."""
        if self.text(name, str(default)).strip().lower() in BOOLEANS:
            return bool(self._env.bool(name, default))
        self.faults[name] = f"must be one of {', '.join(BOOLEANS)}."
        return default

    def email(self, name: str) -> dict[str, Any]:
        """Return Django's settings for the mail server that a URL names; nothing where it is not set."""
        url = self.text_or_file(name).strip()
        if not url:
            return NO_MAIL
        if url.partition("://")[0] in MAIL_SCHEMES and (settings := environ.Env.email_url_config(url))["EMAIL_HOST"]:
            return settings | {"EMAIL_TIMEOUT": 5}
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
        if self.text(name, default).startswith(("postgresql://", "postgres://")):
            try:
                settings = self._env.db(name, default)
            except ValueError:
                settings = {}
            if settings.get("NAME"):
                return dict(settings)
        self.faults[name] = "must look like postgresql://user:password@host:5432/name, its parts percent-encoded."
        return dict(environ.Env.db_url_config(default))
