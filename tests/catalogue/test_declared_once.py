"""One fact, one declaration: a name stands as a text in its declaration and in one module that uses it, no more.

Whatever else needs it reads the declaration.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest
from django.apps import apps
from django.conf import settings

from payments.domain.approvals.verbs import VERBS
from payments.domain.catalogue.error_table import INVALID, REFUSALS
from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.models import Attempt
from payments.providers.simulator.scenarios import SCENARIOS

MODULES_MAX = 2
MODELS = [model for app in ("payments", "customers") for model in apps.get_app_config(app).get_models()]
NAMES: dict[str, Iterable[str]] = {
    "event types": EVENT_TYPES,
    "test cards": SCENARIOS,
    "errors": {code for refusal in REFUSALS if refusal is not INVALID for code in refusal.codes},
    "faults of members": INVALID.codes,
    "verbs": {*VERBS, *Attempt.Kind.values},
    "permissions": {
        f"{model._meta.app_label}.{name}"
        for model in MODELS
        for name in (
            *(f"{verb}_{model._meta.model_name}" for verb in model._meta.default_permissions),
            *(name for name, _ in model._meta.permissions),
        )
    },
}
# What stands in more modules, and in how many. It only shrinks: a lower number and a name that is gone are taken out.
REMAINING = {
    "faults of members": (
        "card_data 5 invalid_choice 8 invalid_type 10 missing 8 not_allowed 4 pattern 17 too_long 6 too_short 4"
    ),
    "verbs": "capture 3 charge 5 payout 4 refund 9 void 5",
}


def texts_of(tree: ast.Module) -> Iterator[str]:
    """Yield each text of a module once, without docstrings."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
    yield from {node.value for node in constants if isinstance(node.value, str)}


def verbs_of(tree: ast.Module) -> set[str]:
    """Return the verbs of which a module has a table, or by whose names it decides; members have such names too."""
    found = set[str]()
    for node in ast.walk(tree):
        decides = isinstance(node, ast.Compare | ast.MatchValue)
        if decides or isinstance(node, ast.Dict | ast.Tuple | ast.List | ast.Set):
            texts = {part.value for part in ast.iter_child_nodes(node) if isinstance(part, ast.Constant)}
            names = texts.intersection(NAMES["verbs"])
            found |= names if decides or len(names) > 1 else set()
    return found


@pytest.mark.parametrize("kind", NAMES)
def test_a_name_stands_in_its_declaration_and_in_one_use(kind: str) -> None:
    folders = [settings.BASE_DIR / name for name in ("payments", "customers", "config")]
    modules = (each for folder in folders for each in folder.rglob("*.py") if "migrations" not in each.parts)
    names_in = verbs_of if kind == "verbs" else texts_of
    counts = Counter(name for each in modules for name in names_in(ast.parse(each.read_text(encoding="utf-8"))))
    more = {name: counts[name] for name in NAMES[kind] if counts[name] > MODULES_MAX}
    assert " ".join(f"{name} {more[name]}" for name in sorted(more)) == REMAINING.get(kind, "")
