import pytest

from payments.domain.cards import bin_file
from payments.models import BinRange

pytestmark = pytest.mark.django_db

HEADER = "prefix,brand,funding,country,issuing_bank"


def csv(*rows: str) -> list[str]:
    return [f"{line}\n" for line in (HEADER, *rows)]


def test_entries_are_added_changed_and_left_alone() -> None:
    bin_file.store(bin_file.read(csv("4242,visa,credit,US,First Bank", "5555,mastercard,debit,PH,Second Bank")))
    counts = bin_file.store(
        bin_file.read(csv("4242,visa,credit,US,First Bank", "5555,mastercard,prepaid,PH,Third", "3528,jcb,credit,JP,X"))
    )
    assert counts == bin_file.Counts(added=1, changed=1, unchanged=1)
    assert BinRange.objects.get(prefix="5555").issuing_bank == "Third"
    assert BinRange.objects.count() == 3


def test_entries_that_a_file_does_not_name_stay() -> None:
    bin_file.store(bin_file.read(csv("4242,visa,credit,US,First Bank")))
    bin_file.store(bin_file.read(csv("5555,mastercard,debit,PH,Second Bank")))
    assert BinRange.objects.count() == 2


def test_an_import_of_any_size_is_written() -> None:
    rows = [f"{prefix},visa,credit,US,Bank" for prefix in range(400000, 403000)]
    assert bin_file.store(bin_file.read(csv(*rows))).added == 3000


def test_blank_lines_and_unknown_facts_are_fine() -> None:
    [entry] = bin_file.read(csv("", '42424242424,unknown,unknown,unknown,"Bank, First"', ""))
    assert entry.issuing_bank == "Bank, First"


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("424,visa,credit,US,Bank", "prefix must be 4 to 11 digits"),
        ("424242424242,visa,credit,US,Bank", "prefix must be"),
        ("42x2,visa,credit,US,Bank", "prefix must be"),
        ("４２４２,visa,credit,US,Bank", "prefix must be"),
        ("4242,Visa,credit,US,Bank", "brand must be one of visa,"),
        ("4242,visa,charge,US,Bank", "funding must be one of credit,"),
        ("4242,visa,credit,us,Bank", "country must be"),
        ("4242,visa,credit,USA,Bank", "country must be"),
        ("4242,visa,credit,US,", "issuing_bank must be"),
        (f"4242,visa,credit,US,{'x' * 101}", "issuing_bank must be"),
        ("4242,visa,credit,US", "5 columns are needed, here are 4"),
        ("4242,visa,credit,US,Bank,more", "5 columns are needed, here are 6"),
        ("5555,visa,credit,US,Bank", "5555 is there twice"),
        ('4242,visa,credit,US,"Bank', "unexpected end of data"),
    ],
)
def test_a_bad_line_is_refused_by_its_number(row: str, fault: str) -> None:
    with pytest.raises(bin_file.BadLine) as refusal:
        bin_file.read(csv("5555,mastercard,debit,PH,Second Bank", row))
    assert str(refusal.value).startswith("line 3: ")
    assert fault in str(refusal.value)


@pytest.mark.parametrize("lines", [[], ["\n"], ["prefix,brand\n"], ["4242,visa,credit,US,Bank\n"]])
def test_a_file_without_the_header_is_refused(lines: list[str]) -> None:
    with pytest.raises(bin_file.BadLine, match="line 1: the header must be prefix,brand,funding,country,issuing_bank"):
        bin_file.read(lines)
