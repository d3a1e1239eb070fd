"""Fair shares of what a process has little of: slots, which are refused, and a queue in which callers wait."""

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock, Timer

# A turn that is followed by a pause of three times its length takes the fourth part of a thread.
PAUSE, PAUSE_MOST_SECONDS = 3, 1.0


class Slots:
    """At most `most` slots for one name, and never more than `in_all` for all names, if given.

    A name holds no more of the `in_all` than are left free. One alone has half of them, two have a third each, three a
    quarter: whatever is slow at once, the next one finds as much room as each of them has. Where a crowd of names has
    taken all, a further name gets none either. With `within`, all names together are one name of those slots too.
    """

    def __init__(self, most: int, in_all: int | None = None, within: "Slots | None" = None) -> None:
        self._within = within
        self.most, self.in_all = max(1, most), None if in_all is None else max(1, in_all)
        self._held: dict[Hashable, int] = {}
        self._taken = 0
        self._lock = Lock()

    @property
    def taken(self) -> int:
        """The slots that all names hold."""
        return self._taken

    def take(self, name: Hashable) -> bool:
        """Take a slot for `name`; False where it may hold no more."""
        with self._lock:
            held = self._held.get(name, 0)
            if self._is_full(held) or (self._within and not self._within.take(self)):
                return False
            self._held[name] = held + 1
            self._taken += 1
            return True

    def give_back(self, name: Hashable) -> None:
        with self._lock:
            held = self._held.pop(name)
            if held > 1:
                self._held[name] = held - 1
            self._taken -= 1
            if self._within:
                self._within.give_back(self)

    @contextmanager
    def slot(self, name: Hashable, refusal: Callable[[], Exception]) -> Iterator[None]:
        """Hold a slot of `name` while the block runs; raise what `refusal` returns where it may hold no more."""
        if not self.take(name):
            raise refusal()
        try:
            yield
        finally:
            self.give_back(name)

    def full(self) -> list[Hashable]:
        """Return the names that hold slots and may hold no more."""
        with self._lock:
            return [name for name, held in self._held.items() if self._is_full(held)]

    def _is_full(self, held: int) -> bool:
        return held >= self.most or (self.in_all is not None and held >= self.in_all - self._taken)


class Turn:
    """The place of one caller in a queue, from when it `has_begun` until it ends; `holder` is who then has a slot."""

    __slots__ = ("began_at", "caller", "has_begun", "holder", "is_over", "on_begin")

    def __init__(self, caller: Hashable, holder: Hashable, on_begin: Callable[[], object]) -> None:
        self.caller, self.holder, self.on_begin = caller, holder, on_begin
        self.has_begun = self.is_over = False
        self.began_at = 0.0


class FairQueue:
    """What several shares have between them: at most `most` turns at once, of which each leaves some for the others."""

    def __init__(self, most: int | None = None) -> None:
        self.slots = None if most is None else Slots(most, most)
        self.shares: list[Share] = []
        self.lock = Lock()

    def begin_waiting(self) -> None:
        """Begin the turns that may begin now."""
        begun: list[Turn] = []
        with self.lock:
            for share in self.shares:
                if share.lines:
                    begun += share.next_turns()
        for turn in begun:
            turn.on_begin()


