"""What README and guides name exists, and what must be named is."""

import ast
import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import get_commands, load_command_class

from payments.api.schema.introduction import TEST_CARDS
from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.invariants.registry import INVARIANTS
from tests.figures.__main__ import FIGURES, parser_of_figures
from tests.guides.texts import GUIDES, ROOT, TEXTS, text_of

PATH = re.compile(r"`((?:\.ci|config|customers|payments|templates|tests)/[^`\s]*|[A-Za-z_.]+\.(?:lock|md))`")
README = TEXTS["README.md"]
FIGURE = re.compile(r"python -m tests\.figures ([a-z_]+(?: --[a-z-]+ [^\s`,]+)*)")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# The file that a link leads to.
LINKED = re.compile(r"\]\(([^)#]+)[^)]*\)")
COMMAND = re.compile(r"manage\.py ([a-z_]+)((?:[^`\n|]|\\\n)*)")
WITH_LABELS = (
    *("administration", "back-office", "backups-and-upgrades", "disputes", "keys-and-vault", "ledger", "on-call"),
    *("operations", "payments-in-the-back-office", "reconciliation"),
)
GUARANTEES = text_of("guarantees") + text_of("service-guarantees")
# Holds no code of its own that somebody would look for.
NOT_ON_THE_MAP = {"payments/static", "payments/migrations", "config/management"}


def calls_of_the_environment() -> Iterator[ast.Call]:
    for path in (ROOT / "config").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and re.fullmatch(r"env\.[a-z_]+", ast.unparse(node.func)):
                yield node


def settings_read() -> dict[str, object]:
    """Return the variables that settings read from the environment, with a plain default where there is one."""
    found: dict[str, object] = {}
    for call in calls_of_the_environment():
        name, *defaults = call.args
        default = defaults[0] if defaults else None
        found[ast.literal_eval(name)] = default.value if isinstance(default, ast.Constant) else None
    return found


def setting_rows() -> dict[str, list[str]]:
    """Return the rows of the configuration guide by variable."""
    rows = [line.strip("| ").split(" | ") for line in text_of("configuration").splitlines() if line.startswith("| `")]
    return {cells[0].strip("`"): cells[1:] for cells in rows}


def test_the_configuration_guide_has_every_setting_and_no_other() -> None:
    assert setting_rows().keys() == settings_read().keys()
    assert len(setting_rows()) > 30


def test_the_configuration_guide_has_each_default() -> None:
    defaults = {name: default for name, default in settings_read().items() if default not in (None, "")}
    # Without it the embedded server is used, so the default is never used.
    defaults.pop("DATABASE_URL", None)
    assert len(defaults) > 15
    for name, default in defaults.items():
        shown = str(default).lower() if isinstance(default, bool) else str(default)
        assert f"`{shown}`" in setting_rows()[name][0], name


@pytest.mark.parametrize("name", TEXTS)
def test_each_path_exists(name: str) -> None:
    assert [path for path in PATH.findall(TEXTS[name]) if not (ROOT / path).exists()] == []


def test_each_test_that_shows_a_guarantee_has_tests() -> None:
    named = [path for path in PATH.findall(GUARANTEES) if "/test_" in path]
    assert len(named) > 70
    assert [path for path in named if not re.search(r"^(async )?def test_", (ROOT / path).read_text(), re.M)] == []


@pytest.mark.parametrize("name", TEXTS)
def test_each_command_has_its_name_and_its_options(name: str) -> None:
    for command, rest in COMMAND.findall(TEXTS[name]):
        if command == "help":
            continue
        shown = help_of(command, rest)
        wrong = [option for option in re.findall(r"(?<=\s)--[a-z-]+", rest) if option not in shown]
        assert wrong == [], command


def help_of(command: str, rest: str) -> str:
    """Return the help of `command`, or of the verb of it that `rest` begins with."""
    parser, verb = parser_of(command), next(iter(rest.split()), "")
    verbs = next((action.choices for action in parser._actions if isinstance(action, _SubParsersAction)), {})
    return verbs[verb].format_help() if verbs else parser.format_help()


@cache
def parser_of(command: str) -> ArgumentParser:
    app = get_commands()[command]
    loaded = load_command_class(app, command) if isinstance(app, str) else app
    return loaded.create_parser("manage.py", command)


def test_the_operations_guide_lists_every_command() -> None:
    table = text_of("operations").partition("## Commands")[2]
    cells = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    listed = {name for cell in cells for name in re.findall(r"`([a-z_]+)", cell)}
    ours = {name for name, app in get_commands().items() if str(app).startswith(("config", "payments", "customers"))}
    assert ours - {"quickstart"} - listed == set()
    assert {name for name in listed if "_" in name} <= get_commands().keys()


@pytest.mark.parametrize("name", TEXTS)
def test_each_figure_has_its_name_and_its_options(name: str) -> None:
    for arguments in FIGURE.findall(TEXTS[name]):
        # Ends the process where there is no such name, option or value.
        parser_of_figures().parse_args(shlex.split(arguments))


