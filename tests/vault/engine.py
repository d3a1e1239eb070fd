"""The part of HashiCorp Vault's transit engine's HTTP interface that kaha uses, on loopback.

It keeps to the documented requests and answers; no real Vault was asked.
"""

import base64
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

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

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            engine.asked.append(self.path)
            status, answer = self.reply(body)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer)

        def reply(self, body: bytes) -> tuple[int, bytes]:
            if isinstance(engine.failure, bytes):
                return 200, engine.failure
            if engine.failure or self.headers["X-Vault-Token"] != TOKEN:
                return engine.failure or 403, json.dumps({"errors": ["permission denied"]}).encode()
            mount, verb, name = self.path.removeprefix("/v1/").split("/")
            if (mount, name) != ("transit", "kaha"):
                return 404, b'{"errors": []}'
            try:
                return 200, json.dumps({"data": engine.answer(verb, json.loads(body))}).encode()
            except (InvalidTag, ValueError) as fault:
                return 400, json.dumps({"errors": [str(fault)]}).encode()

        def log_message(self, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        engine.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
