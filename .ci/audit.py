"""Asks OSV, an open database of advisories, about every pinned version, and keeps the answer with its date.

Ends with 1 where an advisory speaks of one of them. Where OSV cannot be reached it says so, and looks at the answer
that was kept last: then no version is said to be clean.
"""

import argparse
import json
import subprocess  # nosec B404 # programs of ours, never a shell
import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

CI = Path(__file__).resolve().parent
LOCK = CI / "dev.lock"
KEPT = CI / "audit.json"
OSV = "https://api.osv.dev/v1/query"
PIP_AUDIT = [
    sys.executable,
    "-m",
    "pip_audit",
    "--vulnerability-service=osv",
    "--format=json",
    "--progress-spinner=off",
]
PIP_AUDIT += ["--require-hashes", "--disable-pip", f"--requirement={LOCK}"]
NOT_REACHED = ("requests.exceptions.", "pip_audit._service.")

Answer = dict[str, Any]


def main() -> int:
    options = _options()
    kept: Answer = json.loads(options.keep.read_text()) if options.keep.exists() else {}
    answer = _ask(options.osv_url)
    if answer["reached"] or not kept.get("reached"):
        options.keep.write_text(json.dumps(answer, indent=2) + "\n")
        kept = answer
    print(*_report(answer, kept), sep="\n")
    return 1 if _open_advisories(kept) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--osv-url", default=OSV, help="a mirror of OSV's query interface")
    parser.add_argument("--keep", type=Path, default=KEPT, help="where the answer is kept")
    return parser.parse_args()


def _ask(osv_url: str) -> Answer:
    done = subprocess.run([*PIP_AUDIT, f"--osv-url={osv_url}"], capture_output=True, text=True, check=False)  # nosec B603 # a program of ours, with arguments of ours
    last_line = (done.stderr.splitlines() or [""])[-1]
    if not done.stdout and not last_line.startswith(NOT_REACHED):
        sys.exit(f"pip-audit broke: {last_line}")
    found = json.loads(done.stdout)["dependencies"] if done.stdout else []
    looked_up = [one for one in found if "vulns" in one]
    return {
        "on": datetime.now(UTC).date().isoformat(),
        "service": osv_url,
        "reached": bool(done.stdout),
        "lock": sha256(LOCK.read_bytes()).hexdigest(),
        "looked_up": len(looked_up),
        "advisories": [_advisory(one, found_in_it) for one in looked_up for found_in_it in one["vulns"]],
    }


def _advisory(dependency: dict[str, Any], advisory: dict[str, Any]) -> dict[str, Any]:
    pin = f"{dependency['name']}=={dependency['version']}"
    return {"pin": pin, "id": advisory["id"], "aliases": advisory["aliases"], "fixed_in": advisory["fix_versions"]}


def _open_advisories(kept: Answer) -> list[dict[str, Any]]:
    """Return the advisories against versions that are still pinned."""
    pins = {line.split()[0] for line in LOCK.read_text().splitlines() if "==" in line}
    return [advisory for advisory in kept["advisories"] if advisory["pin"] in pins]


def _report(answer: Answer, kept: Answer) -> list[str]:
    lines = [] if answer["reached"] else [f"{answer['service']} cannot be reached: nothing new is known."]
    if not kept["reached"]:
        return [*lines, "It was never asked, so whether there are advisories is NOT KNOWN. Ask where there is network."]
    lines.append(f"On {kept['on']}, {kept['looked_up']} versions were looked up at {kept['service']}.")
    if kept["lock"] != answer["lock"]:
        lines.append("Other versions are pinned since, of which nothing is known.")
    advisories = [
        f"{one['pin']}: {one['id']}, fixed in {', '.join(one['fixed_in']) or 'no version'}"
        for one in _open_advisories(kept)
    ]
    return [*lines, *(advisories or ["No advisory speaks of them."])]


if __name__ == "__main__":
    sys.exit(main())
