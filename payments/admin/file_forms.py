"""Forms with a file, which is kept in memory: nothing is written to a disk unsealed."""

from collections.abc import Callable
from io import BytesIO
from typing import Any, cast

from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from payments.concurrency.long_bodies import LONG_FORM, LongForm, Uploads

# What a form adds to its file.
FORM_BYTES = 64 * 1024


class InMemory(FileUploadHandler):
    """Keeps a file in memory, at most one byte more than `most_bytes`."""

    def __init__(self, request: HttpRequest, most_bytes: int) -> None:
        super().__init__(request)
        self.most_bytes = most_bytes

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.kept = bytearray()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.kept += raw_data[: self.most_bytes + 1 - len(self.kept)]

    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        name, kind = self.file_name or "file", self.content_type or ""
        return InMemoryUploadedFile(BytesIO(self.kept), self.field_name, name, kind, file_size, self.charset)


def takes_file(
    view: Callable[..., HttpResponse], site: Any, permission: str, uploads: Uploads
) -> Callable[..., HttpResponse]:
    """Return a view of `site` whose form has a file: the web server reads it for those with `permission`, and no other.

    The view is exempt from the check of the form's token, which `with_file` makes.
    """
    exempt: Any = csrf_exempt(view)
    vars(exempt)[LONG_FORM] = LongForm(uploads, permission, site.prefix)
    return cast(Callable[..., HttpResponse], exempt)


def is_too_long(request: HttpRequest, most_bytes: int) -> bool:
    """Return whether a form is longer than one with a file of `most_bytes`: its body was not read, so it has no token.

    Nothing may be done then but to say so.
    """
    stated = request.META.get("CONTENT_LENGTH") or "0"
    return request.method == "POST" and stated.isdigit() and int(stated) > most_bytes + FORM_BYTES


def with_file(
    request: HttpRequest, site: Any, most_bytes: int, view: Callable[[HttpRequest], HttpResponse]
) -> HttpResponse:
    """Return the response of `view`, which may read a file of the form of a page of `site`.

    The form's token, and whose it is, are checked here, after the upload handler is set: the outer view must be exempt.
    """
    request.upload_handlers = [InMemory(request, most_bytes)]
    return csrf_protect(lambda request: site.refusal_of(request) or view(request))(request)
