"""kaha's hosts: web servers behind HAProxy, and workers; half of each reach PostgreSQL by PgBouncer and HAProxy."""

import sys
import urllib.request
from collections.abc import Sequence
from contextlib import suppress

from tests.deploy.conftest import make_certificate
from tests.figures.failover.cluster.hosts import Host
from tests.figures.failover.cluster.parts import FILES, filled_in
from tests.figures.failover.cluster.patroni import SAMPLE, USER, Patroni
from tests.figures.failover.cluster.redis import Redis

WEB_PORT, PROVIDER_PORT, RECEIVER_PORT, POOLER_PORT = 8000, 9000, 9001, 6432
HOOK = f"http://127.0.0.1:{RECEIVER_PORT}/hook"
COMMANDS = {
    "web": [sys.executable, "manage.py", "web", "--host", "0.0.0.0", "--processes", "1"],
    "worker": [sys.executable, "-m", "celery", "-A", "config.celery", "worker"],
}
DATABASES = {"web": "kaha", "worker": "kaha_work"}


class Kaha:
    """Web and worker hosts, and the proxy before the web hosts. The first of each have a PgBouncer."""

    def __init__(self, front: Host, webs: Sequence[Host], workers: Sequence[Host], provider: Host) -> None:
        self.front, self.webs, self.workers, self._provider = front, webs, workers, provider

    def start(self, patroni: Patroni, redis: Redis, password: str) -> None:
        shared = self.environment(patroni, redis)
        for hosts, kind in ((self.webs, "web"), (self.workers, "worker")):
            for number, host in enumerate(hosts):
                own = self._pooled(host, patroni, kind, password) if number == 0 else {}
                if kind == "worker":
                    # A merchant's, on the address that webhooks of test mode may go to.
                    command = [
                        sys.executable,
                        "-m",
                        "tests.figures.failover.programs.receiver",
                        str(host.folder / "received"),
                    ]
                    host.start("receiver", command, spared=True)
                host.start(kind, COMMANDS[kind], environment=shared | own)
        self._start_front()

    def environment(self, patroni: Patroni, redis: Redis) -> dict[str, str]:
        """Return the settings of every host of kaha's."""
        return {
            "DJANGO_SETTINGS_MODULE": "tests.figures.failover.programs.settings",
            "PROVIDER_ADDRESS": f"{self._provider.address}:{PROVIDER_PORT}",
            "DATABASE_URL": patroni.url(),
            "REDIS_URL": redis.url,
            "ALLOWED_HOSTS": f"127.0.0.1,{self.front.address}",
            "TRUSTED_PROXIES": "1",
            "WEB_DRAIN_SECONDS": "3",
            "RATE_LIMIT": "100000/second",
        }

    @property
    def url(self) -> str:
        return f"http://{self.front.address}"

    @property
    def is_well(self) -> bool:
        """Whether HAProxy sends requests to both web servers."""
        return all(host.call(lambda host=host: _is_ready(host.address)) for host in self.webs)

    def received(self) -> list[str]:
        """Return the IDs of the events that the merchant's receivers got, in no order."""
        files = [host.folder / "received" for host in self.workers]
        return [line for file in files if file.exists() for line in file.read_text().split()]

    def _pooled(self, host: Host, patroni: Patroni, kind: str, password: str) -> dict[str, str]:
        """Start PgBouncer, and the HAProxy that leads it to the primary; return the settings that lead kaha there."""
        servers = {sample: each.address for sample, each in zip(SAMPLE, patroni.hosts, strict=True)}
        proxy = filled_in("cluster/haproxy-postgresql.cfg", servers, host)
        host.start("haproxy", ["haproxy", "-db", "-f", str(proxy)])
        users = host.folder / "users.txt"
        users.write_text(f'"kaha" "{password}"\n')
        users.chmod(0o644)
        words = {"10.0.0.1": "127.0.0.1", "/etc/kaha/pgbouncer-users.txt": str(users)}
        host.start("pgbouncer", ["pgbouncer", str(filled_in("pgbouncer.ini", words, host))], user=USER)
        url = patroni.url(f"127.0.0.1:{POOLER_PORT}").removesuffix("kaha") + DATABASES[kind]
        return {"DATABASE_URL": url, "DATABASE_POOLER": "transaction"}

    def _start_front(self) -> None:
        make_certificate(self.front.folder / "tls")
        first, second = (f"{host.address}:{WEB_PORT}" for host in self.webs)
        words = {"127.0.0.1:8000": first, "# server kaha2 10.0.0.2:8000": f"server kaha2 {second}"}
        words["/etc/kaha/tls/kaha.pem"] = str(self.front.folder / "tls" / "kaha.pem")
        file = self.front.folder / "haproxy.cfg"
        text = (FILES / "haproxy.cfg").read_text()
        for word, own in words.items():
            assert word in text
            text = text.replace(word, own)
        file.write_text(text)
        self.front.start("haproxy", ["haproxy", "-db", "-f", str(file)])


def _is_ready(address: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://{address}:{WEB_PORT}/ready", timeout=2) as answer:
        return bool(answer.status == 200)
    return False
