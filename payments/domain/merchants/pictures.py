"""A merchant's logo and icon: made anew of what was sent, and kept under an address that comes of the content."""

from hashlib import sha256
from pathlib import Path
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from payments import clock, context
from payments.concurrency.bounded_process import Ended, HostBusy, output_of
from payments.concurrency.connections import release_connection
from payments.concurrency.fair_queue import BriefQueue
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.merchants import picture_file
from payments.models import BrandPicture, Merchant

SIZE_MAX = 512 * 1024
SECONDS = 10
# In each process one file is opened at once: no merchant's pictures keep the pages of others waiting.
OPENING = BriefQueue(most_waiting=4, seconds=SECONDS)
TOO_LARGE = _("The file is larger than 512 KB. Save the picture smaller, 512 pixels wide for example.")
UNREADABLE = _(
    "This is no PNG, JPEG or WebP that can be read. Save the picture as a PNG and send that; an SVG too has to be "
    "saved as a PNG."
)


class BadPicture(Exception):
    """A file cannot become a picture; the message says what to do instead, beside `field`."""

    field = "file"


def set_picture(merchant: Merchant, name: str, file: bytes | None) -> None:
    """Show what is in `file` as the `logo` or the `icon` of a merchant; nothing any more for None. Raise BadPicture."""
    content = _png_of(file, merchant.pk) if file else b""
    picture_id = UUID(bytes=sha256(merchant.pk.bytes + content).digest()[:16]) if content else None
    with transaction.atomic():
        # Of two at once, the later one stands.
        row = Merchant.objects.select_for_update(no_key=True).get(pk=merchant.pk)
        if picture_id:
            BrandPicture.objects.get_or_create(id=picture_id, defaults={"merchant": row, "content": content})
        setattr(row, name, picture_id)
        if name == "logo":
            row.branding = row.branding | {"use_logo": bool(content)}
        row.updated_at = clock.now()
        row.save(update_fields=[name, "branding", "updated_at"])
        BrandPicture.objects.filter(merchant=row).exclude(id__in=[row.logo, row.icon]).delete()
        audit_log.record(Action.CHANGED, row, fields=[name], detail="" if content else "removed")


def _png_of(file: bytes, sender: UUID) -> bytes:
    if len(file) > SIZE_MAX:
        raise BadPicture(TOO_LARGE)
    try:
        with OPENING.turn(sender, _busy, _begin_wait):
            content = output_of(Path(picture_file.__file__), file, SECONDS)
    except Ended:
        raise BadPicture(UNREADABLE) from None
    except HostBusy:
        raise _busy() from None
    if not content:
        raise BadPicture(_("The picture has more than 9 million pixels. Make it at most 3,000 pixels wide and high."))
    return content


def _begin_wait() -> None:
    context.begin_wait()
    release_connection()


def _busy() -> BadPicture:
    return BadPicture(_("No picture can be read just now, and nothing is changed. Send yours again in a moment."))
