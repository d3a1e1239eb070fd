"""Freezes the files that a release promises to keep as they are: `.ci/freeze.py [--again | --check]`.

`.ci/frozen.json` has their SHA-256 by path. A release adds the migrations that are not there yet. `--again` takes all
files as they are now, which only a release may do that is not out. `--check` names what differs, and ends with 1.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FROZEN = ".ci/frozen.json"
INSTEAD = {
    True: "A database may have run it: leave it as it was released, and add a migration.",
    False: "Somebody may have loaded it: leave it as it was released, and give the next one an address of its own.",
}


def frozen(root: Path) -> dict[str, str]:
    """Return the hashes of what is frozen, by path."""
    file = root / FROZEN
    return dict(json.loads(file.read_text())) if file.exists() else {}


def migrations(root: Path) -> list[str]:
    """Return the paths of all files of migrations: modules and SQL."""
    folders = [folder for room in ("payments", "customers") for folder in (root / room).rglob("migrations")]
    files = (file for folder in folders for file in folder.rglob("*") if file.suffix in (".py", ".sql"))
    return sorted(file.relative_to(root).as_posix() for file in files)


def hashes(root: Path, paths: list[str]) -> dict[str, str]:
    """Return the hashes of files by path; those that are missing are left out."""
    return {path: sha256((root / path).read_bytes()).hexdigest() for path in paths if (root / path).is_file()}


def faults(root: Path, kept: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each file that is not as it was frozen."""
    present = hashes(root, list(kept))
    for path, digest in kept.items():
        if present.get(path) != digest:
            what = "was changed" if path in present else "is missing"
            yield f"{path} is frozen and {what}. {INSTEAD['/migrations/' in path]}"


def main(root: Path, option: str = "") -> int:
    """Freeze, or check; return the exit status."""
    kept = frozen(root)
    if option == "--check":
        found = list(faults(root, kept))
        print("\n".join(found))
        return int(bool(found))
    present = hashes(root, sorted({*kept, *migrations(root)}))
    made = present if option == "--again" else present | kept
    (root / FROZEN).write_text(json.dumps(dict(sorted(made.items())), indent=1) + "\n")
    print(f"{len(made)} files are frozen, {len(made.keys() - kept.keys())} of them now.")
    return 0


if __name__ == "__main__":
    sys.exit(main(ROOT, *sys.argv[1:2]))