class Share:
    """At most `most` turns at once for callers of one kind; those that wait are served in rotation.

    A burst of one caller delays its own turns and hardly those of others: a caller waits for at most one turn of each
    other. Of its own the one that has waited longest is next, and none that comes later overtakes it. Where
    `leaves_room`, a caller has no more turns than are left free, and than `most_of_one`, if given; so of a crowd those
    without a turn come first.

    With `later`, which calls a function after so many seconds, a pause follows each turn: however many wait, they take
    a part of one thread. The pause is the caller's, or where no room is left, that of all.
    """

    def __init__(
        self,
        most: int,
        leaves_room: bool = True,
        most_of_one: int | None = None,
        queue: FairQueue | None = None,
        later: Callable[[float, Callable[[], None]], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._queue, self._most, self._leaves_room = queue or FairQueue(), most, leaves_room
        self._slots = Slots(most_of_one or most, most if leaves_room else None, self._queue.slots)
        self._later, self._clock = later, clock
        # Waiting turns by caller, the next caller first; and who may not begin a turn for now.
        self.lines: dict[Hashable, deque[Turn]] = {}
        self._resting = set[Hashable]()
        self._queue.shares.append(self)

    @property
    def taken(self) -> int:
        """The turns that have begun."""
        return self._slots.taken

    @property
    def waiting(self) -> int:
        """The turns that have not."""
        with self._queue.lock:
            return sum(map(len, self.lines.values()))

    def begin(self, caller: Hashable, on_begin: Callable[[], object]) -> Turn:
        """Return a turn that has begun, or that waits: then `on_begin` is called, by what ends another."""
        turn = Turn(caller, caller if self._leaves_room else None, on_begin)
        with self._queue.lock:
            if caller in self.lines or not self._takes(turn):
                self.lines.setdefault(caller, deque()).append(turn)
        return turn

    def wait(self, caller: Hashable, timeout_seconds: float) -> Turn | None:
        """Block this thread until its turn begins, and return it; None if it does not in time."""
        gate = Lock()
        gate.acquire()
        turn = self.begin(caller, gate.release)
        if turn.has_begun or gate.acquire(timeout=timeout_seconds):
            return turn
        self.end(turn)
        return None

    def end(self, turn: Turn) -> None:
        """Give the place of `turn` to the next one, or have it leave the queue; do nothing the second time."""
        with self._queue.lock:
            if turn.is_over:
                return
            turn.is_over = True
            if not turn.has_begun:
                self._remove(turn)
            else:
                self._slots.give_back(turn.holder)
                if self._later:
                    self._resting.add(turn.holder)
                    seconds = min(PAUSE * (self._clock() - turn.began_at), PAUSE_MOST_SECONDS)
                    self._later(seconds, partial(self._end_pause, turn.holder))
        self._queue.begin_waiting()

    def next_turns(self) -> list[Turn]:
        """Begin the first turn of each caller who may begin one, and return those turns. The queue is locked."""
        # However many callers wait, no look at each is needed to find that none may.
        if self._slots.taken >= self._most or None in self._resting:
            return []
        return [self._next(caller) for caller, line in list(self.lines.items()) if self._takes(line[0])]

    def _takes(self, turn: Turn) -> bool:
        turn.has_begun = turn.holder not in self._resting and self._slots.take(turn.holder)
        if turn.has_begun and self._later:
            turn.began_at = self._clock()
        return turn.has_begun

    def _next(self, caller: Hashable) -> Turn:
        """Take the first turn out of the line of a caller, who comes last from now on."""
        line = self.lines.pop(caller)
        turn = line.popleft()
        if line:
            self.lines[caller] = line
        return turn

    def _remove(self, turn: Turn) -> None:
        self.lines[turn.caller].remove(turn)
        if not self.lines[turn.caller]:
            del self.lines[turn.caller]

    def _end_pause(self, holder: Hashable) -> None:
        with self._queue.lock:
            self._resting.discard(holder)
        self._queue.begin_waiting()


class BriefQueue:
    """A queue of threads for slow work, one at a time: few wait, fairly by caller, and none for longer than `seconds`.

    After each turn is a pause for all.
    """

    def __init__(self, most_waiting: int, seconds: float) -> None:
        self._share, self._seconds = Share(1, leaves_room=False, later=_later), seconds
        self._places = Slots(most_waiting, most_waiting)

    @contextmanager
    def turn(
        self, caller: Hashable, refusal: Callable[[], Exception], before_wait: Callable[[], object]
    ) -> Iterator[None]:
        """Run the block in a turn of `caller`, with `before_wait` called first; raise what `refusal` returns else."""
        with self._places.slot(caller, refusal):
            before_wait()
            turn = self._share.wait(caller, self._seconds)
        if turn is None:
            raise refusal()
        try:
            yield
        finally:
            self._share.end(turn)


def _later(seconds: float, work: Callable[[], None]) -> None:
    timer = Timer(seconds, work)
    timer.daemon = True
    timer.start()
