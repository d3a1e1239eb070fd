"""Where the embedded servers keep things: the data folder, and what cannot lie in it.

- DATA/settings.env: the secrets, made at first use
- DATA/run: the sockets; a link to a folder with a short path where DATA's is too long for a socket
- DATA/postgres: the database; as root, a link to /var/lib/kaha/… where PostgreSQL's user cannot reach DATA
- DATA/logs, DATA/*.lock
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from payments.quickstart.servers.accounts import Account, server_account
from payments.quickstart.servers.errors import EmbeddedError

# sockaddr_un holds 107 bytes, and "/postgres/.s.PGSQL.5432.lock" comes after the folder.
SOCKET_FOLDER_MAX_BYTES = 107 - 28
SYSTEM_FOLDER = Path("/var/lib/kaha")
PROJECT = Path(__file__).resolve().parents[3]


def data_folder() -> Path:
    """The folder named by KAHA_DATA, or `.kaha` beside manage.py."""
    return Path(os.environ.get("KAHA_DATA") or PROJECT / ".kaha").absolute()


@dataclass(frozen=True)
class Places:
    """The folders of one installation; `account` is PostgreSQL's user, None for our own."""

    data: Path
    account: Account | None

    @property
    def run_link(self) -> Path:
        return self.data / "run"

    @property
    def run(self) -> Path:
        return self.run_link.resolve()

    @property
    def database_link(self) -> Path:
        return self.data / "postgres"

    @property
    def database(self) -> Path:
        return self.database_link.resolve()

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

    def folders(self) -> dict[Path, str]:
        """Every folder with something of this installation in it, the data folder first, and what that is."""
        parts = {
            self.database: "the database, where PostgreSQL's own user reaches it",
            self.run: "sockets, as long as it runs",
        }
        outside = {folder: what for folder, what in parts.items() if not folder.is_relative_to(self.data)}
        return {self.data: "all the rest" if outside else "everything", **outside}


def prepare(data: Path) -> Places:
    """Make the data folder if it is missing, changing nothing that is there.

    Raises EmbeddedError where a permission is missing.
    """
    with _permissions(data):
        account = server_account(data / "postgres")
        if not data.exists():
            data.parent.mkdir(parents=True, exist_ok=True)
            _new_folder(data, _passable(account))
        return Places(data.resolve(), account)


def make_running_folders(places: Places) -> None:
    """Make the folders of logs and sockets, for whoever starts a server. Raises EmbeddedError."""
    with _permissions(places.data):
        _new_folder(places.logs, 0o700)
        if not _is_usable(places.run_link):
            _make_run_folder(places)
        if not places.database_socket.exists():
            _owned_folder(places.database_socket, places.account)


def drop_temporary_folder(places: Places) -> None:
    """Remove the folder of the sockets where it lies among the temporary ones, once no server runs any more."""
    if places.run_link.is_symlink():
        shutil.rmtree(places.run, ignore_errors=True)
        places.run_link.unlink()


def make_database_folder(places: Places) -> None:
    """Make the folder that PostgreSQL's user owns, at the first place that this user can reach.

    Raises EmbeddedError.
    """
    if places.database_link.exists():
        return
    with _permissions(places.data):
        if places.account is None or places.account.can_enter(places.data):
            _owned_folder(places.database_link, places.account)
            return
        make_system_folder()
        elsewhere = Path(tempfile.mkdtemp(prefix="data-", dir=SYSTEM_FOLDER))
        places.account.own(elsewhere)
        _link(places.database_link, elsewhere)


def make_system_folder() -> None:
    """Make the folder for what PostgreSQL's user must reach when we are root."""
    _new_folder(SYSTEM_FOLDER, 0o755)


@contextmanager
def _permissions(data: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EmbeddedError(f"the data folder {data} cannot be used: {error}") from error


def _passable(account: Account | None) -> int:
    """The mode of a folder of ours that PostgreSQL's user, if it is another, must get through."""
    return 0o711 if account else 0o700


def _is_usable(run: Path) -> bool:
    """A link may point into /tmp, which a reboot empties and where anybody may then have made the folder."""
    return run.exists() and (not run.is_symlink() or run.stat().st_uid == os.geteuid())


def _make_run_folder(places: Places) -> None:
    run, account = places.run_link, places.account
    is_short = len(os.fsencode(run)) <= SOCKET_FOLDER_MAX_BYTES
    if is_short and (account is None or account.can_enter(places.data)):
        _new_folder(run, _passable(account))
    else:
        _link(run, _short_folder(account))


def _short_folder(account: Account | None) -> Path:
    for parent in (tempfile.gettempdir(), "/tmp"):  # nosec B108 # a short path beside the usual one
        short = len(os.fsencode(parent)) + len("/kaha-12345678") <= SOCKET_FOLDER_MAX_BYTES
        if short and (account is None or account.can_enter(Path(parent))):
            folder = Path(tempfile.mkdtemp(prefix="kaha-", dir=parent))
            folder.chmod(_passable(account))
            return folder
    raise EmbeddedError("no temporary folder has a path short enough for a socket: set TMPDIR to one.")


def _new_folder(folder: Path, mode: int) -> None:
    """Make a folder with exactly this mode, whatever the umask; one that is there keeps its own."""
    with suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(mode)


def _owned_folder(folder: Path, account: Account | None) -> None:
    """Make a folder that only `account` may enter; nobody ever sees it half made."""
    new = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    if account:
        account.own(new)
    new.rename(folder)


def _link(link: Path, target: Path) -> None:
    """Point `link` at `target`, in one step, also where it pointed at something that has gone."""
    new = link.with_name(f"{link.name}-{os.getpid()}")
    new.symlink_to(target)
    new.rename(link)
