"""The image of `config/deploy/Containerfile`, built without a container engine, and programs that run in it.

Its base is made from Debian's packages, because no registry of images is asked. A program gets what an engine would
give it: the image's user, environment and folder, a read-only root, and the mounts and the network of the test.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from payments.embedded.folders import PROJECT
from tests.deploy.roots import MOUNT

PROGRAMS = ("buildah", "mmdebstrap", "ip", "unshare")
BUILD_TIMEOUT_SECONDS = 900
HOST_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# Of the other arguments, "outside:inside" before "--" are mounted; then nothing can be written.
ENTER = (
    MOUNT
    + """\
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/run"
while [ "$1" != -- ]; do
    inside="$root${1##*:}"
    mkdir -p "$(dirname "$inside")"
    touch "$inside"
    mount --bind "${1%:*}" "$inside"
    shift
done
shift
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" "$root" "$@"
"""
)


def missing() -> list[str]:
    """Return the programs that building and entering the image needs and this machine lacks."""
    return [program for program in PROGRAMS if shutil.which(program) is None]


@dataclass(frozen=True)
class Image:
    """A built image: where its root is mounted, and what it says of the programs in it."""

    root: Path
    user: str
    folder: str
    environment: tuple[str, ...]

    def command(self, program: Sequence[str], mounts: Mapping[Path, str], environment: Mapping[str, str]) -> list[str]:
        """Return the command that runs `program` in the image; the program takes the place of its process."""
        given = [f"{outside}:{inside}" for outside, inside in mounts.items()]
        set_by_us = [f"{name}={value}" for name, value in environment.items()]
        inside = ["env", "-i", "-C", self.folder, *self.environment, *set_by_us, *program]
        return ["unshare", "--mount", "sh", "-c", ENTER, "sh", str(self.root), self.user, *given, "--", *inside]


class Builder:
    """Builds the image on the tar `debian` below a folder, which `remove` empties again."""

    def __init__(self, folder: Path, debian: Path) -> None:
        self._folder, self._debian = folder, debian
        self._storage = ["--root", str(folder / "storage"), "--runroot", str(folder / "run")]
        self._container = ""

    def build(self) -> Image:
        """Build the image, and return it with its root mounted. Raises CalledProcessError."""
        self._container = self._buildah("from", "scratch")
        self._buildah("add", "--quiet", self._container, str(self._debian), "/")
        self._buildah("commit", "--quiet", self._container, "kaha-base")
        self._buildah("rm", self._container)
        file = PROJECT / "config" / "deploy" / "Containerfile"
        options = ["--isolation", "chroot", "--network", "host", "--build-arg", "BASE=localhost/kaha-base"]
        self._buildah("build", "--quiet", *options, *self._certificates(), "-f", str(file), "-t", "kaha", str(PROJECT))
        self._container = self._buildah("from", "--pull-never", "localhost/kaha")
        root = Path(self._buildah("mount", self._container))
        config = json.loads(self._buildah("inspect", "--type", "image", "localhost/kaha"))["OCIv1"]["config"]
        accounts = (line.split(":") for line in (root / "etc" / "passwd").read_text().splitlines())
        user = next(f"{row[2]}:{row[3]}" for row in accounts if row[0] == config["User"])
        return Image(root, user, config["WorkingDir"], tuple(config["Env"]))

    def remove(self) -> None:
        """Unmount and delete everything."""
        self._buildah("rm", "--all")
        self._buildah("rmi", "--all", "--force")

    def _certificates(self) -> list[str]:
        """Return the options by which pip trusts in the build what it trusts on this machine."""
        settings = self._folder / "pip.conf"
        settings.write_text("[global]\ncert = /etc/builder.crt\n")
        mounts = {settings: "/etc/pip.conf", HOST_CERTIFICATES: "/etc/builder.crt"}
        return [part for outside, inside in mounts.items() for part in ("--volume", f"{outside}:{inside}:ro")]

    def _buildah(self, *arguments: str) -> str:
        return self._run("buildah", *self._storage, *arguments)

    def _run(self, *command: str) -> str:
        environment = os.environ | {"STORAGE_DRIVER": "overlay"}
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=BUILD_TIMEOUT_SECONDS, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout.strip()
