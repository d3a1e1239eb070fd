"""A PostgreSQL of Debian with pgBackRest by the file in config/deploy, in a folder of its own."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from payments.embedded.folders import PROJECT

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
CONFIGURATION = PROJECT / "config" / "deploy" / "pgbackrest.conf"
PASSPHRASE = {"PGBACKREST_REPO1_CIPHER_PASS": "only-for-this-test"}
OWNER = "postgres"
IS_INSTALLED = shutil.which("pgbackrest") is not None and (PROGRAMS / "initdb").exists()


class Cluster:
    """The database server of a drill; its programs run as the owner whom Debian's package makes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "main"
        self.configuration = folder / "pgbackrest.conf"
        self.url = f"postgresql://{OWNER}@/{str(folder).replace('/', '%2F')}/kaha"
        shipped = CONFIGURATION.read_text()
        here = shipped.replace("/var/lib/postgresql/15/main", str(self.data))
        here = here.replace("/var/lib/pgbackrest", str(folder / "repository"))
        self.configuration.write_text(f"{here}pg1-socket-path={folder}\n[global:archive-push]\nlock-path={folder}\n")
        if os.geteuid() == 0:
            shutil.chown(folder, OWNER)

    def create(self) -> None:
        """Make the cluster, start it with WAL archiving, and make the stanza and an empty database."""
        self.run([PROGRAMS / "initdb", "-D", self.data, "-U", OWNER, "--auth=trust", "--no-sync"])
        push = f"pgbackrest --config={self.configuration} --lock-path={self.folder} --stanza=kaha archive-push %p"
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "archive_mode": "on",
            "archive_command": push,
            "max_connections": "100",
        }
        lines = [f"{name} = '{value}'\n" for name, value in settings.items()]
        self.run(["tee", "-a", self.data / "postgresql.conf"], "".join(lines))
        self.start()
        self.run([PROGRAMS / "createdb", "-h", self.folder, "-U", OWNER, "kaha"])
        self.back_up("stanza-create")

    def start(self) -> None:
        log = self.folder / "log"
        self.run([PROGRAMS / "pg_ctl", "-D", self.data, "-w", "-t", "120", "-l", log, "start"])

    def stop(self) -> None:
        self.run([PROGRAMS / "pg_ctl", "-D", self.data, "-w", "-m", "fast", "stop"])

    def sql(self, text: str, **variables: str) -> str:
        """Run statements; return what they print."""
        named = [part for name, value in variables.items() for part in ("-v", f"{name}={value}")]
        return self.run(
            [PROGRAMS / "psql", "-h", self.folder, "-U", OWNER, "-XqtA", "-v", "ON_ERROR_STOP=1", *named, "kaha"], text
        )

    def back_up(self, *command: str) -> str:
        """Run a command of pgBackRest."""
        known = [f"--config={self.configuration}", f"--lock-path={self.folder}", "--stanza=kaha"]
        return self.run(["pgbackrest", *known, *command])

    def run(self, command: Sequence[str | Path], text: str = "") -> str:
        """Run a program as the owner; return what it prints."""
        as_owner = ["runuser", "-u", OWNER, "--"] if os.geteuid() == 0 else []
        # Not through pipes: a server that it starts would keep them open.
        with (self.folder / "output").open("w+") as output:
            done = subprocess.run(
                [*as_owner, *command],
                input=text,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                env=os.environ | PASSPHRASE,
                check=False,
                cwd="/",
            )
            output.seek(0)
            printed = output.read()
        assert done.returncode == 0, f"{command[0]}: {printed}"
        return printed.strip()
