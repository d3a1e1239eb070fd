"""Customers and what is kept for them, as the contract says: plain values, beside `model`."""

from dataclasses import dataclass, field

from tests.machine.model import Named, Source


@dataclass(eq=False)
class Customer(Named):
    """A customer; `name` is the ID, `sources` those kept now, newest first, `ever` all that were."""

    name: str
    sources: list[Source] = field(default_factory=list)
    ever: list[Source] = field(default_factory=list)
    is_deleted: bool = False

    def __repr__(self) -> str:
        return f"customer {self.name[-4:]}"

    def attach(self, source: Source) -> str:
        if self.is_deleted:
            return "resource_missing"
        if source.used:
            return "source_already_used"
        source.used = source.vaulted = True
        self.sources.insert(0, source)
        self.ever.append(source)
        return ""

    def detach(self, source: Source) -> str:
        if self.is_deleted or source not in self.sources:
            return "resource_missing"
        self.sources.remove(source)
        source.vaulted = False
        return ""

    def delete(self) -> str:
        if self.is_deleted:
            return "resource_missing"
        for source in [*self.sources]:
            self.detach(source)
        self.is_deleted = True
        return ""
