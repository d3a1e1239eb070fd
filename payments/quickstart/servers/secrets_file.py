"""DATA/settings.env: the secrets of an embedded installation, made once."""

import base64
import os
import secrets
import tempfile
from pathlib import Path

from payments.quickstart.servers.errors import EmbeddedError


def secrets_of(data: Path) -> dict[str, str]:
    """The secrets by name (SECRET_KEY, VAULT_KEYS, FINGERPRINT_KEY, POSTGRES_PASSWORD), made at first use.

    Raises EmbeddedError where they cannot be read or written.
    """
    file = data / "settings.env"
    try:
        if not file.exists():
            _create(file)
        return dict(line.split("=", 1) for line in file.read_text().splitlines())
    except OSError as error:
        raise EmbeddedError(f"{file} cannot be used: {error.strerror}") from error


def _create(file: Path) -> None:
    """Write it under another name and link it: of two processes one wins, and none reads half of it."""
    fresh = {
        "SECRET_KEY": secrets.token_urlsafe(48),
        "VAULT_KEYS": f"k1:{_key()}",
        "FINGERPRINT_KEY": _key(),
        "POSTGRES_PASSWORD": secrets.token_urlsafe(24),
    }
    with tempfile.NamedTemporaryFile("w", dir=file.parent) as new:
        new.write("".join(f"{name}={value}\n" for name, value in fresh.items()))
        new.flush()
        os.fsync(new.fileno())
        try:
            os.link(new.name, file)
        except FileExistsError:
            return


def _key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()
