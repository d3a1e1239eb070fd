"""Where the embedded servers keep things, and the user that PostgreSQL runs as.

- DATA/settings.env: the secrets, made at first use
- DATA/run: the sockets; a link to a folder with a short path where DATA's is too long for a socket
- DATA/postgres: the database; as root, a link to /var/lib/kaha/… where PostgreSQL's user cannot reach DATA
- DATA/logs, DATA/*.lock
"""

import base64
import os
import pwd
import secrets
import shutil
import subprocess  # nosec B404 # programs of ours, never a shell
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from payments.embedded.processes import EmbeddedError

# sockaddr_un holds 107 bytes, and "/postgres/.s.PGSQL.5432.lock" comes after the folder.
SOCKET_FOLDER_MAX_BYTES = 107 - 28
SYSTEM_FOLDER = Path("/var/lib/kaha")
PROJECT = Path(__file__).resolve().parents[2]


def data_folder() -> Path:
    """Return the folder named by KAHA_DATA, or `.kaha` beside manage.py."""
    return Path(os.environ.get("KAHA_DATA") or PROJECT / ".kaha").absolute()


@dataclass(frozen=True)
class Folders:
    """The folders of one installation; `account` is the user and group of PostgreSQL, None for our own."""

    data: Path
    account: tuple[int, int] | None

    @property
    def run(self) -> Path:
        return (self.data / "run").resolve()

    @property
    def database(self) -> Path:
        return (self.data / "postgres").resolve()

    @property
    def cluster(self) -> Path:
        return self.database / "cluster"

    @property
    def database_socket(self) -> Path:
        return self.run / "postgres"

    @property
    def redis_socket(self) -> Path:
        return self.run / "redis.sock"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def described(self) -> dict[Path, str]:
        """Return every folder of this installation, the data folder first, with what is in it."""
        parts = {
            self.database: "the database, where PostgreSQL's own user reaches it",
            self.run: "sockets, as long as it runs",
        }
        outside = {folder: what for folder, what in parts.items() if not folder.is_relative_to(self.data)}
        return {self.data: "all the rest" if outside else "everything", **outside}

    @property
    def popen_options(self) -> dict[str, Any]:
        """The arguments of `subprocess.Popen` that run a program as PostgreSQL's user, in none of our groups."""
        if self.account is None:
            return {}
        return {"user": self.account[0], "group": self.account[1], "extra_groups": [], "cwd": "/"}

    def reaches(self, path: Path) -> bool:
        """Return whether PostgreSQL's user really gets through every folder above `path` and into it."""
        if self.account is None:
            return True
        test = ["/usr/bin/test", "-x", str(path)]
        try:
            return subprocess.run(test, check=False, **self.popen_options).returncode == 0  # nosec B603 # a program of ours, with arguments of ours
        except (OSError, subprocess.SubprocessError) as error:
            raise EmbeddedError(
                f"PostgreSQL does not run as root, and this root may not become user {self.account[0]}: {error}."
            ) from error

    def give(self, path: Path) -> None:
        """Make PostgreSQL's user the owner of a file or folder that we have just made."""
        if self.account:
            os.chown(path, *self.account)


def prepare(data: Path) -> Folders:
    """Make the data folder if it is missing, changing nothing that is there.

    Raises EmbeddedError where a permission is missing.
    """
    with _permissions(data):
        account = _account(data / "postgres")
        if not data.exists():
            data.parent.mkdir(parents=True, exist_ok=True)
            _make_folder(data, _passable(account))
        return Folders(data.resolve(), account)


def secrets_of(data: Path) -> dict[str, str]:
    """Return SECRET_KEY, POSTGRES_PASSWORD and the keys that the vault uses from DATA/settings.env, made at first use.

    The file is written under another name and linked: of two processes one wins, and none reads half of it. Raises
    EmbeddedError where it cannot be read or written.
    """
    file = data / "settings.env"
    try:
        if not file.exists():
            keys = [base64.b64encode(secrets.token_bytes(32)).decode() for _ in range(3)]
            fresh = {
                "SECRET_KEY": secrets.token_urlsafe(48),
                "VAULT_KEYS": f"k1:{keys[0]}",
                "FINGERPRINT_KEY": keys[1],
                "TRANSPARENCY_KEYS": f"t1:{keys[2]}",
                "POSTGRES_PASSWORD": secrets.token_urlsafe(24),
            }
            with tempfile.NamedTemporaryFile("w", dir=data) as new:
                new.write("".join(f"{name}={value}\n" for name, value in fresh.items()))
                new.flush()
                os.fsync(new.fileno())
                with suppress(FileExistsError):
                    os.link(new.name, file)
        return dict(line.split("=", 1) for line in file.read_text().splitlines())
    except OSError as error:
        raise EmbeddedError(f"{file} cannot be used: {error.strerror}") from error


