"""The admin's navigation: models grouped by task instead of by app."""

from collections.abc import Mapping, Sequence
from typing import Any

GROUPS: Mapping[str, Sequence[str]] = {
    "Payments": ("payments.charge", "payments.refund", "customers.customer", "payments.source"),
    "Waiting": (
        "payments.approvalrequest",
        "payments.staffact",
        "payments.unknownoutcome",
        "payments.correction",
        "payments.webhook",
        "payments.providermessage",
        "payments.reconciliationitem",
        "payments.declinealert",
    ),
    "Merchants": (
        "payments.merchant",
        "payments.apikey",
        "payments.notifysecret",
        "payments.provideraccount",
        "payments.route",
        "payments.block",
    ),
    "Records": (
        "payments.event",
        "payments.posting",
        "payments.settlement",
        "payments.export",
        "payments.reconciliationrun",
        "payments.reportline",
        "payments.attempt",
        "payments.idempotencyrecord",
        "payments.card",
        "payments.binrange",
    ),
    "People": ("payments.auditentry", "auth.user", "auth.group", "payments.actlimit", "payments.merchantaccess"),
    "Service": ("payments.moneycheck", "payments.datakey"),
    "Simulator": ("simulator.simulatedpayment", "simulator.simulatedoperation", "simulator.entry", "simulator.message"),
}
OTHER = "Other"
PLACES = {label: (group, place) for group, labels in GROUPS.items() for place, label in enumerate(labels)}
NOWHERE = (OTHER, 0)


def grouped(apps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return Django's list of apps regrouped by GROUPS; models without a group come last."""
    models = [model for app in apps for model in app["models"]]
    models.sort(key=lambda model: _place(model)[1])
    groups = ((name, [model for model in models if _place(model)[0] == name]) for name in (*GROUPS, OTHER))
    return [{"name": name, "models": found} for name, found in groups if found]


def _place(model: Mapping[str, Any]) -> tuple[str, int]:
    return PLACES.get(model["model"]._meta.label_lower, NOWHERE)
