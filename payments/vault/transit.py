"""A key-encryption key that never leaves HashiCorp Vault: its transit engine wraps and unwraps.

Wrapped keys are bound to their place by the engine's `associated_data`, which wants an AES-GCM key (`aes256-gcm96`)
and Vault 1.9 or later.
"""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hvac
from django.conf import settings
from hvac.exceptions import VaultError as HashiCorpError

from payments.vault.errors import VaultUnavailable

NAME = "transit"
TIMEOUT_SECONDS = 3


class TransitKeys:
    """A KeyProvider on the engine at `settings.VAULT_TRANSIT_URL`, with the token that its file holds now."""

    def wrap(self, key: bytes, place: bytes) -> tuple[str, bytes]:
        data = _ask(
            lambda transit: transit.encrypt_data(
                name=settings.VAULT_TRANSIT_KEY, plaintext=_base64(key), associated_data=_base64(place)
            )
        )
        # It looks like "vault:v3:…", with the version of the key that wrapped.
        _, version, _ = data["ciphertext"].split(":", 2)
        return f"{NAME}:{settings.VAULT_TRANSIT_KEY}:{version}", data["ciphertext"].encode()

    def unwrap(self, kek: str, wrapped: bytes, place: bytes) -> bytes:
        data = _ask(
            lambda transit: transit.decrypt_data(
                name=kek.split(":")[1], ciphertext=wrapped.decode(), associated_data=_base64(place)
            )
        )
        return base64.b64decode(data["plaintext"])


def _ask(question: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """The engine's answer. Raises VaultUnavailable where it gives none, in time, that can be read."""
    try:
        token = Path(settings.VAULT_TRANSIT_TOKEN_FILE).read_text().strip()
        client = hvac.Client(url=settings.VAULT_TRANSIT_URL, token=token, timeout=TIMEOUT_SECONDS)
        return dict(question(client.secrets.transit)["data"])
    # What the connection may raise are OSErrors all.
    except (HashiCorpError, OSError, ValueError, LookupError, TypeError) as error:
        raise VaultUnavailable(f"HashiCorp Vault gave no answer: {type(error).__name__}.") from error


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
