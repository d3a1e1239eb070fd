"""Profiles: addresses and keys in one file that nobody else can read, and the account that a command speaks for."""

import json
import os
import re
import tempfile
import tomllib
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

import httpx2

from kaha_cli.environment import KEY, PROFILE, URL, given, is_address, variable
from kaha_cli.failures import Misuse
from kaha_cli.keys import check_key, is_live

NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
DEFAULT_NAME = "default"
HEADER = "# Written by kaha. The keys in here move money: nobody else may read this file.\n"
INSTEAD = "Instead of a profile, KAHA_KEY, KAHA_URL and KAHA_WEBHOOK_SECRET can be set."
# Members of a profile by the name of their setting.
Profile = dict[str, str]


@dataclass(frozen=True)
class Identity:
    """Whom a command speaks for: the service's address, the key, and the profile that keeps the webhook secret."""

    url: str
    # Not in the repr, which tracebacks show.
    key: str = field(repr=False)
    profile: str

    @property
    def livemode(self) -> bool:
        return is_live(self.key)


def account_of(chosen: str | None) -> Identity:
    """Return the account of the profile `chosen`, or else of KAHA_KEY and KAHA_URL, or else of the default profile.

    A key is sent only to the address that it was given with: both come from the environment, or both from one profile.
    Raises Misuse where one of them is missing, or where they do not belong together.
    """
    name = name_of(chosen)
    key, url = ("", "") if name else (variable(KEY), variable(URL))
    if key and not url:
        raise Misuse("KAHA_KEY is set without KAHA_URL: a key is not sent to the address of a profile. Set KAHA_URL.")
    stored = {} if key else load().get(name or DEFAULT_NAME, {})
    if name and not stored.get("key"):
        raise Misuse(f"There is no profile {name} with a key. Make it: kaha --profile {name} login")
    if url and stored and url.rstrip("/") != stored.get("url"):
        raise Misuse(f"KAHA_URL is {url}, but the key of the profile is for {stored.get('url')}. Set KAHA_KEY too.")
    key, url = key or stored.get("key", ""), url or stored.get("url", "")
    if not key:
        raise Misuse("There is no key. Run `kaha login`, or put key and address into KAHA_KEY and KAHA_URL.")
    return Identity(check_url(url, check_key(key)), key, name or DEFAULT_NAME)


def name_of(chosen: str | None) -> str | None:
    """Return the profile that --profile or else KAHA_PROFILE names, or None. Raises Misuse for what is no name."""
    name = variable(PROFILE) if chosen is None else given(chosen, "--profile")
    if name and not NAME.fullmatch(name):
        raise Misuse("A profile's name has letters, digits, - and _ only.")
    return name or None


def check_url(url: str, key: str) -> str:
    """Return the address of a kaha. Raises Misuse, also where a live key would cross a network in clear text."""
    parts = httpx2.URL(url) if is_address(url) else None
    if not parts or parts.userinfo or "@" in url or parts.query or parts.fragment:
        raise Misuse("The address of the service must look like https://pay.example.com")
    if parts.scheme == "http" and is_live(key) and not is_loopback(url):
        raise Misuse("A live key is sent by https:// only.")
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    """Return whether the host of `url` is this machine."""
    host = httpx2.URL(url).host
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def path() -> Path:
    """Return where the profiles are, by the XDG base directories."""
    configuration = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        root = Path(configuration) if configuration.startswith("/") else Path.home() / ".config"
    except RuntimeError:
        raise Misuse(f"This user has no home folder for profiles. Set HOME. {INSTEAD}") from None
    return root / "kaha" / "profiles.toml"


def load() -> dict[str, Profile]:
    """Return all profiles by name. Raises Misuse where others can read them, or where the file is damaged."""
    file = path()
    try:
        if not file.exists():
            return {}
        _refuse_if_open(file.parent, "700")
        _refuse_if_open(file, "600")
        found = tomllib.loads(file.read_text(encoding="utf-8"))
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
        "".join(
            [
                f"\n[{name}]\n",
                *(f"{member} = {json.dumps(value, ensure_ascii=False)}\n" for member, value in members.items()),
            ]
        )
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
        with os.fdopen(descriptor, "w", encoding="utf-8") as output:
            output.write(text)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _refuse_if_open(place: Path, mode: str) -> None:
    # Windows has no such modes.
    if os.name == "posix" and place.stat().st_mode & 0o077:
        raise Misuse(f"Other users of this machine can read {place}, which holds keys. Run: chmod {mode} {place}")
