"""Starting kaha as a person or a program does, and looking at what runs."""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
DEADLINE_SECONDS = 60
# What the suite's own servers have put into the environment would be taken for somebody's outside servers.
ENVIRONMENT = {name: os.environ[name] for name in ("HOME", "LANG", "PATH", "TMPDIR") if name in os.environ}
# Memory, and the clock of libuuid, by which redis-py names its locks where Debian has a folder for that clock.
NOT_OURS = ("/memfd:", "/var/lib/libuuid/")
MANAGE = [sys.executable, str(PROJECT / "manage.py")]


class Quickstart:
    """A quickstart on a free port, run from anywhere; `output` is what it has written to standard output."""

    def __init__(self, data: Path, *arguments: str, before: tuple[str, ...] = ()) -> None:
        command = [*before, *MANAGE, "quickstart", "--data", str(data), "--port", "0", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.data = data
        self.process = subprocess.Popen(command, cwd="/", env=ENVIRONMENT, text=True, **pipes)
        self.output = ""

    def read_until(self, pattern: str) -> str:
        """Read standard output up to the line in which the pattern occurs; return all of it so far."""
        assert self.process.stdout
        while not re.search(pattern, self.output):
            line = self.process.stdout.readline()
            assert line, f"ended before {pattern!r}: {self.process.communicate()[1]}"
            self.output += line
        return self.output

    def ready(self) -> dict[str, Any]:
        """Return what it prints with `--json`."""
        return dict(json.loads(self.read_until(r"\n")))

    def ended(self) -> tuple[int, str]:
        """Its exit code and the rest of what it says on standard error, once nothing of it runs any more."""
        errors = self.process.communicate(timeout=DEADLINE_SECONDS)[1]
        wait_until_nothing_runs(self.data)
        return self.process.returncode, errors


def manage(data: Path, *arguments: str) -> str:
    """Return the output of another command on the same data."""
    environment = {**ENVIRONMENT, "KAHA_DATA": str(data)}
    done = subprocess.run([*MANAGE, *arguments], cwd="/", env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def wait_until_nothing_runs(data: Path) -> None:
    """Wait until no process is left that has to do with a data folder."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while running := processes_of(data):
        assert time.monotonic() < deadline, running
        time.sleep(0.05)


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
