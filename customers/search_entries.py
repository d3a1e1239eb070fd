"""The search entries of customers."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from customers.models import Customer
from payments.models import SearchEntry
from payments.search.entries import Entry, entry
from payments.search.lexemes import at_most, end_lexeme, texts_in, words


def search_entries(ids: Sequence[UUID]) -> Iterator[Entry]:
    """Yield the entries of these customers; a deleted one has none."""
    for customer in Customer.objects.present().filter(pk__in=ids):
        texts = (customer.email, customer.mobile_number, customer.description, *texts_in(customer.metadata))
        lexemes = [end_lexeme(customer.pk.hex), *(lexeme for text in texts for lexeme in words(text))]
        yield entry(SearchEntry.Kind.CUSTOMER, customer, at_most(lexemes))
