"""The part of HashiCorp Vault's transit engine's HTTP interface that kaha uses, on loopback.

It keeps to the documented requests and answers; no real Vault was asked.
"""

import base64
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.support.http_server import Answered, Asked, answering

TOKEN = "hvs.a-token-of-the-fake"


class Engine:
    """One transit key: its versions, what was asked, and how it behaves (`failure`: an HTTP status or a raw body)."""

    def __init__(self) -> None:
        self.versions = [AESGCM.generate_key(256)]
        self.least_version = 1
        self.failure: int | bytes | None = None
        self.asked: list[str] = []
        self.url = ""

    def rotate(self) -> None:
        self.versions.append(AESGCM.generate_key(256))

    def answer(self, verb: str, body: dict[str, str]) -> dict[str, str]:
        bound = base64.b64decode(body["associated_data"])
        if verb == "encrypt":
            nonce = secrets.token_bytes(12)
            sealed = nonce + AESGCM(self.versions[-1]).encrypt(nonce, base64.b64decode(body["plaintext"]), bound)
            return {"ciphertext": f"vault:v{len(self.versions)}:{base64.b64encode(sealed).decode()}"}
        _, version, text = body["ciphertext"].split(":")
        number, sealed = int(version[1:]), base64.b64decode(text)
        if number < self.least_version:
            raise ValueError("ciphertext or signature version is disallowed by policy (too old)")
        plain = AESGCM(self.versions[number - 1]).decrypt(sealed[:12], sealed[12:], bound)
        return {"plaintext": base64.b64encode(plain).decode()}


@contextmanager
def running(engine: Engine) -> Iterator[None]:
    """Serve the engine at `engine.url`, for the key `kaha` and one token."""

    def reply(asked: Asked) -> Answered:
        engine.asked.append(asked.path)
        if isinstance(engine.failure, bytes):
            return Answered(200, engine.failure)
        if engine.failure or asked.headers["X-Vault-Token"] != TOKEN:
            return Answered(engine.failure or 403, {"errors": ["permission denied"]})
        mount, verb, name = asked.path.removeprefix("/v1/").split("/")
        if (mount, name) != ("transit", "kaha"):
            return Answered(404, {"errors": []})
        try:
            return Answered(200, {"data": engine.answer(verb, json.loads(asked.body))})
        except (InvalidTag, ValueError) as fault:
            return Answered(400, {"errors": [str(fault)]})

    with answering(reply) as server:
        engine.url = server.address
        yield
