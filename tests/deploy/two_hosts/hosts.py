"""Empty hosts of Debian: a root of its smallest set of packages each, in a network namespace, without systemd."""

import os
import pty
import re
import select
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from payments.embedded.folders import PROJECT
from tests.deploy.roots import MOUNT

PROGRAMS = ("mmdebstrap", "ip", "unshare")
TIMEOUT_SECONDS = 300
CHECKOUT = "usr/src/kaha"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "TERM": "dumb",
    # There is nobody who would answer a package's questions.
    "DEBIAN_FRONTEND": "noninteractive",
}
ENTER = MOUNT + 'exec chroot --userspec="$user" "$root" "$@"\n'
# A block continues where the one before ended: in its folder, with its variables.
SHELL = """
if [ -e {state} ]; then . {state}; cd "$PWD"; fi
set -e
{code}
set >{state}
"""


def missing() -> list[str]:
    """Return the programs that making and entering hosts needs and this machine lacks."""
    return [program for program in PROGRAMS if shutil.which(program) is None]


def make_roots(debian: Path, *roots: Path) -> None:
    """Make roots with the packages of the tar `debian`, and with a checkout of kaha. Raises CalledProcessError."""
    first, *others = roots
    first.mkdir()
    # Devices are mounted.
    subprocess.run(["tar", "-C", first, "--numeric-owner", "--exclude=./dev/*", "-xf", debian], check=True)
    # This machine's way to Debian's and Python's packages.
    for file in (Path("/etc/resolv.conf"), Path("/etc/hosts")):
        shutil.copy(file, first / file.relative_to("/"))
    shutil.copy(CERTIFICATES, first / "etc" / "packages.crt")
    (first / "etc" / "pip.conf").write_text("[global]\ncert = /etc/packages.crt\n")
    # No package starts a service: there is no systemd to do it.
    policy = first / "usr" / "sbin" / "policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    for name in ("config", "customers", "payments", "templates"):
        shutil.copytree(PROJECT / name, first / CHECKOUT / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("manage.py", "pyproject.toml", "requirements.lock"):
        shutil.copy(PROJECT / name, first / CHECKOUT / name)
    for root in others:
        subprocess.run(["cp", "-a", first, root], check=True)


class Client:
    """A computer in the network of its namespace, with this machine's programs."""

    def __init__(self, namespace: str, folder: Path, certificate: Path) -> None:
        self.namespace = namespace
        self._state = str(folder / "state")
        self._certificate = str(certificate)

    def command(
        self, program: Sequence[str], *, packages: bool = False, user: str = "root", folder: str = "/root"
    ) -> list[str]:
        """Return the command that runs `program` here; with `packages` it is in this machine's own network."""
        given = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
        if packages:
            return [*self._entered(user), "env", "-i", "-C", folder, *given, *program]
        inside = ["env", "-i", "-C", folder, *given, f"CURL_CA_BUNDLE={self._certificate}", *program]
        return ["ip", "netns", "exec", self.namespace, *self._entered(user), *inside]

    def run(self, code: str, *, packages: bool = False) -> str:
        """Run lines of a shell, which must end well; return what they print."""
        done = subprocess.run(
            self._shell(code, packages),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{code}\n{done.stdout[-4000:]}"
        return done.stdout

    def type(self, code: str, answers: Mapping[str, str]) -> str:
        """Run lines of a shell on a terminal, where each prompt that ends like one of `answers` is answered."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            self._shell(code), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        shown = unanswered = ""
        while text := _read(ours):
            shown, unanswered = shown + text, unanswered + text
            for prompt, answer in answers.items():
                if re.search(rf"{prompt}\Z", unanswered):
                    os.write(ours, f"{answer}\n".encode())
                    unanswered = ""
                    break
        os.close(ours)
        assert process.wait(timeout=10) == 0, f"{code}\n{shown[-4000:]}"
        return shown

    def _shell(self, code: str, packages: bool = False) -> list[str]:
        return self.command(["sh", "-c", SHELL.format(state=self._state, code=code)], packages=packages)

    def _entered(self, user: str) -> list[str]:
        return []


class Host(Client):
    """A host with a root of its own."""

    def __init__(self, namespace: str, root: Path, certificate: Path) -> None:
        super().__init__(namespace, Path("/root"), Path("/etc/public.crt"))
        self.root = root
        shutil.copy(certificate, root / "etc" / "public.crt")

    def _entered(self, user: str) -> list[str]:
        return ["unshare", "--mount", "sh", "-c", ENTER, "sh", str(self.root), user]


def _read(terminal: int) -> str:
    """Return what a program wrote; nothing when it has ended, or is silent for too long."""
    if not select.select([terminal], [], [], TIMEOUT_SECONDS)[0]:
        return ""
    try:
        return os.read(terminal, 65536).decode(errors="replace")
    except OSError:
        # The last program has closed its end.
        return ""
