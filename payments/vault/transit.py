"""A key-encryption key that never leaves HashiCorp Vault: its transit engine wraps and unwraps.

The engine's `associated_data` binds a wrapped key to its place. This needs an AES-GCM key (`aes256-gcm96`) and Vault
1.9 or later.
"""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import hvac
from django.conf import settings
from hvac.exceptions import VaultError as HashiCorpError

from payments import context
from payments.concurrency.connections import release_connection
from payments.vault.base import VaultUnavailable

NAME = "transit"
TIMEOUT_SECONDS = 3

Result = TypeVar("Result")


class TransitKeys:
    """A KeyProvider on the engine at `settings.VAULT_TRANSIT_URL`, with the token that is in its file now."""

    def wrap(self, key: bytes, place: bytes) -> tuple[str, bytes]:
        def question(transit: Any) -> tuple[str, bytes]:
            name = settings.VAULT_TRANSIT_KEY
            answer = transit.encrypt_data(name=name, plaintext=_base64(key), associated_data=_base64(place))
            # Such as "vault:v3:…", with the version of the key that wrapped.
            ciphertext = str(answer["data"]["ciphertext"])
            _, version, _ = ciphertext.split(":", 2)
            return f"{NAME}:{name}:{version}", ciphertext.encode()

        return _ask(question)

    def unwrap(self, kek: str, wrapped: bytes, place: bytes) -> bytes:
        def question(transit: Any) -> bytes:
            _, name, _ = kek.split(":")
            answer = transit.decrypt_data(name=name, ciphertext=wrapped.decode(), associated_data=_base64(place))
            return base64.b64decode(answer["data"]["plaintext"])

        return _ask(question)


def _ask(question: Callable[[Any], Result]) -> Result:
    """Return the result of `question` to the engine. Raises VaultUnavailable without a usable answer in time.

    A refusal counts too: an expired token, or a version of the key that may not unwrap any more.
    """
    release_connection()
    context.begin_wait()
    try:
        token = Path(settings.VAULT_TRANSIT_TOKEN_FILE).read_text().strip()
        client = hvac.Client(url=settings.VAULT_TRANSIT_URL, token=token, timeout=TIMEOUT_SECONDS)
        return question(client.secrets.transit)
    # All errors of the connection are OSErrors.
    except (HashiCorpError, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise VaultUnavailable(f"HashiCorp Vault gave no answer: {type(error).__name__}.") from error


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
