"""Units of systemd on a host where systemd does not run: what their lines start is started, as their user."""

import re
import shlex
import subprocess
from collections import defaultdict
from pathlib import Path

from tests.deploy.two_hosts.hosts import TIMEOUT_SECONDS, Host
from tests.support.processes import Program, start

FOLDERS = ("etc/systemd/system", "usr/lib/systemd/system")
# What Debian's generator makes of the first.
INSTANCES = {"postgresql": "postgresql@15-main"}


class Unit:
    """A unit's file: the values of each of its names, in their order."""

    def __init__(self, root: Path, name: str) -> None:
        template, at, self.instance = name.partition("@")
        file = next(path for folder in FOLDERS if (path := root / folder / f"{template}{at}.service").exists())
        self.values: dict[str, list[str]] = defaultdict(list)
        for name, value in re.findall(r"^(\w+)=(.*)$", file.read_text(), re.MULTILINE):
            self.values[name].append(value)

    def value(self, name: str, default: str = "") -> str:
        return self.values[name][-1] if name in self.values else default


class Systemd:
    """What `systemctl` does on a host, as far as its units need it."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._running: dict[str, Program] = {}

    def systemctl(self, line: str) -> None:
        """Do what the line says. Raises KeyError for another verb."""
        _, verb, *words = line.split()
        act = {"start": self.start, "enable": self.start, "restart": self.restart}[verb]
        for name in words:
            if name != "--now":
                act(INSTANCES.get(name, name))

    def start(self, name: str) -> None:
        unit = Unit(self._host.root, name)
        if name in self._running:
            return
        if unit.value("Type") in ("oneshot", "forking"):
            self._run(name, unit, "ExecStart")
        else:
            log = self._host.root.parent / f"{self._host.root.name}-{name}.log"
            self._running[name] = start(self._command(name, unit, "ExecStart"), log=log, environment={})

    def restart(self, name: str) -> None:
        unit = Unit(self._host.root, name)
        if name in self._running:
            self._running.pop(name).stop(90)
        elif unit.value("Type") == "forking":
            self._run(name, unit, "ExecStop")
        self.start(name)

    def end(self) -> None:
        """Stop what was started and stays in front."""
        for program in self._running.values():
            program.stop(90)

    def _run(self, name: str, unit: Unit, what: str) -> None:
        command = self._command(name, unit, what)
        log = self._host.root.parent / f"{self._host.root.name}-{name}.log"
        with log.open("ab") as output:
            done = subprocess.run(command, stdout=output, stderr=output, timeout=TIMEOUT_SECONDS, check=False)
        assert done.returncode == 0 or unit.value(what).startswith("-"), log.read_text()[-4000:]

    def _command(self, name: str, unit: Unit, what: str) -> list[str]:
        user = unit.value("User", "root")
        credentials = self._give_credentials(name, unit, user)
        environment = self._environment(unit, credentials)
        words = []
        for word in shlex.split(unit.value(what).lstrip("-").replace("%i", unit.instance)):
            words += shlex.split(environment[word[1:]]) if word[:1] == "$" else [word]
        environment.setdefault("HOME", self._host.run(f"getent passwd {user} | cut -d: -f6").strip())
        given = [f"{key}={value}" for key, value in environment.items()]
        return self._host.command(["env", *given, *words], user=user, folder=unit.value("WorkingDirectory", "/"))

    def _give_credentials(self, name: str, unit: Unit, user: str) -> str:
        """Copy the unit's secrets to where its user alone reads them, and make its folders; return the place."""
        place = f"/run/credentials/{name}.service"
        for line in unit.values["LoadCredential"]:
            credential, _, source = line.partition(":")
            self._host.run(f"install -D -o {user} -m 400 {source} {place}/{credential}")
        for folder in unit.values["RuntimeDirectory"]:
            self._host.run(f"install -d -o {user} /run/{folder}")
        return place

    def _environment(self, unit: Unit, credentials: str) -> dict[str, str]:
        """Return the variables of the unit's lines, and of its files, which count for more."""
        set_here = [word for line in unit.values["Environment"] for word in shlex.split(line)]
        for name in unit.values["EnvironmentFile"]:
            file = self._host.root / name.lstrip("-/")
            if file.exists() or not name.startswith("-"):
                set_here += [line for line in file.read_text().splitlines() if re.match(r"\w+=", line)]
        return dict(word.replace("%d", credentials).split("=", 1) for word in set_here)
