"""A month: buyers come on its days, some act again later, and kaha's test clock moves from day to day."""

import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress

from kaha_cli.failures import ApiRefused, Failure, Misuse
from kaha_cli.output import note
from kaha_cli.rehearse.books import STANDARD_INPUT, Orders, orders_of
from kaha_cli.rehearse.buyers import days_of, visit_of
from kaha_cli.rehearse.rules import RULES, Wrong, wrong_of
from kaha_cli.rehearse.visit import Shop, Visit

DAYS, DAY_SECONDS, BUYERS_OF_A_DAY, AT_ONCE = 30, 86_400, 8, 8
# A shop may do its work after it has answered.
TRIES, PATIENCE_SECONDS = 3, 2.0
CLOCK = "/v2/test/clock/"
NO_CLOCK = "The clock of this kaha does not move (KAHA_CLOCK is off): no session expired and no hold ended."
WITH_CLOCK = (
    "Time moved for kaha's test objects only: not for your shop, created_at, the times in signatures or idempotency "
    "keys."
)


class Month:
    """The buyers with these numbers at a shop. `finished` are those who have done all that they do.

    `orders` says where the shop's are; they are read now and after each day, but from standard input at the end alone.
    """

    def __init__(self, shop: Shop, numbers: list[int], orders: str) -> None:
        self.finished, self.wrong, self.note = list[Visit](), list[Wrong](), WITH_CLOCK
        # Why kaha did not answer until the end.
        self.failure: Failure | None = None
        self._shop, self._numbers, self._orders = shop, numbers, orders
        self._before = None if orders == STANDARD_INPUT else {*orders_of(orders)}
        self._due = defaultdict[int, list[tuple[Visit, Iterator[int]]]](list)
        days = min(DAYS, -(-len(numbers) // BUYERS_OF_A_DAY))
        for index, number in enumerate(numbers):
            visit = visit_of(shop, number)
            self._due[1 + index * days // len(numbers) * DAYS // days].append((visit, days_of(visit)))

    def play(self) -> None:
        """Let all of it happen, and note after each day how far it is.

        On Ctrl-C, and where kaha is away for long, those who are under way are left where they are.
        """
        today = 1
        try:
            while self._due:
                day = min(self._due)
                self._advance(day - today)
                today, before = day, len(self.finished)
                self._live(today)
                self._note_progress(today, self.finished[before:])
        except KeyboardInterrupt:
            self._shop.relay.stopped.set()
        except Failure as failure:
            self.failure = failure

    def judge(self) -> None:
        """Compare all orders with kaha's books. On Ctrl-C, and where kaha is away, what was found after the days stays.

        Raises Misuse.
        """
        if self._before is None:
            note("Waiting for the orders: JSON or CSV.")
        try:
            self._compare()
        except KeyboardInterrupt:
            self._shop.relay.stopped.set()
        except Failure as failure:
            self.failure = failure
        if self._shop.unopened:
            self.note += f" Buyers did not go to {', '.join(sorted(self._shop.unopened))}: no option names that host."

    def _compare(self) -> None:
        for pause in (*[PATIENCE_SECONDS] * TRIES, 0.0):
            try:
                orders = orders_of(self._orders)
                self.wrong = wrong_of(self.finished, orders) + self._strange(orders)
            except Misuse:
                if self._before is None or not pause:
                    raise
            else:
                if self._before is None or not any(RULES[each.code].may_heal for each in self.wrong):
                    break
            time.sleep(pause)

    def _strange(self, orders: Orders) -> list[Wrong]:
        """Return the new orders that were delivered and that no buyer began; those under way may have begun some."""
        if self._before is None or self._due or self._shop.relay.stopped.is_set():
            return []
        known = self._before.union(*(visit.orders for visit in self.finished))
        found = sorted(reference for reference in orders.keys() - known if orders[reference][0].delivered)
        return [Wrong("delivered_to_nobody", reference, self._shop.seed, 0, "", []) for reference in found]

    def _note_progress(self, day: int, visits: list[Visit]) -> None:
        about, wrong = "", {each.buyer for each in self.wrong}
        if self._before is not None:
            with suppress(Misuse):
                judged = {*visits, *(visit for visit in self.finished if visit.number in wrong)}
                self.wrong = wrong_of(judged, orders_of(self._orders))
            about = f", {len({each.buyer for each in self.wrong})} served wrongly so far"
        note(f"Day {day}: {len(self.finished)} of {len(self._numbers)} buyers done{about}.")

    def _advance(self, days: int) -> None:
        if not days or self.note == NO_CLOCK:
            return
        try:
            self._shop.client.post(CLOCK, {"advance_seconds": days * DAY_SECONDS})
        except ApiRefused as refused:
            if refused.status != 404:
                raise
            self.note = NO_CLOCK

    def _live(self, today: int) -> None:
        """Let the buyers of a day act, some at once, until its end."""
        with ThreadPoolExecutor(AT_ONCE) as threads:
            # A buyer who has no more to do gives None.
            futures = {threads.submit(next, acts, None): (visit, acts) for visit, acts in self._due.pop(today)}
            try:
                for future in as_completed(futures):
                    visit, acts = futures[future]
                    if days := future.result():
                        visit.lines.append(("", "a day later" if days == 1 else f"{days} days later"))
                        self._due[today + days].append((visit, acts))
                    else:
                        visit.close()
                        self.finished.append(visit)
            except BaseException:
                self._shop.relay.stopped.set()
                threads.shutdown(cancel_futures=True)
                raise
