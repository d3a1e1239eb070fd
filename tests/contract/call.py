"""One row of the tables of calls."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse

from tests.client import Api
from tests.contract.shapes import Schema

Asked = tuple[str, Any]


@dataclass(frozen=True, eq=False)
class Call:
    """One row: the method, what makes the path and body of a request that succeeds, and how that is answered.

    A restricted key needs `further_right` besides the one that the view names.
    """

    method: str
    prepare: Callable[[Api], Asked]
    status: int
    shape: Schema
    further_right: str = ""

    def make(self, api: Api, path: str, body: Any, **headers: str) -> HttpResponse:
        return api.send(self.method, path, body, headers)


def about(
    path: str, make: Callable[[Api], dict[str, Any]], ending: str = "", body: Any = None
) -> Callable[[Api], Asked]:
    """Return what prepares a call about a new object of a list."""
    return lambda api: (f"/{path}/{make(api)['id']}{ending}", body)


def at(path: str, body: Any = None) -> Callable[[Api], Asked]:
    """Return what prepares a call about a list."""
    return lambda api: (f"/{path}", body)
