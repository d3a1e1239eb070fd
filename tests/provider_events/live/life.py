"""A charge from the API to the fake of a provider and back, on a network as bad as chance will have it."""

from collections import Counter
from random import Random
from string import ascii_lowercase
from typing import Any

from payments.domain.merchants.merchants import create_merchant
from payments.ids import public_id
from payments.models import Charge
from payments.providers.http import Connections
from tests.charging.elapsed_time import let_time_pass, recover
from tests.pages.waiting_charges import SHOP
from tests.provider_events.live.tally import Tally, judged, open_attempts, waiting_reports
from tests.provider_events.live.world import SCANNED, WORLDS, World, asked_by
from tests.provider_events.psp import apply_due, send
from tests.providers.bench import AMOUNT, SignedMessage, Spoilt
from tests.providers.sender import Sender

# What a payer or a program meets who asks while the provider cannot be reached, as the contract has it.
UNDONE = 503
SPOILS = tuple(how for how in Spoilt if how not in (Spoilt.OTHER_AMOUNT, Spoilt.BUSY))
KINDS = ("taken", "held", "declined", "challenged", "redirected", "scanned")
# What payers do who are asked.
PAYERS = ("pays", "refuses", "leaves", "pays too late")
OPERATIONS = 3
# How often everything that has no end is looked at; in the first of these the network is bad.
ROUNDS = 12
BAD_ROUNDS = 3


