"""Rules about the repository's structure."""

import ast
import json
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

import pytest
from django.contrib import admin

from payments.merchant_site.site import merchant_site
from payments.providers.abilities import FindsDisputes, PaysOut, TakesResponses
from payments.providers.base import Provider

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("assistants", "observability", "vault")
LOCKS = ("requirements.lock", *(f"requirements-{name}.lock" for name in EXTRAS), ".ci/dev.lock")
TOP_LEVEL = {
    "manage.py",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE",
    *LOCKS,
    "config",
    "payments",
    "customers",
    "templates",
    "tests",
}
PRODUCT = [path for room in ("config", "payments", "customers") for path in sorted((ROOT / room).rglob("*.py"))]
# Django's HTTP, which a contract cannot forbid: it knows outside packages as a whole only.
DJANGO_HTTP = re.compile(r"django\.(http|shortcuts|views|urls)\b")
BELOW_THE_API = (
    *(
        f"payments/{room}"
        for room in ("models", "vault", "ledger", "invariants", "overview", "inbox", "rendering", "domain")
    ),
    "customers/domain",
)
# What makes two texts one: each place has a reason why nobody gets a right by it. People's addresses have `folded`.
FOLDS = {"lower", "upper", "casefold", "Lower", "Upper"}
FOLDING_LOOKUP = re.compile(r"(^|__)(iexact|icontains|istartswith|iendswith|iregex)$")
FOLDED_FOR = {
    "words of a page, a command or a message, and terms of a search, which finds only what its reader may see": (
        *("payments/admin/", "payments/search/", "payments/inbox/", "payments/management/", "payments/health/"),
        *("payments/api/guides/", "payments/api/reference/", "payments/api/responses/near_paths.py"),
        *("payments/staff/admin_site/search_page.py", "payments/models/books/reconciliation.py"),
        *("payments/domain/disputes/record.py", "payments/domain/approvals/kinds/payouts.py"),
        "payments/domain/charging/state_machine.py",
    ),
    "names in ASCII of a protocol: headers, schemes, hosts, media types, settings": (
        *("config/", "payments/web/", "payments/webhooks/transport/", "payments/mcp/", "payments/hosts.py"),
        *("payments/api/access/authentication.py", "payments/api/validation/", "payments/cli/"),
        "payments/api/responses/rendering.py",
        "customers/domain/customers.py",
        *("payments/redis_client/rate_counters.py", "customers/moving/"),
    ),
    "codes in ASCII by their pattern: currencies, bank codes, account numbers, the digits of an ID": (
        *("payments/domain/checkout/verbs.py", "payments/domain/checkout/", "payments/pages/checkout/"),
        *("payments/bank_accounts.py", "payments/ids.py", "payments/domain/provider_events/reasons.py"),
    ),
    "words of a provider, each for one outcome": ("payments/providers/", "payments/domain/reconciliation/"),
    "a block refuses the more, the more it takes for one": (
        *("payments/domain/prepared_reads.py", "payments/domain/risk/blocks.py", "payments/models/risk/block.py"),
        "payments/migrations/initial/sources.py",
    ),
    "a title is taken once": ("payments/models/merchants/merchant.py", "payments/migrations/initial/merchants.py"),
    "an index to look by an address that a merchant's own key names": (
        *("customers/models.py", "customers/migrations/0001_initial.py"),
    ),
    "more is hidden": ("payments/sensitive_data/",),
    "data of the demo": ("payments/quickstart/demo/",),
}
STATUSES = {status.value for status in HTTPStatus if status >= HTTPStatus.OK}


