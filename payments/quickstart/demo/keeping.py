"""Customers, and the sources kept for them."""

from customers.domain import changes, keeping
from customers.models import Customer, CustomerSource
from payments.quickstart.demo import payers
from payments.quickstart.demo.story import Story


def keep(story: Story) -> CustomerSource:
    """A new customer of the story's shop, for whom the story's source is kept; returns the tie between them."""
    with story.telling():
        random, caller = story.shop.random, story.shop.caller()
        name = payers.name(random)
        customer = Customer(
            merchant=story.shop.merchant,
            livemode=False,
            email=payers.email(random, name),
            description=name,
            mobile_number=f"+63917{random.randrange(10**7):07}",  # nosec B311 # a demo has no secrets
        )
        customer.updated_at = customer.created_at
        customer.kept = []
        story.rows.add(customer)
        story.rows.take([changes.of_customer(caller, "customer.created", customer)])
        story.rows.take(keeping.keep(caller, customer, story.source), customer, story.source, story.source.card)
        return customer.kept[0]


def give_up(story: Story, tie: CustomerSource) -> None:
    """The source is kept for the customer no more, and its card data is destroyed."""
    with story.telling():
        caller, customer = story.shop.caller(), tie.customer
        customer.kept.remove(tie)
        story.rows.take(keeping.let_go(caller, tie), tie, tie.source, tie.source.card)
        story.rows.take(changes.change(caller, customer, "customer.updated"), customer)
