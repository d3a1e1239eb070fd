"""A newcomer who takes each step of the guide in its order, and what stands in for what this machine lacks."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.deploy.conftest import make_certificate
from tests.deploy.two_hosts.guide import Commands, Deed, filled_in, steps
from tests.deploy.two_hosts.hosts import CHECKOUT, Client, Host, make_roots
from tests.deploy.two_hosts.network import SERVICE_IN_PUBLIC, network
from tests.deploy.two_hosts.office import HOST, PASSWORD, Operator
from tests.deploy.two_hosts.units import Systemd
from tests.figures.failover.cluster.namespaces import call_in
from tests.providers.xendit.bench import TOKEN_HEADER
from tests.providers.xendit.books import OPEN
from tests.providers.xendit.fake import FakeXendit

# The lines that are not run as they stand, by how they begin, with the method of Walk that does the same, and why.
# Beside them: the certificate is the test's own, the names are in /etc/hosts, and XENDIT_URL leads to a fake.
SUBSTITUTES: dict[str, tuple[str, str]] = {
    "apt-get install": ("install", "by this machine's own network; what Debian's scripts would start is started after"),
    "apt-get update": ("fetch", "by this machine's own network"),
    "/opt/kaha/venv/bin/pip": ("fetch", "by this machine's own network"),
    "scp": ("copy", "no SSH server runs on the database host"),
    "systemctl": ("systemctl", "systemd is not process 1 here; `systemd-analyze verify` reads the units in test_units"),
    "kaha-manage createsuperuser": ("type", "its questions are answered on a terminal"),
    "kaha-manage check_provider": ("type", "its questions are answered on a terminal"),
}
STARTED_BY_PACKAGE = {"postgresql-15": "postgresql", "redis-server": "redis-server"}
SECRET_KEY, CALLBACK_TOKEN = "xnd_production_of_the_walk", "token-of-the-walk"


class Walk:
    """The hosts, and all that was shown on them."""

    def __init__(self, places: dict[str, Client], certificate: Path, provider: FakeXendit) -> None:
        self.places = places
        self.provider = provider
        self.shown = ""
        self.outputs: list[tuple[Commands, str]] = []
        self.substituted: set[str] = set()
        self.systemd = {place: Systemd(host) for place, host in places.items() if isinstance(host, Host)}
        self.ana, self.ben = (Operator(places["client"].namespace, certificate) for _ in range(2))
        self._place = ""
        self._deeds: dict[str, Callable[[], None]] = {
            "Sign in": lambda: self.ana.sign_in("ana"),
            "Invite a second administrator": self._invite,
            "Connect the provider": self._connect,
            "Choose live mode": self.ana.choose_live_mode,
            "Add a route": self._add_route,
            "Send webhooks here": self._note_address,
            "Pay": self._pay,
        }

    def take(self, step: Commands | Deed) -> None:
        """Take a step of the guide. Raises AssertionError where it does not end well, KeyError for an unknown deed."""
        if isinstance(step, Deed):
            self._deeds[step.title]()
            return
        self._place, output = step.place, ""
        for piece in pieces(filled_in(step.code, self.shown)):
            start = next((start for start in SUBSTITUTES if piece.startswith(start)), None)
            self.substituted |= {start} if start else set()
            output += getattr(self, SUBSTITUTES[start][0])(piece) if start else self._here.run(piece)
        self.outputs.append((step, output))
        self.shown += output

    def fetch(self, line: str) -> str:
        """Run a line that gets packages."""
        return self._here.run(line, packages=True)

    def install(self, line: str) -> str:
        """Run a line that installs packages, and start the services that they bring."""
        output = self.fetch(line)
        for package, unit in STARTED_BY_PACKAGE.items():
            if package in line:
                self.systemctl(f"systemctl start {unit}")
        return output

    def copy(self, line: str) -> str:
        """Copy a folder from the database host, as `scp -rp` does."""
        _, _, source, target = line.split()
        owner, _, path = source.partition(":")
        assert owner == "root@db.internal"
        database, here = self.places["database"], self._here
        assert isinstance(database, Host)
        assert isinstance(here, Host)
        copied = database.root / path.lstrip("/")
        shutil.copytree(copied, here.root / target.strip("/") / copied.name)
        return ""

    def systemctl(self, line: str) -> str:
        self.systemd[self._place].systemctl(line)
        return ""

    def type(self, line: str) -> str:
        """Run a line that asks something, and answer it."""
        account = re.findall(r"pac_\w+", line)
        answers = {r"Username.*: ": "ana", r"Email address: ": "ana@example.com", r"Password.*: ": PASSWORD}
        # The account's ID, and nothing where somebody could pay.
        return self._here.type(line, {**answers, r"continue: ": "".join(account), r"> ": ""})

    @property
    def _here(self) -> Client:
        return self.places[self._place]

    def _invite(self) -> None:
        self.ben.accept(self.ana.invite("ben", ["administrator", "all merchants"]))
        # Nobody waits a day here.
        self.places["service"].run("kaha-manage end_wait ben")

    def _connect(self) -> None:
        credentials = {"secret_key": SECRET_KEY, "callback_token": CALLBACK_TOKEN}
        self.ana.connect("xendit", "Sari Store", credentials)
        self.ben.approve()

    def _add_route(self) -> None:
        self.ana.add_route("gcash")
        self.ben.approve()

    def _note_address(self) -> None:
        self.shown += self.ana.open_account()

    def _pay(self) -> None:
        """Pay at the provider, which sends its webhook to the address that it was given."""
        [payment] = [each for each in self.provider.books.requests.values() if each.status == OPEN]
        self.provider.books.approve(payment)
        address = re.findall(rf"https://{HOST}(/providers/pac_\w+/webhooks)", self.shown)[-1]
        [body] = self.provider.webhooks()
        assert self.ana.send(address, {TOKEN_HEADER: CALLBACK_TOKEN}, body) == 200


def pieces(code: str) -> Iterator[str]:
    """Yield each line that is not run as it stands, and what is between such lines."""
    between = ""
    for line in code.splitlines(keepends=True):
        if line.startswith(tuple(SUBSTITUTES)):
            if between:
                yield between
            yield line.strip()
            between = ""
        else:
            between += line
    if between:
        yield between


@contextmanager
def walked(folder: Path, debian: Path) -> Iterator[Walk]:
    """Yield the walk on roots of the tar `debian` when every step was taken; stop everything at the end."""
    make_certificate(folder / "tls", HOST, days=90)
    certificate = folder / "tls" / "fullchain.pem"
    database, service = folder / "database", folder / "service"
    make_roots(debian, database, service)
    with ExitStack() as opened:
        names = opened.enter_context(network())
        provider = call_in(names["service"], lambda: FakeXendit(SECRET_KEY))
        opened.enter_context(provider.serving())
        _prepare(service, folder, provider.address)
        places = {
            "database": Host(names["database"], database, certificate),
            "service": Host(names["service"], service, certificate),
            "client": Client(names["client"], folder, certificate),
        }
        walk = Walk(places, certificate, provider)
        for systemd in walk.systemd.values():
            opened.callback(systemd.end)
        hosts = Path("/etc/netns") / names["client"] / "hosts"
        hosts.parent.mkdir(parents=True)
        opened.callback(hosts.parent.rmdir)
        opened.callback(hosts.unlink)
        hosts.write_text(f"{SERVICE_IN_PUBLIC} {HOST}\n")
        for step in steps():
            walk.take(step)
        yield walk


def _prepare(service: Path, folder: Path, provider_address: str) -> None:
    """Put onto the service host what the guide says that is there, and lead it to the provider's fake."""
    for name in ("fullchain.pem", "privkey.pem"):
        (service / "root" / name).write_bytes((folder / "tls" / name).read_bytes())
    with (service / "etc" / "hosts").open("a") as hosts:
        hosts.write(f"{SERVICE_IN_PUBLIC} {HOST}\n")
    with (service / CHECKOUT / "config" / "deploy" / "kaha.env").open("a") as settings:
        settings.write(f"XENDIT_URL={provider_address}\n")
