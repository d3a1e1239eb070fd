from pathlib import Path

import pytest
from django.core.management import CommandError

from payments.domain.cards.bin_table import PREFIX_LENGTHS, describe, known_entries
from payments.models import BinRange
from tests.commands.conftest import Manage

HEADER = "prefix,brand,funding,country,issuing_bank"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "bins.csv"


def test_what_was_imported_describes_the_next_card(manage: Manage, file: Path) -> None:
    file.write_text(f"{HEADER}\r\n42424242,visa,debit,PH,Bánco de Oro\r\n", encoding="utf-8-sig")
    assert manage("import_bins", file) == "1 added, 0 changed, 0 unchanged.\n"
    assert describe("4242424242424242").issuing_bank == "Bánco de Oro"


@pytest.mark.django_db
def test_the_longest_entry_that_a_number_begins_with_describes_it() -> None:
    number, other = "4242424242424242", "4242424249999999"
    for length in PREFIX_LENGTHS:
        BinRange.objects.create(prefix=number[:length], brand="visa", issuing_bank=f"{length} digits")
        known_entries.cache.clear()
        assert describe(number).issuing_bank == f"{length} digits"
    assert describe(other).issuing_bank == "9 digits"


def test_the_same_file_again_changes_nothing(manage: Manage, file: Path) -> None:
    file.write_text(f"{HEADER}\n42424242,visa,debit,PH,Bank\n")
    manage("import_bins", file)
    assert manage("import_bins", file) == "0 added, 0 changed, 1 unchanged.\n"


def test_one_bad_line_keeps_the_whole_file_out(manage: Manage, file: Path) -> None:
    file.write_text(f"{HEADER}\n42424242,visa,debit,PH,Bank\n5555,diners,credit,US,Bank\n")
    with pytest.raises(CommandError, match=r"bins\.csv, line 3: brand must be one of"):
        manage("import_bins", file)
    assert not BinRange.objects.exists()


def test_a_file_that_is_not_there_is_one_clear_line(manage: Manage, file: Path) -> None:
    with pytest.raises(CommandError, match=r"bins\.csv cannot be read: No such file"):
        manage("import_bins", file)


def test_a_file_in_another_encoding_is_refused(manage: Manage, file: Path) -> None:
    file.write_bytes(f"{HEADER}\n42424242,visa,debit,PH,Bánco\n".encode("latin-1"))
    with pytest.raises(CommandError, match=r"bins\.csv cannot be read: it is not UTF-8"):
        manage("import_bins", file)
