"""What the quickstart shows when it is ready."""

import json
import os
import re
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from payments.quickstart.payment import CARD, LINK, Step
from payments.quickstart.ports import HOST

USERS = ("admin_user", "admin_password", "owner_user", "owner_password")
KEY_NAMES = ("sk_test", "pk_test", "sk_live", "pk_live", "whsec_test")
MIDDLE_OF_AN_ID = re.compile(r"(?<=ch_)[0-9a-f]{26}(?=[0-9a-f]{6})")
SPACED = " ".join(CARD["number"][place : place + 4] for place in range(0, 16, 4))
BOLD, PLAIN = "\033[1m", "\033[0m"


@dataclass(frozen=True)
class Ready:
    """What there is to show: `demo` is the content of the demo file, `folders` has what is in each."""

    port: int
    demo: dict[str, str]
    folders: dict[Path, str]

    @property
    def api(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def checkout(self) -> str:
        """Return the address of a page where anybody can pay."""
        return f"{self.api}/links/{LINK}"


def as_json(ready: Ready) -> str:
    """Return all of it in one line, for a program."""
    addresses = {"api": ready.api, "admin": f"{ready.api}/admin/", "docs": f"{ready.api}/docs"}
    addresses |= {"dashboard": f"{ready.api}/merchant/", "checkout": ready.checkout}
    demo = {name: ready.demo[name] for name in (*USERS, "merchant", *KEY_NAMES)}
    return json.dumps({**addresses, **demo, "pid": os.getpid(), "data_dirs": [str(path) for path in ready.folders]})


def payment_lines(steps: Iterable[Step]) -> list[str]:
    """Return the calls of the first payment, in columns."""
    rows = [(step.method, MIDDLE_OF_AN_ID.sub("...", step.path), step.status, step.meaning) for step in steps]
    width = max(len(path) for _, path, _, _ in rows)
    return [f"  {method:4}  {path:{width}}  {status}  {meaning}" for method, path, status, meaning in rows]


def ready_lines(ready: Ready) -> list[str]:
    """Return addresses, keys, folders, and what to try next."""
    demo = ready.demo
    width = max(len(str(folder)) for folder in ready.folders)
    folders = [f"{folder!s:{width}}  {what}" for folder, what in ready.folders.items()]
    return [
        heading("kaha is ready; Ctrl-C stops all of it"),
        f"  Start here  {ready.api}/",
        f"  Back office {ready.api}/admin/  user {demo['admin_user']}, password {demo['admin_password']}",
        f"  Dashboard   {ready.api}/merchant/  user {demo['owner_user']}, password {demo['owner_password']}",
        f"  Pay         {ready.checkout}  card {SPACED}, any date to come, any code",
        f"  API         {ready.api}/v2/, described at {ready.api}/docs",
        *(f"  {'' if number else 'Data':10}  {folder}" for number, folder in enumerate(folders)),
        f"  Commands    KAHA_DATA={shlex.quote(str(next(iter(ready.folders))))} .uv/bin/uv run manage.py help",
        "",
        heading(f"Keys of Demo Shop, {demo['merchant']}"),
        *(f"  {name:10}  {demo[name]}" for name in KEY_NAMES),
        "",
        heading("Take a payment yourself: paste these lines"),
        *curl_lines(ready),
    ]


def curl_lines(ready: Ready) -> list[str]:
    """Return commands for a shell that take a payment and list the newest."""
    source = json.dumps({"type": "card", "card": CARD})
    as_type = "-H 'Content-Type: application/json'"
    return [
        f"  export KAHA_URL={ready.api} KAHA_KEY={ready.demo['sk_test']}",
        f"  SOURCE=$(curl -s $KAHA_URL/v2/sources/ -u $KAHA_KEY: {as_type} \\",
        f"    -d '{source}' \\",
        "    | grep -o 'src_[0-9a-f]*' | head -n 1)",
        f"  curl -s $KAHA_URL/v2/charges/ -u $KAHA_KEY: {as_type} \\",
        '    -d \'{"amount": 50000, "description": "Order 1002", "source": "\'$SOURCE\'"}\'; echo',
        '  curl -s "$KAHA_URL/v2/charges/?limit=2" -u $KAHA_KEY:; echo',
    ]


def heading(text: str) -> str:
    """Return a line that stands out, on a terminal."""
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        return f"{BOLD}{text}{PLAIN}"
    return text
