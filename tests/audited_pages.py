"""Whatever a page of the admin changes in a test, it must also have added to the audit log."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.signals import request_finished, request_started
from django.db import connection

WRITE = re.compile(r'\s*(?:WITH\b.*?)?\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+"?(\w+)"?', re.IGNORECASE | re.DOTALL)
SAVEPOINT = re.compile(r'(SAVEPOINT|ROLLBACK TO SAVEPOINT)\s+"?(\w+)"?')
LOG = "payments_auditentry"
# Of the page itself, of who is signing in, of what an operator has set for themselves, and copies of what is known.
OWN = re.compile(
    r"django_session|mfa_|account_|usersessions_|payments_(?:savedview|searchentry|notification)"
    r"|payments_staff_|staff_|payments_datakey|simulator_|auth_user$"
)


class Writes:
    """The tables that the present request has written to, without what was rolled back."""

    def __init__(self) -> None:
        self.request = ""
        self.made: list[str] = []

    def begin(self, environ: dict[str, Any] | None = None, **_: Any) -> None:
        is_page = environ and environ.get("REQUEST_METHOD") == "POST" and environ["PATH_INFO"].startswith("/admin/")
        self.request, self.made = environ["PATH_INFO"] if environ and is_page else "", []

    def end(self, **_: Any) -> None:
        request, made = self.request, [table for table in self.made if not table.startswith(":")]
        self.request = ""
        changed = {table for table in made if not OWN.search(table)} - {LOG}
        assert not (request and changed) or LOG in made, f"{request} changed {sorted(changed)}, and recorded nothing"

    def note(self, execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        text = sql if isinstance(sql, str) else str(sql)
        if self.request and (mark := SAVEPOINT.match(text)):
            self._mark(*mark.groups())
        elif self.request and (found := WRITE.match(text)):
            self.made.append(found.group(1))
        return execute(sql, params, many, context)

    def _mark(self, step: str, name: str) -> None:
        if step == "SAVEPOINT":
            self.made.append(f":{name}")
        elif f":{name}" in self.made:
            del self.made[self.made.index(f":{name}") :]


@contextmanager
def audited_pages() -> Iterator[None]:
    """Fail where a POST to a page of the admin changes a row and adds nothing to the audit log."""
    writes = Writes()
    request_started.connect(writes.begin)
    request_finished.connect(writes.end)
    try:
        with connection.execute_wrapper(writes.note):
            yield
    finally:
        request_started.disconnect(writes.begin)
        request_finished.disconnect(writes.end)