def nodes(*rooms: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield every node of the modules in `rooms`, with where it stands."""
    for path in (path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))):
        name = path.relative_to(ROOT)
        for node in ast.walk(parsed(path)):
            yield f"{name}:{getattr(node, 'lineno', 0)}", node


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def is_status(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value in STATUSES


def test_nothing_below_the_api_imports_djangos_http() -> None:
    assert [at for at, node in nodes(*BELOW_THE_API) if any(map(DJANGO_HTTP.match, imported(node)))] == []


def test_the_domain_names_no_status() -> None:
    """None is given to a call, compared, chosen or returned, but for the table of errors; a batch or a limit of 500 is
    assigned to its name.
    """
    table = "payments/domain/catalogue/error_table.py:"
    places = (ast.Call, ast.keyword, ast.Compare, ast.IfExp, ast.Return, ast.Tuple)
    used = [
        at
        for at, node in nodes("payments/domain", "customers/domain")
        if isinstance(node, places) and any(map(is_status, ast.iter_child_nodes(node))) and not at.startswith(table)
    ]
    assert used == []


def test_the_domain_asks_providers_in_one_way_only() -> None:
    """By functions of `provider`, given to `provider_calls.ask`. What a restore lists is read page by page."""
    protocols = (Provider, TakesResponses, FindsDisputes, PaysOut)
    answered_here = {"capabilities", "plain_decline", "read_webhook"}
    asking = {name for each in protocols for name in vars(each) if name[0] != "_"} - answered_here
    found = []
    for path in (path for path in PRODUCT if "domain" in path.parts):
        tree = parsed(path)
        modules = {name.rpartition(".")[2] for node in ast.walk(tree) for name in imported(node)}
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda | ast.FunctionDef)]
        questions = [node for node in functions if "provider" in [each.arg for each in node.args.args]]
        asked = {id(node) for each in questions for node in ast.walk(each)}
        for func in (node.func for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if isinstance(func, ast.Attribute) and func.attr in asking:
                client = getattr(func.value, "id", "")
                if client not in modules and (client != "provider" or id(func) not in asked):
                    found.append(f"{path.name}:{func.lineno}")
    assert found == []


def test_the_top_level_holds_what_it_should_and_nothing_else() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {line.partition("/")[0] for line in tracked.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL


def locked(name: str) -> dict[str, set[str]]:
    """Return the hashes of each version that is pinned in a lock."""
    pins = re.split(r"^(?=\S)", (ROOT / name).read_text(), flags=re.M)[1:]
    return {pin.split()[0]: set(re.findall(r"--hash=(sha256:[0-9a-f]{64})\b", pin)) for pin in pins}


def test_every_pinned_version_stands_in_the_lock_and_in_the_constraints() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    constrained = {pin.partition(";")[0].strip() for pin in project["tool"]["uv"]["constraint-dependencies"]}
    assert constrained == locked(".ci/dev.lock").keys()


@pytest.mark.parametrize("name", LOCKS)
def test_nothing_is_installed_whose_hash_is_not_known(name: str) -> None:
    assert all(locked(name).values())


def test_a_server_runs_what_was_checked_and_none_of_the_tools_that_checked_it() -> None:
    server, *added, checked = map(locked, LOCKS)
    for pins in (server, *added):
        assert pins.items() <= checked.items()
        assert not {pin.partition("==")[0] for pin in pins} & {"pytest", "hypothesis", "playwright", "bandit", "pip"}
    assert {"django", "psycopg"} <= {pin.partition("==")[0] for pin in server}
    for pins, own in zip(added, ("mcp", "sentry-sdk", "hvac"), strict=True):
        assert own in {pin.partition("==")[0] for pin in pins}
        assert not pins.keys() & server.keys()


def test_whatever_looks_like_a_secret_was_looked_at_and_is_none() -> None:
    """`detect-secrets scan --baseline .ci/secrets.json` finds, `detect-secrets audit .ci/secrets.json` asks."""
    found = json.loads((ROOT / ".ci" / "secrets.json").read_text())["results"]
    assert [(name, one["line_number"]) for name in found for one in found[name] if one.get("is_secret", True)] == []


def test_no_file_names_a_package_index() -> None:
    for name in ("pyproject.toml", *LOCKS):
        text = (ROOT / name).read_text()
        assert "https://" not in text
        assert "index-url" not in text


@pytest.mark.parametrize("name", ["prism", "inspector"])
def test_what_comes_from_npm_has_a_hash_and_names_no_registry(name: str) -> None:
    packages = json.loads((ROOT / ".ci" / name / "package-lock.json").read_text())["packages"]
    asked_for = packages.pop("")
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert not any("resolved" in package for package in packages.values())
    assert asked_for["dependencies"] == {
        name: packages[f"node_modules/{name}"]["version"] for name in asked_for["dependencies"]
    }


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in PRODUCT}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_each_feature_of_the_domain_has_tests_under_its_name() -> None:
    rooms = {path.parent.name for path in (ROOT / "payments" / "domain").glob("*/__init__.py")}
    features = rooms - {"shared"}
    assert len(features) > 10
    assert {name for name in features if not list((ROOT / "tests" / name).glob("test_*.py"))} == set()


def test_no_folder_has_more_than_twelve_modules() -> None:
    # Django finds commands in one folder only.
    counted = Counter(path.parent for path in PRODUCT if path.name != "__init__.py" and path.parent.name != "commands")
    assert {folder.relative_to(ROOT).as_posix(): number for folder, number in counted.items() if number > 12} == {}


def test_a_class_shares_its_name_with_one_other_at_most() -> None:
    classes = Counter(each.name for path in PRODUCT for each in parsed(path).body if isinstance(each, ast.ClassDef))
    assert {name for name, count in classes.items() if count > 2} == {"Command", "Migration"}  # Django's


def test_a_page_of_the_admin_is_composed_of_few_classes() -> None:
    sites: list[Any] = [admin.site, merchant_site]
    for page in {type(page) for site in sites for page in site.pages()}:
        ours = [each for each in page.__mro__[1:] if each.__module__.startswith(("payments", "customers"))]
        assert len(ours) <= 6, ours
        assert max(len(each.__bases__) for each in ours) <= 4, ours


def _folds(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return called in FOLDS or any(FOLDING_LOOKUP.search(keyword.arg or "") for keyword in node.keywords)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(FOLDING_LOOKUP.search(node.value))


def test_no_two_texts_are_taken_for_one_by_their_letters_without_a_reason() -> None:
    """An upper-case dotless i is an I: whose address looked the same got an owner's access."""
    places = tuple(place for places in FOLDED_FOR.values() for place in places)
    folding = {where.rpartition(":")[0] for where, node in nodes("config", "payments", "customers") if _folds(node)}
    assert sorted(name for name in folding if not name.startswith(places)) == []
    assert sorted(place for place in places if not any(name.startswith(place) for name in folding)) == []


def test_a_page_of_either_site_stands_on_at_most_six_classes_of_ours() -> None:
    pages = [page for site in (admin.site, merchant_site) for page in cast(Any, site).pages()]
    modules = {type(page).__name__: [base.__module__ for base in type(page).__mro__[1:]] for page in pages}
    ours = {name: sum(one.startswith(("payments.", "customers.")) for one in found) for name, found in modules.items()}
    assert len(ours) > 50
    assert {name: count for name, count in ours.items() if count > 6} == {}


# What other packages call private and kaha uses, though it may change in any release. The backend's `_close` and the
# connector's `_factory` are theirs too, and so is `fields_cache` of a row's state.
PRIVATE = {
    "_prefetch_related_lookups": "No public call says what a query prefetches; its own statement reads it as JSON.",
    "_store": "Headers that are set and sent in one pass take 85 calls less of each request.",
    "_cmodule": "The driver's writer of texts in C, of which no public class may be extended, writes UUIDs.",
    **dict.fromkeys(("_psycopg", "_StrDumper"), "The names of that writer and its module."),
}
# Documented, or names of Python's own, whatever they begin with.
PUBLIC = {"_meta", "_state", "_default_manager", "_base_manager", "_fields", "_asdict", "_replace", "_thread"}


def test_of_other_packages_no_private_part_is_used_but_these() -> None:
    own, used = set(PUBLIC), set[str]()
    for file in PRODUCT:
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.Constant(value=str(name)):
                    own.add(name)
                case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                    own.add(name)
                case ast.Attribute(attr=name):
                    used.add(name)
                case ast.ImportFrom(module=str(module), names=names):
                    used.update(module.split("."), (each.name for each in names))
    private = {name for name in used if re.match("_[^_]", name)}
    assert private - own | private & PRIVATE.keys() == PRIVATE.keys()
