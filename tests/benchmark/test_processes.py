"""CPU time, of processes that use some."""

import os
import subprocess
import sys

from config.benchmark.processes import cpu_seconds, memory_mb

BUSY = "import time\nwhile time.process_time() < 0.1: pass"


def test_the_time_of_what_a_process_has_started_and_ended_is_its_own() -> None:
    before = cpu_seconds(os.getpid())
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert cpu_seconds(os.getpid()) - before >= 0.1


def test_the_time_of_what_still_runs_below_it_is_its_own() -> None:
    code = f"{BUSY}\nprint(flush=True)\ninput()"
    shell = ["sh", "-c", '"$@"; true', "sh", sys.executable, "-c", code]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout
        running.stdout.readline()
        assert cpu_seconds(running.pid) >= 0.09
        running.communicate(b"\n")


def test_the_memory_of_several_is_that_of_the_largest() -> None:
    code = 'held = b"x" * 400_000_000\nprint(flush=True)\ninput()'
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout
        running.stdout.readline()
        assert 350 <= memory_mb(os.getpid()) == memory_mb(running.pid)
        running.communicate(b"\n")