def make_running_folders(folders: Folders) -> None:
    """Make the folders of logs and sockets, before a server starts. Raises EmbeddedError."""
    run = folders.data / "run"
    with _permissions(folders.data):
        _make_folder(folders.logs, 0o700)
        # A link may point into /tmp, which a reboot empties and where another user may then have made the folder.
        if not run.exists() or (run.is_symlink() and run.stat().st_uid != os.geteuid()):
            if len(os.fsencode(run)) <= SOCKET_FOLDER_MAX_BYTES and folders.reaches(folders.data):
                _make_folder(run, _passable(folders.account))
            else:
                _link(run, _short_folder(folders))
        if not folders.database_socket.exists():
            _make_owned_folder(folders.database_socket, folders)


def drop_temporary_folder(folders: Folders) -> None:
    """Remove the folder of the sockets where it is among the temporary ones, once no server runs any more."""
    run = folders.data / "run"
    if run.is_symlink():
        shutil.rmtree(folders.run, ignore_errors=True)
        run.unlink()


def make_database_folder(folders: Folders) -> None:
    """Make the folder that PostgreSQL's user owns, at the first place that this user can reach.

    Raises EmbeddedError.
    """
    folder = folders.data / "postgres"
    if folder.exists():
        return
    with _permissions(folders.data):
        if folders.reaches(folders.data):
            _make_owned_folder(folder, folders)
        else:
            elsewhere = make_system_folder("data-")
            folders.give(elsewhere)
            _link(folder, elsewhere)


def make_system_folder(prefix: str) -> Path:
    """Make a folder of ours that PostgreSQL's user can be given, where we are root."""
    _make_folder(SYSTEM_FOLDER, 0o755)
    return Path(tempfile.mkdtemp(prefix=prefix, dir=SYSTEM_FOLDER))


@contextmanager
def _permissions(data: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EmbeddedError(f"the data folder {data} cannot be used: {error}") from error


def _account(database: Path) -> tuple[int, int] | None:
    """Return the user for PostgreSQL: ourselves unless we are root, then the owner of an existing database."""
    if os.geteuid() != 0:
        return None
    if database.exists():
        status = database.stat()
        return status.st_uid, status.st_gid
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    raise EmbeddedError("PostgreSQL does not run as root, and there is no user `nobody` to run it as.")


def _passable(account: tuple[int, int] | None) -> int:
    """Return the mode of a folder of ours that PostgreSQL's user, if it is another, must get through."""
    return 0o711 if account else 0o700


def _short_folder(folders: Folders) -> Path:
    for parent in (tempfile.gettempdir(), "/tmp"):  # nosec B108 # a short path beside the usual one
        is_short = len(os.fsencode(parent)) + len("/kaha-12345678") <= SOCKET_FOLDER_MAX_BYTES
        if is_short and folders.reaches(Path(parent)):
            folder = Path(tempfile.mkdtemp(prefix="kaha-", dir=parent))
            folder.chmod(_passable(folders.account))
            return folder
    raise EmbeddedError("no temporary folder has a path short enough for a socket: set TMPDIR to one.")


def _make_folder(folder: Path, mode: int) -> None:
    """Make a folder with exactly this mode, whatever the umask; an existing one keeps its own."""
    with suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(mode)


def _make_owned_folder(folder: Path, folders: Folders) -> None:
    """Make a folder that only PostgreSQL's user may enter; it is renamed when whole."""
    new = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    folders.give(new)
    new.rename(folder)


def _link(link: Path, target: Path) -> None:
    """Point `link` at `target` in one step, also where it pointed at something that has gone."""
    new = link.with_name(f"{link.name}-{os.getpid()}")
    new.symlink_to(target)
    new.rename(link)
