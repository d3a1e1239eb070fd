"""Roots of Debian's packages, and what programs in them are given before they are entered."""

import fcntl
import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

# Takes the root and a user as the first two arguments. The mounts are in a namespace of the command's own, and end
# with it.
MOUNT = """
set -e
root=$1; user=$2; shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
"""


def debian(shared: Path) -> Path:
    """Return a tar of Debian's smallest set of packages, which the first test of a run makes below `shared`."""
    tar, part = shared / "debian.tar", shared / "debian.part.tar"
    with (shared / "debian.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not tar.exists():
            command = ["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", part]
            subprocess.run(command, check=True, capture_output=True)
            part.rename(tar)
    return tar


@pytest.fixture(scope="session")
def debian_tar(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return what makes that tar, one for all processes of this run."""
    own = tmp_path_factory.getbasetemp()
    return partial(debian, own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)
