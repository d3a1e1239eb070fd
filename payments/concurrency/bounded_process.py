"""A process of its own for what is dangerous to open: without an environment, and ended in time."""

import subprocess  # nosec B404 # our own scripts, without a shell
import sys
from pathlib import Path


class Ended(Exception):
    """A script failed, or took more than it may: what it was asked is at fault."""


class HostBusy(Exception):
    """The host had no room or no time for a script: what it was asked may be good, and may be asked again."""


def output_of(script: Path, asked: bytes, seconds: float) -> bytes:
    """Return what one of our scripts, which bounds its own memory and processor time, writes for `asked`.

    Raise Ended and HostBusy.
    """
    command = [sys.executable, "-I", str(script)]
    try:
        return subprocess.run(  # nosec B603 # nothing of the command comes from outside
            command, input=asked, capture_output=True, env={}, timeout=seconds, check=True
        ).stdout
    except subprocess.CalledProcessError:
        raise Ended from None
    except (subprocess.TimeoutExpired, OSError):
        raise HostBusy("the host has no room or no time for it now") from None
