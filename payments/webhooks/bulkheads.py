"""Bulkheads: which claimed webhook is sent next, so that no merchant and no slow receiver holds up the others.

Places are shared by merchant and mode first, then by receiver. Receivers whose last try took long have a bulkhead of
their own and cannot take a place of the others. All of it holds for one worker process: each shares its own places.
"""

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from typing import NamedTuple

from payments.webhooks.claims import Claimed, Owner, ReceiverKey, Share, Shares
from payments.webhooks.signing_secrets import Signers

SENDS_AT_ONCE = 500
# Of these, what receivers whose last try took long may take; the others have the rest for themselves.
SLOW_SENDS_AT_ONCE = 100
SENDS_AT_ONCE_TO_RECEIVER = 50
SENDS_AT_ONCE_TO_SLOW_RECEIVER = 2
# Claimed and not ended, of receivers that are in time and of slow ones.
CLAIMED_LIMIT = 4000
SLOW_CLAIMED_LIMIT = 800
SLOW_RECEIVERS_LIMIT = 1000


class SlowReceivers:
    """Remembers the receivers whose last try took long, the latest SLOW_RECEIVERS_LIMIT of them.

    In memory, because a worker that has forgotten it learns it again by one try, which costs the merchant's own places
    alone; a row for each would be written at every failure, and grow with every URL that a merchant makes up.
    """

    def __init__(self) -> None:
        self._keys: OrderedDict[ReceiverKey, None] = OrderedDict()

    @property
    def count(self) -> int:
        return len(self._keys)

    def __contains__(self, key: ReceiverKey) -> bool:
        return key in self._keys

    @property
    def keys(self) -> list[ReceiverKey]:
        return list(self._keys)

    def note(self, key: ReceiverKey, slow: bool) -> None:
        """Note how the last try to this receiver went."""
        self._keys.pop(key, None)
        if slow:
            self._keys[key] = None
        if len(self._keys) > SLOW_RECEIVERS_LIMIT:
            self._keys.popitem(last=False)


@dataclass(slots=True, eq=False)
class Lane:
    """What waits for one receiver, and how many tries to it are under way."""

    key: ReceiverKey
    owner: Owner
    slow: bool
    waiting: deque[tuple[Claimed, Signers]] = field(default_factory=deque)
    under_way: int = 0
    # The queue of a bulkhead that it stands in while another try may begin.
    queue: "Queue | None" = None

    @property
    def is_ready(self) -> bool:
        limit = SENDS_AT_ONCE_TO_SLOW_RECEIVER if self.slow else SENDS_AT_ONCE_TO_RECEIVER
        return bool(self.waiting) and self.under_way < limit


Queue = OrderedDict[Lane, None]


@dataclass(slots=True, eq=False)
class Holding:
    """The places that one merchant has in a bulkhead, and its lanes that wait for one."""

    held: int = 0
    # Those without a try under way, and the others.
    idle: Queue = field(default_factory=OrderedDict)
    busy: Queue = field(default_factory=OrderedDict)