@pytest.mark.long
@pytest.mark.parametrize("arguments", FIGURE.findall(README.partition("## Evaluate in an hour")[2]))
def test_each_figure_that_is_evaluated_in_an_hour_runs(arguments: str) -> None:
    seed = ["--seed", "1"] if FIGURES[arguments.split()[0]].seeded else []
    command = [sys.executable, "-m", "tests.figures", *shlex.split(arguments), *seed]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def test_each_figure_of_the_guarantees_has_its_name() -> None:
    rows = [line.strip("| ").split(" | ") for line in GUARANTEES.splitlines() if line.startswith("| ")]
    named = {word.strip("`") for cells in rows if len(cells) == 3 for word in cells[2].split(", ") if "`" in word}
    assert len({*named, *FIGURES}) == len(FIGURES)
    assert len(named) > 10


@pytest.mark.parametrize("guide", WITH_LABELS)
def test_each_label_is_on_a_page(guide: str) -> None:
    """In italics stands what a page, button or role is called."""
    labels = re.findall(r"(?<!\*)\*([A-Z][^*\n]+)\*(?!\*)", text_of(guide))
    assert labels
    assert [label for label in labels if label.lower() not in words_of_pages()] == []


@cache
def words_of_pages() -> str:
    folders = ["config/staff", "payments", "customers", "templates/admin"]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    texts = [path.read_text() for path in files if path.suffix in (".py", ".html", ".js")]
    lists = [str(model._meta.verbose_name_plural) for model in apps.get_models()]
    return re.sub(r"\s+", " ", " ".join(texts + lists)).lower()


def test_the_testing_guide_has_real_test_cards() -> None:
    known = {number: outcome for numbers, outcome in TEST_CARDS for number in numbers.split(", ")}
    shown = set(re.findall(r"\b[45]\d{15}\b", "".join(TEXTS.values())))
    assert len(shown) > 5
    assert shown <= known.keys()


def test_the_webhooks_guide_names_the_types_that_a_notify_url_gets() -> None:
    [named] = re.findall(r"^`redirect.notify` gets (.*?)\. ", text_of("webhooks"), re.MULTILINE)
    notified = {name for name in EVENT_TYPES if name.startswith(("charge.", "refund."))}
    assert set(re.findall("`(.*?)`", named)) == notified


def test_no_guide_has_more_than_2500_words_and_readme_no_more_than_130_lines() -> None:
    assert [name for name in GUIDES if len(text_of(name).split()) > 2500] == []
    assert len(README.splitlines()) <= 130


def test_readme_has_three_guides_for_each_reader() -> None:
    rows = re.findall(r"^\| [a-z].+ \| (.+\)) \|$", README.partition("## Guides")[2], re.M)
    assert [len(LINKED.findall(row)) for row in rows] == [3] * 6


def test_each_number_of_readme_is_in_a_guide_that_its_line_or_section_links_to() -> None:
    sections = re.sub(r"^```.*?^```$|`[^`]*`|^\d\.", "", README, flags=re.DOTALL | re.MULTILINE).split("\n## ")
    numbers = [
        (number, LINKED.findall(line) or LINKED.findall(section))
        for section in sections
        for line in section.splitlines()
        for number in NUMBER.findall(LINKED.sub("", line))
    ]
    assert len(numbers) > 20
    assert [number for number, files in numbers if not any(number in numbers_of(file) for file in files)] == []


def numbers_of(file: str) -> list[str]:
    return NUMBER.findall((ROOT / file).read_text()) if (ROOT / file).is_file() else []


def test_the_number_of_invariants_is_said_once_and_is_true() -> None:
    said = {name: re.findall(r"(\d+) invariants", text) for name, text in TEXTS.items()}
    counts = {name: numbers for name, numbers in said.items() if numbers}
    assert counts == {"templates/guides/ledger.md": [str(len(INVARIANTS))]}


def test_the_map_has_every_folder() -> None:
    drawn = map_of_architecture()
    assert [path for path in drawn if not (ROOT / path).is_dir()] == []
    folders = {path.parent for room in ("config", "payments") for path in ROOT.glob(f"{room}/*/__init__.py")}
    there = {folder.relative_to(ROOT).as_posix() for folder in folders}
    assert len(there) > 15
    assert there - set(drawn) - NOT_ON_THE_MAP == set()


def map_of_architecture() -> list[str]:
    """Return the folders that the map draws, by indentation."""
    found: list[tuple[int, Path]] = []
    drawn = text_of("architecture").partition("## Map\n")[2].partition("```text\n")[2].partition("```")[0]
    for line in drawn.splitlines():
        name = line.split()[0].rstrip("/")
        depth = len(line) - len(line.lstrip())
        parent = next((path for indent, path in reversed(found) if indent < depth), Path())
        found.append((depth, parent / name))
    return [path.as_posix() for _, path in found]


def test_the_glossary_is_in_order() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", text_of("glossary"), re.M)
    assert len(words) >= 40
    assert words == sorted(words, key=str.casefold)


def test_no_two_commands_of_readme_and_guides_have_one_idempotency_key() -> None:
    found = [key for text in TEXTS.values() for key in re.findall(r"'Idempotency-Key: ([^']+)'", text)]
    assert len(found) == len(set(found)) >= 4, found