class Life:
    """What happens to one charge in a world of its own, whose provider kaha asks by `sender`."""

    def __init__(self, world: World, sender: Sender, chance: Random) -> None:
        self._world, self._sender, self._chance = world, sender, chance
        # Which reports are sent, and which of them arrive later.
        self._announced: list[SignedMessage] = []
        self._late: list[SignedMessage] = []
        self._tally = Tally()

    def run(self) -> Tally:
        """Charge, pay and operate; in the end the provider answers again."""
        kind = self._chance.choice(KINDS)
        self._ask("/charges/", self._order(kind))
        self._wait()
        if self._charge.action:
            self._act(self._chance.choice(PAYERS))
        for _ in range(OPERATIONS):
            self._wait()
            self._operate()
        self._end()
        self._tally.wrong += judged(self._world)
        self._tally.done += Counter(charges=1, ambiguous=self._spoilt("POST"), failed_lookups=self._spoilt("GET"))
        return self._tally

    @property
    def _charge(self) -> Charge:
        return Charge.objects.get(attempts__account=self._world.account, attempts__kind="authorize")

    def _order(self, kind: str) -> dict[str, Any]:
        is_card = kind not in ("redirected", "scanned")
        source = self._card(kind) if is_card else self._wallet(kind)
        capture = not is_card or (kind != "held" and self._chance.random() < 0.7)
        return {"amount": AMOUNT, "currency": "PHP", "source": source, "description": "Halo-halo", "capture": capture}

    def _card(self, kind: str) -> str:
        declined = "card_declined" if kind == "declined" else ""
        return self._world.card_source(self._world.bench.card(declined, challenged=kind == "challenged"))

    def _wallet(self, kind: str) -> str:
        bench = self._world.bench
        source_type = SCANNED[self._world.account.provider] if kind == "scanned" else bench.redirect_type
        return self._world.live.wallet(source_type, redirect=SHOP)

    def _ask(self, path: str, body: dict[str, Any]) -> None:
        """Send a request that may be repeated, on a bad network."""
        key = "".join(self._chance.choices(ascii_lowercase, k=16))
        self._spoil()
        response = self._world.live.post(path, body, key)
        self._tally.done[f"{response.status_code}"] += 1
        if self._chance.random() < 0.3 and response.status_code != UNDONE:
            again = self._world.live.post(path, body, key)
            self._tally.wrong["answers"] += again.content != response.content
        self._tally.wrong["answers"] += response.status_code not in (200, 201, UNDONE)

    def _operate(self) -> None:
        """Capture, void or refund the charge, where possible."""
        charge = self._charge
        able = self._world.bench.connector.capabilities(charge.source.type)
        if charge.authorized:
            verb = self._chance.choice(("capture", "capture", "void"))
            left = charge.amount
        elif charge.status == Charge.Status.SUCCEEDED and able.refund:
            is_voidable = able.void_captured and not charge.amount_refunded
            verb = "void" if is_voidable and self._chance.random() < 0.2 else "refund"
            left = charge.amount_captured - charge.amount_refunded
        else:
            return
        part = {"amount": self._chance.randint(1, left)} if verb != "void" and self._chance.random() < 0.5 else {}
        self._ask(f"/charges/{public_id('ch', charge.id)}/{verb}", part)

    def _act(self, how: str) -> None:
        """Act as the payer on the provider's page, or leave it."""
        bench, payment = self._world.bench, self._world.payment
        if how in ("pays", "refuses"):
            brought = bench.pay(payment) if how == "pays" else bench.refuse(payment)
            self._come_back(brought)
            return
        self._spoil()
        self._run_out()
        if how == "pays too late":
            self._wait()
            self._world.pay_too_late()

    def _come_back(self, brought: Any) -> None:
        """Bring the payer back, or not; the waiting page polls until they leave."""
        for _ in range(self._chance.randint(0, 3)):
            self._spoil()
            if self._world.come_back(brought).status_code == 303:
                return
            self._pass()

    def _run_out(self) -> None:
        """Let the payer's time pass."""
        let_time_pass(Charge, "action_expires_at")
        recover()

    def _wait(self) -> None:
        """Wait until the provider has reported what blocks further operations: its network is bad at first."""
        least = self._chance.randint(0, 2)
        for number in range(ROUNDS):
            charge = self._charge
            is_pending = charge.status == Charge.Status.PENDING and not charge.action
            if number >= least and not charge.operation and not is_pending:
                return
            self._pass(spoils=number < BAD_ROUNDS)

    def _end(self) -> None:
        """Let the provider answer again and deliver all its messages."""
        for act in (self._run_out, self._world.run_out):
            self._calm()
            act()
            self._recover()

    def _recover(self) -> None:
        for _ in range(ROUNDS):
            self._calm()
            self._pass()
            if not (self._late or open_attempts(self._world.account) or waiting_reports(self._world.account)):
                return

    def _pass(self, *, spoils: bool = False) -> None:
        """Let time pass: the provider does its due work and reports it, and recovery runs."""
        self._world.bench.let_pass()
        self._receive()
        if spoils:
            self._spoil()
        recover()

    def _spoil(self) -> None:
        """Draws the fate of the next answer, and whether the provider reports it before it is read."""
        self._calm()
        how = self._chance.choice((None, *SPOILS))
        if how:
            self._world.spoil_next(how)
        self._sender.in_haste = how is Spoilt.DELAYED
        if self._chance.random() < 0.3:
            self._sender.meanwhile = self._receive_early

    def _calm(self) -> None:
        self._world.bench.fake.calm()
        self._sender.in_haste, self._sender.meanwhile = False, None

    def _receive_early(self) -> None:
        self._world.bench.let_pass()
        self._receive()

    def _receive(self) -> None:
        """Deliver the messages: each once or more, in any order, some later."""
        fresh = [each for each in self._world.bench.webhooks() if each not in self._announced]
        self._announced += fresh
        announced = [*self._late, *(each for each in fresh for _ in range(self._chance.randint(1, 3)))]
        self._chance.shuffle(announced)
        begin = self._chance.choice((0, len(announced) // 2))
        self._late = announced[:begin]
        for headers, body in announced[begin:]:
            response = send(self._world.account, (dict(headers), body))
            self._tally.done["webhooks"] += 1
            self._tally.wrong["answers"] += response.status_code != 200
        apply_due()

    def _spoilt(self, method: str) -> int:
        """How many requests by this method had no answer that says what was done."""
        return sum(count for (asked, _), count in self._world.bench.fake.spoilt.items() if asked == method)


def live(provider: str, hasty: Connections, seed: str) -> Tally:
    """Return the tally of one charge at its own provider, drawn from `seed`; `hasty` has a short time-out."""
    sender, shop = Sender(hasty), create_merchant("Sari Store")
    with asked_by(sender.send, provider), WORLDS[provider](shop) as world:
        return Life(world, sender, Random(seed)).run()
