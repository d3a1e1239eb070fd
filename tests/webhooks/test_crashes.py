"""Real workers that are killed, and a Redis that forgets, lose nothing."""

from pathlib import Path

import pytest

from tests.figures.webhooks.crashes import crashes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_kills_of_the_worker_and_wipes_of_redis_lose_nothing_and_repeat_only_what_was_under_way(tmp_path: Path) -> None:
    figure = crashes(tmp_path, events=100, kills=2, waits_for_leases=False)
    assert figure["all_delivered"], (tmp_path / "worker.log").read_text()
    assert (figure["events"], figure["lost"], figure["events_repeated_more_than_killed"]) == (100, 0, 0)
    assert figure["claimed_when_killed"] > 0
