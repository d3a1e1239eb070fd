from typing import Any

from django.core.management.base import BaseCommand

from payments.domain.charging import expiry, recovery


class Command(BaseCommand):
    help = (
        "Releases holds after their 7 days, fails charges whose payer did not act within an hour, and deletes unused "
        "CVCs and card numbers. The worker does this by itself."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        holds = 0
        while released := expiry.void_expired_holds():
            holds += released
        actions = recovery.expire_actions()
        cvcs = expiry.destroy_unused_cvcs()
        numbers = expiry.destroy_unused_numbers()
        expiry.destroy_cvc_keys()
        self.stdout.write(
            f"Released {holds} holds, ended {actions} actions, destroyed {cvcs} CVCs and {numbers} card numbers."
        )
