"""A developer's terminal: `kaha` as it is installed, in an environment that has nothing else in it."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.processes import Program, start

KAHA = Path(sys.executable).with_name("kaha")
DEADLINE_SECONDS = 60.0
CTRL_C = b"\x03"
# A shell that runs the tests in the background has them ignore Ctrl-C, which a command would inherit.
WITH_CTRL_C = ("env", "--default-signal=INT")


class Done:
    """A command that has ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def succeeded(self) -> str:
        """Return what it printed, which is all that it had to say."""
        assert self.code == 0, self.err
        return self.out


class Running:
    """A command that runs until it is interrupted."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @property
    def output(self) -> str:
        return self.program.output

    def read_until(self, pattern: str, times: int = 1) -> str:
        """Wait until the pattern has occurred so many times in all; return the output so far."""
        both = lambda: self.program.output + self.program.errors  # noqa: E731
        self.program.wait_until(lambda: len(re.findall(pattern, both())) >= times)
        return self.output

    def interrupt(self) -> Done:
        """Press Ctrl-C, and wait until it has ended."""
        self.program.send(signal.SIGINT)
        return Done(self.program.wait(), self.program.output, self.program.errors)


class Terminal:
    """Runs `kaha` with these variables and the home folder `home`, and nothing else from outside."""

    def __init__(self, home: Path, **variables: str) -> None:
        self.home = home
        self.variables = {"HOME": str(home), "PATH": f"{KAHA.parent}:{os.environ['PATH']}", **variables}
        self._running: list[Running] = []

    @property
    def profiles(self) -> Path:
        return self.home / ".config" / "kaha" / "profiles.toml"

    def run(self, *arguments: str, **more: str) -> Done:
        """Run a command without a terminal, with `more` variables."""
        return self._done([str(KAHA), *arguments], Path.cwd(), more)

    def shell(self, command: str, **more: str) -> Done:
        """Run a line as a shell does, in the home folder, with `more` variables. A pipe's status is that of `kaha`."""
        return self._done(["bash", "-c", f"{command}\nexit ${{PIPESTATUS[0]}}"], self.home, more)

    def _done(self, command: list[str], folder: Path, more: dict[str, str]) -> Done:
        pipes = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        done = subprocess.run(command, cwd=folder, env=self.variables | more, timeout=120, check=False, **pipes)
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> Running:
        """Start a command that runs until it is interrupted, or `close` is called."""
        output, errors = (self.home / f"{len(self._running)}.{name}" for name in ("output", "errors"))
        command = [*WITH_CTRL_C, KAHA, *arguments]
        self._running.append(Running(start(command, log=errors, output=output, environment=self.variables, cwd=None)))
        return self._running[-1]

    def close(self) -> None:
        """Kill what still runs."""
        for running in self._running:
            running.program.kill()

    def answer(self, arguments: list[str], answers: list[tuple[str, str]]) -> Done:
        """Run a command at a real terminal; after each text of `answers` is shown, type what belongs to it."""
        pid, master = pty.fork()
        if pid == 0:
            os.execvpe("env", [*WITH_CTRL_C, str(KAHA), *arguments], self.variables)
        shown = typed = b""
        waiting = list(answers)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            if not select.select([master], [], [], 1.0)[0]:
                if time.monotonic() < deadline:
                    # Python's prompt misses a Ctrl-C of the moment in which it takes the terminal.
                    os.write(master, typed if typed == CTRL_C else b"")
                    continue
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise AssertionError(f"It waits for more than {answers}: {shown.decode()}")
            try:
                read = os.read(master, 4096)
            except OSError:
                break
            if not read:
                break
            shown += read
            if waiting and waiting[0][0].encode() in shown:
                typed = waiting.pop(0)[1].encode()
                os.write(master, typed if typed == CTRL_C else typed + b"\n")
        os.close(master)
        return Done(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode(), "")
