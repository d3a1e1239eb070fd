"""The key-encryption keys, the fingerprint key and the keys that sign the log, from the settings."""

import base64
import re
from dataclasses import dataclass, field
from functools import lru_cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

KEY_BYTES = 32
KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,32}")

FINGERPRINT_KEY_FORM = f"must be the base64 of {KEY_BYTES} bytes."
RING_FORM = (
    'must be "id:key" pairs separated by commas or line ends, each id 1 to 32 letters, digits, "_" or "-" and used '
    f"once, each key the base64 of {KEY_BYTES} bytes."
)


@dataclass(frozen=True)
class KeyRing:
    """Key-encryption keys by their id: the one of `wrapping_id` wraps, all of them unwrap."""

    wrapping_id: str
    keys: dict[str, bytes] = field(repr=False)


def key_ring() -> KeyRing:
    """Return the keys of `settings.VAULT_KEYS`. Raises ImproperlyConfigured where it is malformed."""
    return _read_ring("VAULT_KEYS", settings.VAULT_KEYS)


def transparency_keys() -> list[bytes]:
    """Return the keys of `settings.TRANSPARENCY_KEYS`, if any. Raises ImproperlyConfigured where it is malformed."""
    text = settings.TRANSPARENCY_KEYS
    return list(_read_ring("TRANSPARENCY_KEYS", text).keys.values()) if text else []


def fingerprint_key() -> bytes:
    """Return the 32 bytes of `settings.FINGERPRINT_KEY`. Raises ImproperlyConfigured where it is malformed."""
    return _read_fingerprint_key(settings.FINGERPRINT_KEY)


@lru_cache(maxsize=4)
def _read_ring(setting: str, text: str) -> KeyRing:
    keys: dict[str, bytes] = {}
    for pair in text.strip().replace("\n", ",").split(","):
        key_id, _, encoded = pair.strip().partition(":")
        key = _read_key(encoded)
        if key is None or key_id in keys or not KEY_ID.fullmatch(key_id):
            raise ImproperlyConfigured(f"{setting} {RING_FORM}")
        keys[key_id] = key
    return KeyRing(wrapping_id=next(iter(keys)), keys=keys)


@lru_cache(maxsize=4)
def _read_fingerprint_key(text: str) -> bytes:
    key = _read_key(text.strip())
    if key is None:
        raise ImproperlyConfigured(f"FINGERPRINT_KEY {FINGERPRINT_KEY_FORM}")
    return key


def _read_key(text: str) -> bytes | None:
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None
