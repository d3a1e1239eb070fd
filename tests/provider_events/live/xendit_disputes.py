"""Disputes at the fake of Xendit, whose messages prove nothing."""

from collections.abc import Iterator
from typing import Any

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.invariants.checks import check
from payments.invariants.registry import INVARIANTS
from payments.models import Posting
from tests.client import made
from tests.provider_events.live.world import WORLDS, World
from tests.providers.bench import SignedMessage
from tests.providers.xendit.bench import XenditBench
from tests.providers.xendit.disputes import MadeDispute

MORE_WANTED = ("ACTION_REQUIRED", "NEED_MORE_INFORMATION")


@pytest.fixture
def world(shop: NewMerchant) -> Iterator[World]:
    with WORLDS["xendit"](shop) as world:
        yield world


def at_xendit(world: World) -> XenditBench:
    assert isinstance(world.bench, XenditBench)
    return world.bench


def disputed(world: World, charge: dict[str, Any] | None = None, **members: Any) -> MadeDispute:
    """Return a dispute of a new charge, or of one, at Xendit, which has reported nothing yet."""
    if charge is None:
        world.live.charge()
    bench = at_xendit(world)
    return bench.fake.disputes.made[bench.begin_dispute(world.payment, **members)]


def reported(world: World) -> list[SignedMessage]:
    return at_xendit(world).dispute_webhooks()


def report(world: World) -> None:
    """Deliver what Xendit has to report of disputes."""
    world.announce(reported(world))


def only(world: World) -> dict[str, Any]:
    """Return the only dispute, as its merchant sees it."""
    [dispute] = made(world.live.get("/disputes/"))["data"]
    return dict(dispute)


def moved() -> list[int]:
    """Return what disputes moved at the provider, oldest first."""
    rows = Posting.objects.filter(account="provider_receivable", kind__startswith="dispute")
    return [row.amount for row in rows.order_by("created_at", "journal")]


def broken() -> list[str]:
    """Return the rules of the money that are broken, without those of the simulator's books."""
    named = (found.invariant.name for found in map(check, INVARIANTS) if found.count)
    return [name for name in named if not name.startswith("simulator")]
