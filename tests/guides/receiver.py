"""The guide's receiver in Python, run as it is shown."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.guides.texts import blocks_of
from tests.support.processes import free_port, listens, running


@contextmanager
def receiver_of_the_guide(folder: Path, secret: str) -> Iterator[int]:
    """Run it in `folder`, where it writes to `output`; yield its port."""
    port = free_port()
    [code] = [block.code for block in blocks_of("templates/guides/webhooks.md") if "# receiver.py" in block.code]
    (folder / "receiver.py").write_text(code)
    environment = os.environ | {"KAHA_WEBHOOK_SECRET": secret, "PORT": str(port)}
    command, files = [sys.executable, "receiver.py"], {"log": folder / "errors", "output": folder / "output"}
    with running(command, **files, ready=lambda: listens(port), environment=environment, cwd=folder):
        yield port
