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
from queue import Empty, Queue
from threading import Thread

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

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.output, self.errors = "", ""
        self._lines: Queue[tuple[str, str]] = Queue()
        self._readers = [
            Thread(target=self._read, args=(name, stream), daemon=True)
            for name, stream in (("output", process.stdout), ("errors", process.stderr))
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, name: str, stream) -> None:  # type: ignore[no-untyped-def]
        for line in stream:
            self._lines.put((name, line))

    def read_until(self, pattern: str, times: int = 1) -> str:
        """Read until the pattern has occurred so many times in all; return the output so far."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while len(re.findall(pattern, self.output + self.errors)) < times:
            try:
                name, line = self._lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except Empty:
                raise AssertionError(f"{pattern!r} never came: {self.output}{self.errors}") from None
            setattr(self, name, getattr(self, name) + line)
        return self.output

    def interrupt(self) -> Done:
        """Press Ctrl-C, and wait until it has ended."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(DEADLINE_SECONDS)
        for reader in self._readers:
            reader.join(DEADLINE_SECONDS)
        while not self._lines.empty():
            name, line = self._lines.get()
            setattr(self, name, getattr(self, name) + line)
        return Done(code, self.output, self.errors)


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
        done = subprocess.run(
            [str(KAHA), *arguments],
            env=self.variables | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def shell(self, command: str, **more: str) -> Done:
        """Run a line as a shell does, in the home folder, with `more` variables. A pipe's status is that of `kaha`."""
        done = subprocess.run(
            ["bash", "-c", f"{command}\nexit ${{PIPESTATUS[0]}}"],
            cwd=self.home,
            env=self.variables | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> Running:
        """Start a command that runs until it is interrupted, or `close` is called."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen([*WITH_CTRL_C, str(KAHA), *arguments], env=self.variables, text=True, **pipes)
        self._running.append(Running(process))
        return self._running[-1]

    def close(self) -> None:
        """Kill what still runs."""
        for running in self._running:
            running.process.kill()
            running.process.wait()

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
