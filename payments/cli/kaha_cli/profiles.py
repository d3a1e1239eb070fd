"""Profiles: addresses and keys in one file that nobody else can read, and the account that a command speaks for."""

import json
import os
import re
import tempfile
import tomllib
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from kaha_cli.failures import Misuse

KEY = re.compile(r"(?:[srp])k_(?:live|test)_[A-Za-z0-9_-]{20,200}")
NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
DEFAULT_NAME = "default"
HEADER = "# Written by kaha. The keys in here move money: nobody else may read this file.\n"
INSTEAD = "Instead of a profile, KAHA_KEY, KAHA_URL and KAHA_WEBHOOK_SECRET can be set."
# Members of a profile by the name of their setting.
Profile = dict[str, str]


@dataclass(frozen=True)
class Account:
    """Whom a command speaks for: the service's address, the key, and the profile that keeps the webhook secret."""

    url: str
    # Not in the repr, which tracebacks show.
    key: str = field(repr=False)
    profile: str

    @property
    def livemode(self) -> bool:
        return is_live(self.key)


def account_of(chosen: str | None) -> Account:
    """Return the account of the profile `chosen`, or else of KAHA_KEY and KAHA_URL, or else of the default profile.

    Raises Misuse where there is no key or no address, or where the two do not belong together.
    """
    key, url = ("", "") if chosen else (os.environ.get("KAHA_KEY", ""), os.environ.get("KAHA_URL", "").rstrip("/"))
    name = chosen or DEFAULT_NAME
    stored = {} if key and url else load().get(name, {})
    if chosen and not stored.get("key"):
        raise Misuse(f"There is no profile {name} with a key. Make it: kaha --profile {name} login")
    if not key and url and url != stored.get("url", url):
        raise Misuse(f"KAHA_URL is {url}, but the key of the profile is for {stored['url']}. Set KAHA_KEY too.")
    key, url = key or stored.get("key", ""), url or stored.get("url", "")
    if not key:
        raise Misuse("There is no key. Run `kaha login`, or put it into the environment as KAHA_KEY.")
    if not url:
        raise Misuse(
            "There is no address. Put that of your kaha into the environment as KAHA_URL, or run `kaha login`."
        )
    return Account(check_url(url, check_key(key)), key, name)


def check_key(key: str) -> str:
    """Return `key` if it can be a secret or restricted key. Raises Misuse, which does not repeat it."""
    if not KEY.fullmatch(key):
        raise Misuse("This is not a key of kaha: one begins with sk_test_ or sk_live_.")
    if key.startswith("pk_"):
        raise Misuse("This is a publishable key, which may only make sources. Use the secret key, sk_…")
    return key


def is_live(key: str) -> bool:
    """Return whether `key` is one of live mode."""
    return key[1:].startswith("k_live_")


def check_url(url: str, key: str) -> str:
    """Return the address of a kaha. Raises Misuse, also where a live key would cross a network in clear text."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        is_address = False
    if not is_address or parts.username is not None or parts.query or parts.fragment or not url.isprintable():
        raise Misuse("The address of the service must look like https://pay.example.com")
    if parts.scheme == "http" and is_live(key) and not is_loopback(url):
        raise Misuse("A live key is sent by https:// only.")
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    """Return whether the host of `url` is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def path() -> Path:
    """Return where the profiles are, by the XDG base directories."""
    configuration = os.environ.get("XDG_CONFIG_HOME", "")
    root = Path(configuration) if configuration.startswith("/") else Path.home() / ".config"
    return root / "kaha" / "profiles.toml"


def load() -> dict[str, Profile]:
    """Return all profiles by name. Raises Misuse where others can read them, or where the file is damaged."""
    file = path()
    try:
        if not file.exists():
            return {}
        _refuse_if_open(file.parent, "700")
        _refuse_if_open(file, "600")
        found = tomllib.loads(file.read_text())
    except OSError as error:
        raise Misuse(f"{file} cannot be read ({error.strerror}). {INSTEAD}") from None
    except ValueError:
        # Without the parser's message, which may quote the line with the key.
        raise Misuse(f"{file} is not valid TOML. Mend it, or delete it and run `kaha login` again.") from None
    return {
        name: {member: value for member, value in members.items() if isinstance(value, str)}
        for name, members in found.items()
        if isinstance(members, dict)
    }


def save(profiles: dict[str, Profile]) -> None:
    """Write all profiles at once: a file of mode 0600 in a folder of mode 0700, whole or not at all. Raises Misuse."""
    tables = [
        "".join([f"\n[{name}]\n", *(f"{member} = {json.dumps(value)}\n" for member, value in members.items())])
        for name, members in profiles.items()
    ]
    file = path()
    try:
        file.parent.parent.mkdir(parents=True, exist_ok=True)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        _refuse_if_open(file.parent, "700")
        _replace(file, HEADER + "".join(tables))
    except OSError as error:
        raise Misuse(f"{file} cannot be written ({error.strerror}). {INSTEAD}") from None


def _replace(file: Path, text: str) -> None:
    # Made with mode 0600, and in the same folder so that it takes the old one's place in one step.
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix="profiles.")
    try:
        with os.fdopen(descriptor, "w") as output:
            output.write(text)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _refuse_if_open(place: Path, mode: str) -> None:
    # Windows has no such modes.
    if os.name == "posix" and place.stat().st_mode & 0o077:
        raise Misuse(f"Other users of this machine can read {place}, which holds keys. Run: chmod {mode} {place}")
