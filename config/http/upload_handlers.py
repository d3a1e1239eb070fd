"""Upload handlers: two pages accept files, and Django would write others to disk before a view could refuse them."""

from typing import Any, NoReturn

from django.core.exceptions import SuspiciousMultipartForm
from django.core.files.uploadhandler import FileUploadHandler


class RefuseFiles(FileUploadHandler):
    """Stop reading a form where a file begins, which is answered with 400."""

    def new_file(self, *_: Any, **__: Any) -> NoReturn:
        raise SuspiciousMultipartForm("This page takes no files.")
