"""Files in forms: no page takes one, and Django would write each to the disk first, whoever sent it."""

from typing import Any, NoReturn

from django.core.exceptions import SuspiciousMultipartForm
from django.core.files.uploadhandler import FileUploadHandler


class NoFiles(FileUploadHandler):
    """Ends the reading of a form where a file begins, which is answered with 400."""

    def new_file(self, *_: Any, **__: Any) -> NoReturn:
        raise SuspiciousMultipartForm("No page takes files.")
