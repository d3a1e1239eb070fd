"""One purchase: its source, its charge, and what the merchant, the payer and the worker do about it."""

from datetime import timedelta

from customers.domain import customers, kept_sources
from customers.rendering import CUSTOMER
from payments import clock, sourcetypes
from payments.api.responses.stored_answers import answer_of
from payments.domain import sources
from payments.domain.charging import attempts, charges, operations, record_outcome, recovery
from payments.domain.charging.charges import ChargeOrder
from payments.domain.provider_events.messages import apply_simulator_messages
from payments.domain.shared.caller import Caller
from payments.ids import public_id
from payments.models import Attempt, Charge
from payments.providers.base import Unknown
from payments.providers.simulator import books
from payments.providers.simulator.models import SimulatedOperation
from payments.quickstart.demo.shops import Purchase, Shop
from payments.rendering.objects.sources import SOURCE

FIRST_NAMES = ("Maria", "Juan", "Jose", "Ana", "Liza", "Ramon", "Grace", "Paolo", "Carmela", "Andres", "Bea", "Miguel")
LAST_NAMES = ("Santos", "Reyes", "Cruz", "Bautista", "Garcia", "Mendoza", "Torres", "Flores", "Ramos", "Aquino")


class Sale:
    """A purchase at a shop. Each method is one call of the service, at the moment that the clock shows."""

    charge: Charge
    source_id: str

    def __init__(self, shop: Shop, purchase: Purchase) -> None:
        self.shop, self.purchase = shop, purchase
        self.random = shop.random
        self._refunds = 0

    @property
    def charge_id(self) -> str:
        return public_id("ch", self.charge.id)

    @property
    def attempt(self) -> Attempt:
        """Return the latest attempt of the charge, as it is on record."""
        return attempts.reload(self.charge.attempts.latest("id"))

    def payer_name(self) -> str:
        """Return a name for a payer."""
        return f"{self.random.choice(FIRST_NAMES)} {self.random.choice(LAST_NAMES)}"

    def payer_email(self, name: str) -> str:
        """Return an e-mail address for the payer `name`."""
        return f"{name.lower().replace(' ', '.')}{self.random.randrange(10_000)}@example.com"

    def create_source(self, source_type: str, number: str = "") -> None:
        """Create the payer's source; a card has the test card number `number`."""
        site = f"https://{self.shop.profile.title.lower().replace(' ', '-')}.example"
        redirect = {"success": f"{site}/paid", "fail": f"{site}/failed"}
        redirect |= {"notify": self.shop.notify_url} if self.shop.notify_url else {}
        card = {"card": self.card(number)} if source_type == sourcetypes.CARD else {}
        created = sources.create(
            self.caller("source"), {"type": source_type, "redirect": redirect, **card}, answer_of(SOURCE)
        )
        self.source_id = public_id("src", created.row.id)

    def create_customer(self) -> str:
        """Create a customer; return its public ID."""
        name = self.payer_name()
        order = {
            "email": self.payer_email(name),
            "description": name,
            "mobile_number": f"+63917{self.random.randrange(10**7):07}",
            "metadata": {"name": name},
        }
        return public_id("cus", customers.create(self.caller("customer"), order, answer_of(CUSTOMER)).row.id)

    def vault_source(self) -> None:
        """Attach the source to a new customer."""
        kept = {"source": self.source_id}
        kept_sources.attach(self.caller("attach"), self.create_customer(), kept, answer_of(CUSTOMER))

    def create_charge(self, *, hold: bool = False) -> None:
        """Charge the source, or hold the amount."""
        order = ChargeOrder(
            amount=self.purchase.amount,
            currency=self.purchase.currency,
            source=self.source_id,
            description=self.purchase.description,
            capture=not hold,
        )
        self.charge = charges.create(self.caller("charge"), order).row

    def pay(self) -> None:
        """Have the payer agree: by the one-time PIN, or on the simulator's page, from which they come back."""
        assert self.charge.action  # nosec B101 # for the type checker
        if self.charge.action["type"] == "verify_otp":
            confirmation = self.charge.action["confirmation_id"]
            self.charge = charges.verify(self.caller("verify"), self.charge_id, confirmation, books.RIGHT_PIN).row
            return
        attempt = self.attempt
        payment = books.find_payment(attempt.reference)
        assert payment  # nosec B101 # for the type checker
        books.approve(payment, send_message=True)
        self.charge = charges.continue_after_return(attempts.return_token(attempt.id), {})
        apply_simulator_messages(among=[attempt.reference])

    def capture(self, amount: int | None = None) -> None:
        """Capture `amount` of what is held, or all."""
        self.charge = operations.capture(self.caller("capture"), self.charge_id, amount).row

    def void(self) -> None:
        """Void the charge."""
        self.charge = operations.void(self.caller("void"), self.charge_id).row

    def refund(self, amount: int | None = None) -> None:
        """Refund `amount`, or what is left."""
        self._refunds += 1
        self.charge = operations.refund(self.caller(f"refund-{self._refunds}"), self.charge_id, amount).row

    def delay_refund(self, delay: timedelta) -> None:
        """Have the payer's bank take `delay` to finish the latest refund."""
        operation = SimulatedOperation.objects.filter(reference=self.attempt.reference)
        operation.update(settles_at=clock.now() + delay)

    def look_up(self) -> None:
        """Have the worker look the latest attempt up."""
        recovery.resolve(self.attempt)
        self.reload()

    def look_up_in_vain(self) -> None:
        """Have the worker look the latest attempt up while the provider does not answer."""
        attempt = self.attempt
        attempt.tries += 1
        record_outcome.record(Caller.service(attempt.charge), attempt, Unknown("no answer in time"))

    def receive_message(self) -> None:
        """Have the worker receive what the simulator says about the latest attempt."""
        apply_simulator_messages(among=[self.attempt.reference])
        self.reload()

    def reload(self) -> None:
        """Read the charge again, after somebody other than the merchant changed it."""
        self.charge = self.attempt.charge

    def caller(self, request: str) -> Caller:
        """Return the merchant's program with one of the requests about this order."""
        return self.shop.caller(f"order-{self.purchase.number}-{request}")

    def card(self, number: str) -> dict[str, str]:
        """Return the card of a payer as typed."""
        return {
            "number": number,
            "name": self.payer_name(),
            "exp_month": f"{self.random.randint(1, 12):02}",
            "exp_year": str(clock.now().year + self.random.randint(2, 6)),
            "cvc": f"{self.random.randrange(1000):03}",
        }
