"""kaha behind a real nginx, behind a real HAProxy, and with nothing before it, each by the file in config/deploy."""

import os
import re
import shutil
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from payments.embedded.folders import PROJECT
from payments.quickstart.ports import HOST, answers
from tests.support.processes import free_port, running
from tests.support.web import web_process

FILES = PROJECT / "config" / "deploy"
CLUSTER = FILES / "cluster"
# The proxy is at 127.0.0.1, so a server that took its address for the client's would be noticed.
CLIENT = "127.0.0.2"
# The hosts of single products, as the files have them.
PRODUCTS = {name: f"{name}.example.com" for name in ("checkout", "links", "requests")}
PRODUCT_SETTINGS = {
    "ALLOWED_HOSTS": ",".join(["localhost", HOST, *PRODUCTS.values()]),
    **{f"{name.upper()}_HOST": host for name, host in PRODUCTS.items()},
}


@dataclass(frozen=True)
class Front:
    """Where clients ask, in clear text too, and what kaha logs."""

    url: str
    clear_url: str
    log: Path
    tls: Path

    def client(self, url: str = "") -> httpx2.Client:
        """Return a client at CLIENT, which is neither the proxy's address nor kaha's."""
        verify = ssl.create_default_context(cafile=str(self.tls / "fullchain.pem"))
        transport = httpx2.HTTPTransport(local_address=CLIENT, verify=verify)
        return httpx2.Client(base_url=url or self.url, transport=transport, timeout=60)


@pytest.fixture(scope="module")
def web_behind_proxies(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: Any
) -> Iterator[tuple[str, Path]]:
    """Yield the address and the log of the web server that all proxies of a module lead to."""
    folder = tmp_path_factory.mktemp("web")
    settings = {"PUBLIC_URL": f"https://{HOST}", "HTTPS": "true", "TRUSTED_PROXIES": "1"}
    with django_db_blocker.unblock(), _web(folder, **settings) as url:
        yield url, folder / "web.log"


@pytest.fixture(scope="module", params=["nginx", "haproxy", "direct"])
def front(
    request: Any, tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: Any
) -> Iterator[Front]:
    kind, folder = request.param, tmp_path_factory.mktemp(request.param)
    tls = folder / "tls"
    make_certificate(tls)
    if kind == "direct":
        with django_db_blocker.unblock(), _web(folder) as url:
            yield Front(url, url, folder / "web.log", tls)
        return
    program = proxy_program(kind)
    web, log = request.getfixturevalue("web_behind_proxies")
    https, http = free_port(), free_port()
    with running_proxy(kind, program, folder, https, http, web):
        yield Front(f"https://{HOST}:{https}", f"http://{HOST}:{http}", log, tls)


@contextmanager
def _web(folder: Path, **settings: str) -> Iterator[str]:
    settings = {"RATE_LIMIT_ANONYMOUS": "100000/day", **PRODUCT_SETTINGS, **settings}
    with web_process(folder, workers=1, **settings) as (url, _):
        yield url


def proxy_program(kind: str) -> str:
    """Return the path of `nginx` or `haproxy`; skip the test where it is not installed."""
    found = shutil.which(kind, path=f"{os.environ['PATH']}:/usr/sbin")
    return found or pytest.skip(f"no {kind} is installed (Debian: {'nginx-light' if kind == 'nginx' else kind})")


@contextmanager
def running_proxy(
    kind: str, program: str, folder: Path, https: int, http: int, web: str, second: str = ""
) -> Iterator[None]:
    """Yield the proxy with its file, but for ports and paths, and a second web server if one is given.

    The lines for names of another service are in force.
    """
    file = folder / f"{kind}.conf"
    name = "nginx.conf" if kind == "nginx" else "haproxy.cfg"
    text = (FILES / name).read_text()
    text = re.sub(r"# ((?:http-request set-header Host )?\w+\.(?:hosted\.)?example)", r"\1", text)
    if second:
        text = re.sub(r"# (server .*)10\.0\.0\.2:8000", rf"\g<1>{second.removeprefix('http://')}", text)
    file.write_text(substituted(text, folder, https, http, web))
    folder.chmod(0o755)
    command = [program, "-c", file, "-g", "daemon off;"] if kind == "nginx" else [program, "-db", "-f", file]
    with running(command, log=folder / "proxy.log", ready=lambda: answers(http), cwd=folder):
        yield


@contextmanager
def proxy_of_cells(folder: Path, first: str, second: str, moved: str = "") -> Iterator[httpx2.Client]:
    """Yield a client of a HAProxy before two cells, by the files of config/deploy; `moved` are lines of its map."""
    make_certificate(folder / "tls")
    folder.chmod(0o755)
    port = free_port()
    # The sample as it stands, but for paths, the port, the user, and TLS to the cells.
    text = (CLUSTER / "haproxy-cells.cfg").read_text().replace("bind :443", f"bind {HOST}:{port}")
    text = text.replace("/etc/kaha/tls/", f"{folder}/tls/").replace("/etc/kaha/", f"{folder}/")
    text = re.sub(r"^    (user|group) haproxy\n", "", text, flags=re.MULTILINE)
    (folder / "haproxy.cfg").write_text(re.sub(r" ssl verify required ca-file \S+", "", text))
    for name, more in (("cells.map", ""), ("moved.map", moved)):
        (folder / name).write_text((CLUSTER / name).read_text() + more)
    verify = ssl.create_default_context(cafile=str(folder / "tls" / "fullchain.pem"))
    command = [proxy_program("haproxy"), "-db", "-f", folder / "haproxy.cfg"]
    environment = os.environ | {"KAHA_FIRST": first, "KAHA_SECOND": second}
    with (
        httpx2.Client(base_url=f"https://{HOST}:{port}", verify=verify, timeout=60) as client,
        running(command, log=folder / "proxy.log", ready=lambda: _passes(client), environment=environment, cwd=folder),
    ):
        yield client


def _passes(client: httpx2.Client) -> bool:
    try:
        # Where a proxy finds no cell, it says 503.
        return client.get("/v2/me").status_code in (200, 401)
    except httpx2.TransportError:
        return False


def substituted(text: str, folder: Path, https: int, http: int, web: str) -> str:
    for path in ("/var/log/nginx", "/var/lib/nginx", "/run"):
        (folder / "files").mkdir(exist_ok=True)
        text = text.replace(f"{path}/", f"{folder}/files/")
    text = text.replace("/etc/kaha/tls/", f"{folder}/tls/").replace("127.0.0.1:8000", web.removeprefix("http://"))
    text = re.sub(r"(listen|bind) :?443", lambda found: f"{found[1]} {HOST}:{https}", text)
    text = re.sub(r"(listen|bind) :?80\b", lambda found: f"{found[1]} {HOST}:{http}", text)
    if os.geteuid():
        text = re.sub(r"(?m)^ *(user|group) .*$", "", text)
    return text


def make_certificate(folder: Path, name: str = "", days: int = 1) -> None:
    """Write a certificate for this machine, or for the host `name`, its key, and both in one file."""
    folder.mkdir()
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name or HOST)])
    host = x509.DNSName(name) if name else x509.IPAddress(ip_address(HOST))
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for file, content in {
        "fullchain.pem": certificate,
        "privkey.pem": private,
        "kaha.pem": certificate + private,
    }.items():
        (folder / file).write_bytes(content)
