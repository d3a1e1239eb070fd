"""The unprivileged user that PostgreSQL runs as when we are root: PostgreSQL refuses to run as root."""

import os
import pwd
import subprocess  # nosec B404 # programs of ours, never a shell
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from payments.quickstart.servers.errors import EmbeddedError


@dataclass(frozen=True)
class Account:
    """A user other than ourselves."""

    uid: int
    gid: int

    def popen_options(self) -> dict[str, Any]:
        """The arguments of `subprocess.Popen` that make the child run as this user, in none of our groups."""
        return {"user": self.uid, "group": self.gid, "extra_groups": [], "cwd": "/"}

    def can_enter(self, folder: Path) -> bool:
        """Whether this user really gets through every folder above `folder` and into it."""
        test = ["/usr/bin/test", "-x", str(folder)]
        try:
            return subprocess.run(test, check=False, **self.popen_options()).returncode == 0  # nosec B603 # a program of ours, with arguments of ours
        except (OSError, subprocess.SubprocessError) as error:
            raise EmbeddedError(
                f"PostgreSQL does not run as root, and this root may not become user {self.uid}: {error}."
            ) from error

    def own(self, path: Path) -> None:
        """Give this user a file or folder that we have just made."""
        os.chown(path, self.uid, self.gid)


def server_account(existing: Path) -> Account | None:
    """The user for PostgreSQL: None (ourselves) unless we are root; the owner of `existing` if that exists.

    Raises EmbeddedError where a root has no other user to hand.
    """
    if os.geteuid() != 0:
        return None
    if existing.exists():
        status = existing.stat()
        return Account(status.st_uid, status.st_gid)
    entries = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in entries:
            return Account(entries[name].pw_uid, entries[name].pw_gid)
    raise EmbeddedError("PostgreSQL does not run as root, and there is no user `nobody` to run it as.")
