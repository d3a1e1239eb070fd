import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from payments.domain.merchants.merchants import NewMerchant
from payments.ids import new_id
from tests.moving.files import Brought

Import = Callable[..., Brought]


@pytest.fixture
def bring(shop: NewMerchant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Return a function that imports a file for the shop, and returns the result by line and what was said."""
    # It would hold for all later tests of this process.
    monkeypatch.setattr("payments.management.commands.import_customers.leave_no_core_dump", lambda: None)

    def run(content: bytes | str, *options: str) -> Brought:
        file, output, said = tmp_path / new_id().hex, io.StringIO(), io.StringIO()
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        try:
            call_command(
                "import_customers", str(file), "--merchant", shop.merchant.title, *options, stdout=output, stderr=said
            )
        except CommandError as fault:
            said.write(f"{fault}")
        return Brought(output.getvalue(), said.getvalue())

    return run
