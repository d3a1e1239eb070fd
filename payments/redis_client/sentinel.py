"""REDIS_URL with Redis Sentinel, which knows the server that is the master at the moment."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from redis import ConnectionPool
from redis.sentinel import Sentinel

TLS_SCHEME = "rediss+sentinel://"
SCHEMES = ("redis+sentinel://", TLS_SCHEME)
PORT = 26379
# Of the Sentinels themselves, where they want a password.
OPTIONS = {"sentinel_username": "username", "sentinel_password": "password"}  # nosec B105 # names of options
CA_FILE = "ssl_ca_certs"


@dataclass(frozen=True)
class SentinelAddress:
    """The Sentinels, the service that they watch, and what is said to the master.

    `tls` says how the certificates of all of them are verified; where it is empty, nothing is encrypted.
    """

    nodes: tuple[tuple[str, int], ...]
    service: str
    database: int
    credentials: dict[str, str]
    sentinel_credentials: dict[str, str]
    tls: dict[str, str]

    @classmethod
    def parse(cls, url: str) -> "SentinelAddress":
        """Read `redis+sentinel://user:password@host:26379,host2:26379/service/0`; `rediss+sentinel://` is with TLS.

        Raises ValueError where it is malformed.
        """
        parts = urlsplit(url)
        user, _, hosts = parts.netloc.rpartition("@")
        username, _, password = user.partition(":")
        service, _, database = parts.path.removeprefix("/").partition("/")
        options = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
        tls = {"ssl_cert_reqs": "required"} if url.startswith(TLS_SCHEME) else {}
        if tls and CA_FILE in options:
            tls[CA_FILE] = options.pop(CA_FILE)
        if not (hosts and service) or not options.keys() <= OPTIONS.keys():
            raise ValueError("A host, a service or an option is not as it must be.")
        given = {"username": unquote(username), "password": unquote(password)}
        return cls(
            tuple(_node(host) for host in hosts.split(",")),
            unquote(service),
            int(database or 0),
            {name: text for name, text in given.items() if text},
            {OPTIONS[name]: text for name, text in options.items()},
            tls,
        )

    def pool(self, **options: Any) -> ConnectionPool:
        """Return a pool of connections to the master, which ask the Sentinels for it whenever they connect."""
        options |= self._tls_options
        manager = Sentinel(self.nodes, sentinel_kwargs={**options, **self.sentinel_credentials})
        master = manager.master_for(self.service, db=self.database, **self.credentials, **options)
        pool: ConnectionPool = master.connection_pool
        return pool

    def broker(self) -> tuple[str, dict[str, Any]]:
        """Return the URL and the transport options that Celery takes."""
        user = ":".join(quote(self.credentials.get(name, ""), safe="") for name in ("username", "password"))
        query = f"?{urlencode(self.tls)}" if self.tls else ""
        urls = [
            f"sentinel://{f'{user}@' if self.credentials else ''}{host}:{port}/{self.database}{query}"
            for host, port in self.nodes
        ]
        of_sentinels = {**self.sentinel_credentials, **self._tls_options}
        return ";".join(urls), {"master_name": self.service, "sentinel_kwargs": of_sentinels}

    @property
    def _tls_options(self) -> dict[str, Any]:
        return {"ssl": True, **self.tls} if self.tls else {}


def _node(host: str) -> tuple[str, int]:
    node = urlsplit(f"//{host}")
    if not node.hostname or node.path:
        raise ValueError("A host is not as it must be.")
    return node.hostname, node.port or PORT
