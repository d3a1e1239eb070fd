"""Whether an advisory speaks of a pinned version, asked of a service as OSV is one."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.http_server import NOBODY, Answered, Asked, answering

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
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


@pytest.fixture
def osv() -> Iterator[SimpleNamespace]:
    """Yield a service at `url` with one advisory, against the version `spoken_of`."""
    service = SimpleNamespace(spoken_of="")

    def look_up(asked: Asked) -> Answered:
        package = json.loads(asked.body)
        pin = f"{package['package']['name']}=={package['version']}"
        return Answered(200, {"vulns": [ADVISORY]} if pin == service.spoken_of else {})

    with answering(look_up) as server:
        service.url = f"{server.address}/v1/query"
        yield service


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
    done = audit(f"{NOBODY}/v1/query", kept)
    assert (done.returncode, "NOT KNOWN" in done.stdout) == (0, True)
    assert answer_in(kept)["looked_up"] == 0


def test_without_network_an_earlier_answer_stands(osv: Any, kept: Path) -> None:
    osv.spoken_of = DJANGO
    audit(osv.url, kept)
    before = kept.read_text()
    done = audit(f"{NOBODY}/v1/query", kept)
    assert (done.returncode, "nothing new is known" in done.stdout, kept.read_text()) == (1, True, before)


def test_an_earlier_answer_about_other_versions_is_not_taken_for_one_about_these(osv: Any, kept: Path) -> None:
    osv.spoken_of = DJANGO
    audit(osv.url, kept)
    answer = answer_in(kept)
    answer["lock"], answer["advisories"][0]["pin"] = "another", "django==1.0"
    kept.write_text(json.dumps(answer))
    done = audit(f"{NOBODY}/v1/query", kept)
    assert (done.returncode, "Other versions are pinned since" in done.stdout) == (0, True)
