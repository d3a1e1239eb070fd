"""The files of config/deploy with the addresses and passwords of this run."""

import re
from collections.abc import Mapping
from pathlib import Path

from payments.embedded.folders import PROJECT
from tests.figures.failover.cluster.hosts import Host

FILES = PROJECT / "config" / "deploy"
CLUSTER = FILES / "cluster"


def filled_in(name: str, words: Mapping[str, str], host: Host, title: str = "") -> Path:
    """Write a file of config/deploy for `host`, each of `words` replaced where it stands whole; return its path."""
    words = {word: words[word] for word in sorted(words, key=len, reverse=True)}
    pattern = "|".join(re.escape(word) for word in words)
    text = re.sub(rf"(?<![\w.-])(?:{pattern})(?![\w-]|\.\d)", lambda found: words[found[0]], (FILES / name).read_text())
    path = host.folder / (title or Path(name).name)
    path.write_text(text)
    path.chmod(0o666)
    return path
