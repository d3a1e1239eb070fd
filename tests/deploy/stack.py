"""The services of `config/deploy/compose.yaml`, run by its lines, each program in the built image or Debian's own.

What an engine does is done here by hand: one network with the services' names, secrets as files, a read-only root.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml

from payments.embedded.folders import PROJECT
from tests.deploy.conftest import make_certificate
from tests.deploy.image import Image
from tests.support.processes import Program, start

FILES = PROJECT / "config" / "deploy"
POSTGRES = Path("/usr/lib/postgresql/15/bin")
HOST = "pay.example.com"
# The stop_grace_period of the services.
STOP_TIMEOUT_SECONDS = 90


class Stack:
    """All services of one installation, in a network namespace of their own."""

    def __init__(self, image: Image, folder: Path) -> None:
        self.folder = folder
        self.programs: dict[str, Program] = {}
        self._image = image
        self._services: dict[str, Any] = yaml.safe_load((FILES / "compose.yaml").read_text())["services"]
        self._network = f"kaha-{uuid4().hex[:8]}"
        self._hosts = Path("/etc/netns") / self._network / "hosts"

    @contextmanager
    def running(self, **environment: str) -> Iterator["Stack"]:
        """Start every service in the order of the file's conditions; stop them at the end."""
        self._prepare()
        try:
            self._start_database()
            redis = [shutil.which("redis-server") or "redis-server", *self._command("redis")[1:]]
            self.start("redis", redis, lambda: "ready to accept" in self.log("redis").lower())
            migrated = self.run("migrate")
            assert migrated.returncode == 0, migrated.stderr
            self.start_web(**environment)
            work = self.inside("worker", self._command("worker"), environment)
            self.start("worker", work, lambda: self.is_healthy("worker"))
            self._start_proxy()
            yield self
        finally:
            for program in reversed(self.programs.values()):
                program.stop(STOP_TIMEOUT_SECONDS)
            shutil.rmtree(self._hosts.parent)
            subprocess.run(["ip", "netns", "delete", self._network], check=True)

    def start(self, name: str, command: Sequence[str], ready: Callable[[], bool], **environment: str) -> Program:
        """Start a service, and wait until it is `ready`."""
        log, environment = self.folder / f"{name}.log", os.environ | environment
        self.programs[name] = start(self._connected(command), log=log, environment=environment, cwd=self.folder)
        return self.programs[name].wait_until(ready)

    def start_web(self, **environment: str) -> None:
        """Start the web server, and wait until its health check is well."""
        self.start("web", self.inside("web", self._command("web"), environment), lambda: self.is_healthy("web"))

    def run(self, service: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command, or the service's own, in the image as that service."""
        whole = self.inside(service, command or self._command(service), {})
        return subprocess.run(self._connected(whole), capture_output=True, text=True, timeout=120, check=False)

    def curl(self, path: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Send a request to the proxy, as README does."""
        trusted = ["--cacert", str(self.folder / "tls" / "fullchain.pem"), "--resolve", f"{HOST}:443:127.0.0.1"]
        command = ["curl", "-s", "--max-time", "60", *trusted, *options, f"https://{HOST}{path}"]
        return subprocess.run(self._connected(command), capture_output=True, text=True, timeout=90, check=False)

    def is_healthy(self, service: str) -> bool:
        """Run the service's health check."""
        return self.run(service, *self._services[service]["healthcheck"]["test"][1:]).returncode == 0

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def inside(self, service: str, program: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        """Return the command that runs `program` as the file says of the service."""
        declared = self._services[service]
        assert declared["read_only"]
        from_file = [
            line.split("=", 1) for line in (FILES / declared["env_file"]).read_text().splitlines() if line[:1] > "#"
        ]
        secrets = {self.folder / "secrets" / name: f"/run/secrets/{name}" for name in declared["secrets"]}
        mounts = {**secrets, self._hosts: "/etc/hosts"}
        return self._image.command(program, mounts, {**dict(from_file), **declared["environment"], **environment})

    def _command(self, service: str) -> list[str]:
        return [str(part) for part in self._services[service]["command"]]

    def _connected(self, command: Sequence[str]) -> list[str]:
        return ["ip", "netns", "exec", self._network, *command]

    def _prepare(self) -> None:
        subprocess.run(["sh", FILES / "make_secrets.sh", self.folder / "secrets"], check=True)
        make_certificate(self.folder / "tls", HOST)
        subprocess.run(["ip", "netns", "add", self._network], check=True)
        subprocess.run(self._connected(["ip", "link", "set", "lo", "up"]), check=True)
        self._hosts.parent.mkdir(parents=True)
        self._hosts.write_text(f"127.0.0.1 localhost {' '.join(self._services)}\n")

    def _start_database(self) -> None:
        """Start Debian's PostgreSQL as the official image starts its own: a superuser, and then our script once."""
        data, password = self.folder / "data", self.folder / "secrets" / "database_password"
        shutil.copy(password, self.folder / "password")
        for path in (self.folder, self.folder / "password"):
            shutil.chown(path, "postgres")
        as_postgres = ["runuser", "-u", "postgres", "--"]
        auth = ["--auth-local=trust", "--auth-host=scram-sha-256"]
        made = [str(POSTGRES / "initdb"), "-D", str(data), "-E", "UTF8", "--locale=C.UTF-8", *auth]
        subprocess.run([*as_postgres, *made], check=True, capture_output=True)
        place = ["-D", str(data), "-k", str(self.folder), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        ready = [str(POSTGRES / "pg_isready"), "-q", "-h", str(self.folder)]
        run = [*as_postgres, str(POSTGRES / "postgres"), *place]
        self.start("db", run, lambda: subprocess.run(ready, check=False).returncode == 0)
        script = [
            "env",
            f"PGHOST={self.folder}",
            "sh",
            str(FILES / "create_database.sh"),
            str(self.folder / "password"),
        ]
        subprocess.run([*as_postgres, *script], check=True, cwd="/")

    def _start_proxy(self) -> None:
        file = self.folder / "haproxy.cfg"
        file.write_text((FILES / "haproxy.cfg").read_text().replace("/etc/kaha/tls/", f"{self.folder}/tls/"))
        haproxy = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin") or "haproxy"
        healthy = lambda: self.curl("/ping").stdout == "healthy"  # noqa: E731
        self.start("proxy", [haproxy, "-db", "-f", str(file)], healthy, **self._services["proxy"]["environment"])
