"""Where the embedded servers keep things: the data folder, and what cannot lie in it.

- DATA/settings.env: the secrets, made at first use
- DATA/run: the sockets; a link to a folder with a short path where DATA's is too long for a socket
- DATA/postgres: the database; as root, a link to /var/lib/kaha/… where PostgreSQL's user cannot reach DATA
- DATA/logs, DATA/*.lock
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from config.embedded.accounts import Account, server_account
from config.embedded.errors import EmbeddedError

# sockaddr_un holds 107 bytes, and "/postgres/.s.PGSQL.5432.lock" comes after the folder.
SOCKET_FOLDER_MAX_BYTES = 107 - 28
SYSTEM_FOLDER = Path("/var/lib/kaha")
PROJECT = Path(__file__).resolve().parents[2]


def data_folder() -> Path:
    """The folder named by KAHA_DATA, or `.kaha` beside manage.py."""
    return Path(os.environ.get("KAHA_DATA") or PROJECT / ".kaha").absolute()


@dataclass(frozen=True)
class Places:
    """The folders of one installation; `account` is PostgreSQL's user, None for our own."""

    data: Path
    run: Path
    account: Account | None

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

    def all_folders(self) -> list[Path]:
        """Every folder with something of this installation in it, the data folder first."""
        outside = [place for place in (self.database, self.run) if not place.is_relative_to(self.data)]
        return [self.data, *outside]


def prepare(data: Path) -> Places:
    """Make what is missing of the data folder, changing nothing that is there; cheap when nothing is missing.

    Raises EmbeddedError where a permission is missing.
    """
    try:
        return _prepare(data)
    except OSError as error:
        raise EmbeddedError(f"the data folder {data} cannot be used: {error}") from error


def make_database_folder(places: Places) -> None:
    """Make the folder that PostgreSQL's user owns, at the first place that this user can reach."""
    if places.database_link.exists():
        return
    if places.account is None:
        places.database_link.mkdir(mode=0o700)
    elif places.account.can_enter(places.data):
        _owned_folder(places.database_link, places.account)
    else:
        SYSTEM_FOLDER.mkdir(mode=0o755, exist_ok=True)
        elsewhere = Path(tempfile.mkdtemp(prefix="data-", dir=SYSTEM_FOLDER))
        places.account.own(elsewhere)
        _link(places.database_link, elsewhere)


def _prepare(data: Path) -> Places:
    account = server_account(data / "postgres")
    if not data.exists():
        data.parent.mkdir(parents=True, exist_ok=True)
        data.mkdir(mode=0o711 if account else 0o700, exist_ok=True)
    (data / "logs").mkdir(mode=0o700, exist_ok=True)
    return Places(data, _socket_folder(data.resolve(), account), account)


def _socket_folder(data: Path, account: Account | None) -> Path:
    """DATA/run, or what it links to (made again where a reboot has emptied /tmp)."""
    run = data / "run"
    if not run.exists():
        if len(os.fsencode(run)) <= SOCKET_FOLDER_MAX_BYTES and (account is None or account.can_enter(data)):
            run.mkdir(mode=0o711 if account else 0o700, exist_ok=True)
        else:
            _link(run, _short_folder(account))
    postgres = run.resolve() / "postgres"
    if not postgres.exists():
        _owned_folder(postgres, account)
    return run.resolve()


def _short_folder(account: Account | None) -> Path:
    for parent in (tempfile.gettempdir(), "/tmp"):  # noqa: S108
        short = len(os.fsencode(parent)) + len("/kaha-12345678") <= SOCKET_FOLDER_MAX_BYTES
        if short and (account is None or account.can_enter(Path(parent))):
            folder = Path(tempfile.mkdtemp(prefix="kaha-", dir=parent))
            folder.chmod(0o711 if account else 0o700)
            return folder
    raise EmbeddedError("no temporary folder has a path short enough for a socket: set TMPDIR to one.")


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
