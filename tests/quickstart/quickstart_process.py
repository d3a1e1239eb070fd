"""Starting kaha as a person or a program does, and looking at what runs."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any

import httpx2

from payments.embedded.folders import PROJECT
from payments.embedded.processes import wait_until
from tests.support.processes import PATIENCE_SECONDS, start

# What the suite's own servers have put into the environment would be taken for somebody's outside servers.
ENVIRONMENT = {name: os.environ[name] for name in ("HOME", "LANG", "PATH", "TMPDIR") if name in os.environ}
# Where its output is, of which it knows nothing.
OUTPUTS = "kaha-outputs-"
# Memory, and the clock of libuuid, by which redis-py names its locks where Debian has a folder for that clock.
NOT_OURS = ("/memfd:", "/var/lib/libuuid/", f"{gettempdir()}/{OUTPUTS}")
# What it shows of the demo merchant that a later start must show too.
KEYS = ["sk_test", "pk_test", "sk_live", "pk_live", "whsec_test"]
MANAGE = [sys.executable, str(PROJECT / "manage.py")]


class Quickstart:
    """A quickstart on a free port, run from anywhere; `output` is what it has written to standard output."""

    def __init__(self, data: Path, *arguments: str, before: tuple[str, ...] = ()) -> None:
        command = [*before, *MANAGE, "quickstart", "--data", data, "--port", "0", *arguments]
        self.data, self._files = data, Path(mkdtemp(prefix=OUTPUTS))
        files = {"log": self._files / "errors", "output": self._files / "output"}
        self.program = start(command, **files, environment=ENVIRONMENT, cwd="/")

    @property
    def output(self) -> str:
        return self.program.output

    def read_until(self, pattern: str) -> str:
        """Wait until the pattern occurs in a line of standard output; return all of it so far."""
        self.program.wait_until(lambda: re.search(rf"{pattern}.*\n", self.output) is not None)
        return self.output

    def ready(self) -> dict[str, Any]:
        """Return what it prints with `--json`."""
        return dict(json.loads(self.read_until("")))

    def ended(self) -> tuple[int, str]:
        """Its exit code and what it says on standard error, once nothing of it runs any more."""
        status, errors = self.program.wait(), self.program.errors
        shutil.rmtree(self._files)
        wait_until_nothing_runs(self.data)
        return status, errors


def manage(data: Path, *arguments: str) -> str:
    """Return the output of another command on the same data."""
    environment = {**ENVIRONMENT, "KAHA_DATA": str(data)}
    done = subprocess.run([*MANAGE, *arguments], cwd="/", env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sign_in(browser: httpx2.Client, ready: Mapping[str, Any], site: str, user: str) -> httpx2.Response:
    """Return the answer to a sign-in at a site as the user whom the quickstart has shown."""
    address = f"{ready[site]}login/"
    browser.get(address)
    form = {"login": ready[f"{user}_user"], "password": ready[f"{user}_password"]}
    return browser.post(address, data=form | {"csrfmiddlewaretoken": browser.cookies["csrftoken"]})


def wait_until_nothing_runs(data: Path) -> None:
    """Wait until no process is left that has to do with a data folder."""
    assert wait_until(lambda: not processes_of(data), PATIENCE_SECONDS), processes_of(data)


def processes_of(data: Path) -> dict[int, str]:
    """Return the command lines, by process ID, of all whose arguments, environment or folder name the data folder."""
    processes = [process for process in Path("/proc").glob("[0-9]*") if _names(process, str(data))]
    return {int(process.name): _command(process) for process in processes}


def files_open_for_writing(pid: int) -> set[Path]:
    """Return the ordinary files on a disk that a process can write to at this moment, without those of the system."""
    files = set()
    for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
        with suppress(OSError):
            flags = re.search(r"flags:\s+([0-7]+)", Path(f"/proc/{pid}/fdinfo/{descriptor.name}").read_text())
            if descriptor.is_file() and flags and int(flags[1], 8) & os.O_ACCMODE:
                files.add(descriptor.readlink())
    return {file for file in files if not str(file).startswith(NOT_OURS)}


def _names(process: Path, text: str) -> bool:
    try:
        about = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        return text in about.decode(errors="replace") or str((process / "cwd").readlink()).startswith(text)
    except OSError:
        return False


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_text().replace("\0", " ")
    except OSError:
        return process.name
