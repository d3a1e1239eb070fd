"""Whether an advisory speaks of a pinned version, asked of a service as OSV is one."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOBODY = "http://127.0.0.1:1/v1/query"
LOCK = (ROOT / ".ci" / "dev.lock").read_text()
[DJANGO] = [line.split()[0] for line in LOCK.splitlines() if line.startswith("django==")]
ADVISORY = {
    "id": "EXAMPLE-2026-1",
    "aliases": ["CVE-2026-0001"],
    "summary": "An example.",
    "affected": [
        {
            "package": {"name": "django", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.1"}]}],
        }
    ],
}


class Osv(BaseHTTPRequestHandler):
    """A service with one advisory, against the version `spoken_of`."""

    spoken_of = ""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        pin = f"{asked['package']['name']}=={asked['version']}"
        body = json.dumps({"vulns": [ADVISORY]} if pin == self.spoken_of else {}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def osv() -> Iterator[type[Osv]]:
    """Yield a service of our own; `url` is where it is."""

    class Asked(Osv):
        url: str

    with ThreadingHTTPServer(("127.0.0.1", 0), Asked) as server:
        Asked.url = f"http://127.0.0.1:{server.server_port}/v1/query"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Asked
        server.shutdown()


def audit(url: str, kept: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, ROOT / ".ci" / "audit.py", "--osv-url", url, "--keep", kept]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def answer_in(kept: Path) -> dict[str, Any]:
    return json.loads(kept.read_text())


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "audit.json"


def test_an_advisory_against_a_pinned_version_fails(osv: Any, kept: Path) -> None:
    osv.spoken_of = DJANGO
    done = audit(osv.url, kept)
    assert (done.returncode, f"{DJANGO}: CVE-2026-0001, fixed in 99.1" in done.stdout) == (1, True)
    assert [advisory["pin"] for advisory in answer_in(kept)["advisories"]] == [DJANGO]


def test_where_there_is_none_the_answer_is_kept_with_its_date(osv: Any, kept: Path) -> None:
    done = audit(osv.url, kept)
    answer = answer_in(kept)
    assert (done.returncode, answer["reached"], answer["advisories"]) == (0, True, [])
    assert f"On {answer['on']}, {answer['looked_up']} versions were looked up" in done.stdout


def test_without_network_nothing_is_said_to_be_clean(kept: Path) -> None:
    done = audit(NOBODY, kept)
    assert (done.returncode, "NOT KNOWN" in done.stdout) == (0, True)
    assert answer_in(kept)["looked_up"] == 0


def test_without_network_an_earlier_answer_stands(osv: Any, kept: Path) -> None:
    osv.spoken_of = DJANGO
    audit(osv.url, kept)
    before = kept.read_text()
    done = audit(NOBODY, kept)
    assert (done.returncode, "nothing new is known" in done.stdout, kept.read_text()) == (1, True, before)


def test_an_earlier_answer_about_other_versions_is_not_taken_for_one_about_these(osv: Any, kept: Path) -> None:
    osv.spoken_of = DJANGO
    audit(osv.url, kept)
    answer = answer_in(kept)
    answer["lock"], answer["advisories"][0]["pin"] = "another", "django==1.0"
    kept.write_text(json.dumps(answer))
    done = audit(NOBODY, kept)
    assert (done.returncode, "Other versions are pinned since" in done.stdout) == (0, True)