class Bulkhead:
    """A number of places, of which each merchant may hold as many as are left free.

    So `n` merchants that take all they can leave the next one an `n + 1`th of the places. A receiver that has a place
    already gets another only while its merchant holds fewer than half of that: the rest is for its other receivers.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        # In turn.
        self._holdings: OrderedDict[Owner, Holding] = OrderedDict()

    def put(self, lane: Lane) -> None:
        """Put `lane` where it belongs by what waits in it and by what is under way."""
        holding = self._holdings.get(lane.owner) or self._holdings.setdefault(lane.owner, Holding())
        queue = (holding.busy if lane.under_way else holding.idle) if lane.is_ready else None
        if queue is not lane.queue:
            self.remove(lane)
            lane.queue = queue
            if queue is not None:
                queue[lane] = None

    def remove(self, lane: Lane) -> None:
        if lane.queue is not None:
            del lane.queue[lane]
            lane.queue = None

    def take(self) -> Lane | None:
        """Take a place for the lane whose turn it is; None where none may have one."""
        for _ in range(len(self._holdings) if self._free else 0):
            owner, holding = next(iter(self._holdings.items()))
            self._holdings.move_to_end(owner)
            queue = holding.idle or holding.busy
            if queue and holding.held < (self._free if holding.idle else self._free // 2):
                self._free -= 1
                holding.held += 1
                lane = next(iter(queue))
                queue.move_to_end(lane)
                return lane
            if not queue and not holding.held:
                del self._holdings[owner]
        return None

    def give_back(self, lane: Lane) -> None:
        self._free += 1
        self._holdings[lane.owner].held -= 1


class Turn(NamedTuple):
    """A place that was taken, and the webhook that is sent in it."""

    bulkhead: Bulkhead
    lane: Lane
    claimed: Claimed
    signers: Signers


class Lanes:
    """All claimed webhooks: those that wait, and those under way in each bulkhead."""

    def __init__(self, slow: SlowReceivers) -> None:
        self._slow = slow
        self._lanes: dict[ReceiverKey, Lane] = {}
        self._in_time = Bulkhead(SENDS_AT_ONCE - SLOW_SENDS_AT_ONCE)
        self._late = Bulkhead(SLOW_SENDS_AT_ONCE)
        self.claimed_count = 0

    def add(self, claimed: Claimed, signers: Signers) -> None:
        key = (claimed.merchant_id, claimed.livemode, claimed.receiver)
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(key, key[:2], key in self._slow)
        lane.waiting.append((claimed, signers))
        self.claimed_count += 1
        self._bulkhead_of(lane).put(lane)

    def take(self) -> Turn | None:
        """Take the next webhook that may be sent, fast receivers first; None where none has a place."""
        for bulkhead in (self._in_time, self._late):
            lane = bulkhead.take()
            if lane:
                claimed, signers = lane.waiting.popleft()
                lane.under_way += 1
                bulkhead.put(lane)
                return Turn(bulkhead, lane, claimed, signers)
        return None

    def end(self, turn: Turn, slow: bool | None) -> None:
        """Give the place of `turn` back; `slow` says how the try went, None where none was made."""
        lane = turn.lane
        turn.bulkhead.give_back(lane)
        lane.under_way -= 1
        self.claimed_count -= 1
        if slow is not None and slow != lane.slow:
            self._bulkhead_of(lane).remove(lane)
            lane.slow = slow
            self._slow.note(lane.key, slow)
        self._bulkhead_of(lane).put(lane)
        if not lane.waiting and not lane.under_way:
            del self._lanes[lane.key]

    def give_up_waiting(self) -> list[Claimed]:
        """Release those that have not begun."""
        given_up = [claimed for lane in self._lanes.values() for claimed, _ in lane.waiting]
        for lane in self._lanes.values():
            lane.waiting.clear()
            self._bulkhead_of(lane).remove(lane)
        self._lanes = {key: lane for key, lane in self._lanes.items() if lane.under_way}
        self.claimed_count -= len(given_up)
        return given_up

    def shares(self) -> Shares:
        """Return what the next claim has to know: whose share of the bulkheads is full."""
        held: Counter[Share] = Counter()
        for lane in self._lanes.values():
            held[Share(*lane.owner, lane.slow)] += len(lane.waiting) + lane.under_way
        slow_room = SLOW_CLAIMED_LIMIT - sum(count for share, count in held.items() if share.slow)
        room = CLAIMED_LIMIT - (held.total() - (SLOW_CLAIMED_LIMIT - slow_room))
        full = [share for share, count in held.items() if count >= (slow_room if share.slow else room)]
        return Shares(max(room, 0), slow_room > 0, full, self._slow.keys)

    def _bulkhead_of(self, lane: Lane) -> Bulkhead:
        return self._late if lane.slow else self._in_time
