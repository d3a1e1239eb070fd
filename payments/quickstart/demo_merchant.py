"""The demo merchant, its payment link, its owner and the admin, and the file that remembers what is shown of them.

The database has secret keys as digests only, so the file is the one place where a later start finds them.
"""

import json
import secrets
import tempfile
from pathlib import Path

from django.contrib.auth import get_user_model

from payments import clock
from payments.domain.checkout import links
from payments.domain.merchants import merchants
from payments.domain.merchants.api_keys import create_key, key_digest
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.ids import parse_id, public_id
from payments.models import ApiKey, Merchant, MerchantAccess, PaymentLink
from payments.quickstart.demo import payouts
from payments.quickstart.payment import LINK, OFFER

TITLE = "Demo Shop"
# Their user names, and what begins what is kept of each.
ADMIN, OWNER = "admin", "owner"


def keep(file: Path) -> None:
    """Make what is missing of merchant, link, keys and users, and write all of it to the file, for its owner only.

    The file holds `merchant` (its ID), `sk_test`, `pk_test`, `sk_live`, `pk_live`, `whsec_test`, `admin_user`,
    `admin_password`, and of an owner of the merchant `owner_user` and `owner_password`.
    """
    known: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    merchant_id = parse_id("mer", known.get("merchant", ""))
    merchant = Merchant.objects.filter(id=merchant_id).first() if merchant_id else None
    shown = (_working_keys(merchant, known) if merchant else _new_merchant()) | _user(ADMIN, known)
    merchant = merchants.find_merchant(shown["merchant"])
    if not PaymentLink.objects.filter(short=LINK).exists():
        caller = Caller(merchant.id, livemode=False)
        links.create(caller, merchant, OFFER, lambda _: StoredAnswer(201, b""), short=LINK)
    shown |= _user(OWNER, known)
    owner = get_user_model().objects.get(username=shown["owner_user"])
    given = {"role": MerchantAccess.Role.OWNER, "name": owner.get_full_name()}
    MerchantAccess.objects.get_or_create(user=owner, merchant=merchant, defaults=given)
    if known != shown:
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as new:
            json.dump(shown, new, indent=2)
        Path(new.name).replace(file)


def _new_merchant() -> dict[str, str]:
    made = merchants.create_merchant(TITLE)
    payouts.set_up(made.merchant)
    whsec_test = made.webhook_secrets["whsec_test"]
    return {"merchant": public_id("mer", made.merchant.id), **made.keys, "whsec_test": whsec_test}


def _working_keys(merchant: Merchant, known: dict[str, str]) -> dict[str, str]:
    """Return the known keys, with a new one in place of each that was revoked or has expired since."""
    shown = {"merchant": known["merchant"]}
    for mode, livemode in merchants.MODES.items():
        for prefix, kind in merchants.KINDS.items():
            text = known.get(f"{prefix}_{mode}", "")
            key = ApiKey.objects.filter(digest=key_digest(text), revoked_at=None).first()
            works = key and (key.expires_at is None or key.expires_at > clock.now())
            shown[f"{prefix}_{mode}"] = text if works else create_key(merchant, livemode, kind)[1]
    return shown | {"whsec_test": merchants.reveal_webhook_secret(merchant.id, livemode=False)}


def _user(kind: str, known: dict[str, str]) -> dict[str, str]:
    """Return the known admin or owner, or a new one where that is gone."""
    users = get_user_model().objects
    if users.filter(username=known.get(f"{kind}_user", "")).exists():
        return {name: known[name] for name in (f"{kind}_user", f"{kind}_password")}
    name = f"{kind}-{secrets.token_hex(3)}" if users.filter(username=kind).exists() else kind
    password = secrets.token_urlsafe(15)
    if kind == ADMIN:
        users.create_superuser(name, email="", password=password)
    else:
        users.create_user(name, email="", password=password, first_name="Nena", last_name="Magsino")
    return {f"{kind}_user": name, f"{kind}_password": password}
