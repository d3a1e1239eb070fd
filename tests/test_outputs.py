"""Lines on pipes, sockets and files of every kind: whole, or lost and counted, and never waited for."""

import json
import logging
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config.logs.outputs import Output
from config.logs.setup import LineHandler, RedactedJson
from payments.embedded.folders import PROJECT
from tests.collector import Collector


class Handled:
    """A handler of the log on a descriptor, and what it writes there."""

    def __init__(self, descriptor: int) -> None:
        self.handler = LineHandler(Output(descriptor))
        self.handler.setFormatter(RedactedJson())

    def log(self, *arguments: object, message: str = "took %s") -> None:
        self.handler.handle(logging.LogRecord("tests", logging.INFO, __file__, 7, message, arguments, None))


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    collector = Collector(tmp_path / "log")
    yield collector
    collector.go()


@pytest.fixture
def handled(collector: Collector) -> Handled:
    return Handled(os.open(collector.path, os.O_WRONLY))


def messages(collector: Collector) -> list[str]:
    return [line["message"] for line in collector.lines()]


def test_lines_go_to_a_pipe_whose_flags_stay_as_they_are(collector: Collector, handled: Handled) -> None:
    handled.log(1)
    assert messages(collector) == ["took 1"]
    assert os.get_blocking(handled.handler.output.descriptor) is False
    assert all(os.get_blocking(descriptor) for descriptor in (0, 1, 2))


@pytest.mark.parametrize("outage", [Collector.go, Collector.stall], ids=["broken", "hanging"])
def test_lost_lines_are_counted_and_reported_before_the_next(
    collector: Collector, handled: Handled, outage: Callable[[Collector], None]
) -> None:
    handled.log(1)
    outage(collector)
    for number in (2, 3, 4):
        handled.log(number)
    collector.come()
    handled.log(5)
    assert messages(collector)[-2:] == ["Log lines were lost.", "took 5"]
    assert collector.lost() == 3


def test_lost_lines_are_reported_at_the_end_where_no_other_follows(collector: Collector, handled: Handled) -> None:
    handled.log(1)
    collector.go()
    handled.log(2)
    collector.come()
    handled.handler.close()
    assert collector.lost() == 1


def test_a_forked_process_does_not_report_again_what_its_parent_lost(collector: Collector, handled: Handled) -> None:
    handled.log(1)
    collector.go()
    handled.log(2)
    collector.come()
    if (child := os.fork()) == 0:
        handled.log("in the child")
        os._exit(0)
    os.waitpid(child, 0)
    handled.log(3)
    assert messages(collector)[-3:] == ["took in the child", "Log lines were lost.", "took 3"]
    assert collector.lost() == 1


NOT_OURS = """
import os, sys
from config.logs.outputs import Output
if os.geteuid() == 0:
    os.setuid(65534)
output = Output(int(sys.argv[1]))
output.write(b"first\\n")
try:
    while True:
        output.write(b"x" * 10_000 + b"\\n")
except BlockingIOError:
    print("did not wait", output.descriptor == int(sys.argv[1]))
"""


def test_a_pipe_that_may_not_be_opened_anew_is_not_waited_for_either(collector: Collector) -> None:
    """As when a container's program has changed its user."""
    writer = os.open(collector.path, os.O_WRONLY)
    collector.path.chmod(0)
    command = [sys.executable, "-c", NOT_OURS, str(writer)]
    output = subprocess.check_output(command, cwd=PROJECT, pass_fds=[writer], timeout=60, text=True)
    os.close(writer)
    assert output == "did not wait True\n"
    assert collector.text().startswith("first\nxxx")


def test_a_line_that_is_cut_does_not_garble_the_next(collector: Collector, handled: Handled) -> None:
    with pytest.raises(BlockingIOError):
        handled.handler.output.write(b"x" * 2_000_000 + b"\n")
    collector.come()
    handled.log("whole")
    cut, line = collector.text().splitlines()
    assert set(cut) == {"x"}
    assert json.loads(line)["message"] == "took whole"


def test_a_socket_that_nobody_reads_is_not_waited_for() -> None:
    """What systemd gives a service."""
    reader, writer = socket.socketpair()
    handled = Handled(writer.fileno())
    for number in range(3000):
        handled.log(f"{number} " + "x" * 1000)
    reader.setblocking(False)
    text = b""
    while len(part := reader.recv(1_000_000)) == 1_000_000:
        text += part
    assert b"took 0 " in text + part
    reader.close()
    writer.close()


def test_a_file_is_written_where_others_write_too(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb", buffering=0) as file:
        handled = Handled(file.fileno())
        for number in (1, 2):
            handled.log(number)
            file.write(b"another program's\n")
    assert (tmp_path / "log").read_text().count("\n") == 4


@pytest.mark.parametrize("broken", [RuntimeError, RecursionError, UnicodeError, MemoryError])
def test_an_argument_that_cannot_be_shown_fails_nothing(
    collector: Collector, handled: Handled, broken: type[Exception]
) -> None:
    class Unshowable:
        def __str__(self) -> str:
            raise broken

    handled.log(Unshowable())
    assert messages(collector) == ["A log record could not be written."]


@pytest.mark.parametrize("asked", [KeyboardInterrupt, SystemExit])
def test_who_wants_the_program_to_end_is_not_held_up(handled: Handled, asked: type[BaseException]) -> None:
    class Ending:
        def __str__(self) -> str:
            raise asked

    with pytest.raises(asked):
        handled.log(Ending())


PROTECTED = """
import sys, threading, warnings
from config.logs.outputs import protect_standard_error
protect_standard_error()
class Bad:
    def __del__(self): raise ValueError("unraisable")
Bad()
warnings.warn("seen")
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
print("x" * 100_000, file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.long
@pytest.mark.parametrize("status", [0, 3])
@pytest.mark.parametrize("kind", ["broken", "full", "closed"])
def test_what_python_prints_at_a_broken_standard_error_does_not_change_the_exit_status(kind: str, status: int) -> None:
    reader, broken = os.pipe()
    os.close(reader)
    full = os.open("/dev/full", os.O_WRONLY)
    closing = " 2>&-" if kind == "closed" else ""
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {status}{closing}', sys.executable, PROTECTED],
        cwd=PROJECT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stderr=full if kind == "full" else broken,
        timeout=60,
    )
    for descriptor in (broken, full):
        os.close(descriptor)
    assert done.returncode == status


def test_a_file_at_its_limit_loses_lines_and_nothing_else(tmp_path: Path) -> None:
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with (tmp_path / "log").open("wb", buffering=0) as file:
        handled = Handled(file.fileno())
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        for number in range(20):
            handled.log(number)
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
        handled.log("whole again")
    lines = (tmp_path / "log").read_text().splitlines()
    written = [line for line in lines if line.endswith("}")]
    lost = [json.loads(line)["lost"] for line in written if "Log lines were lost." in line]
    assert sum(lost) + sum("took" in line for line in written) == 21
    assert json.loads(lines[-1])["message"] == "took whole again"
