"""Reads the answer of a receiver that says 204, "no content", and sends some nevertheless.

RFC 9110 forbids it, some frameworks do it, and to aiohttp's parser the content is the garbled head of another answer.
But the receiver has taken the event.
"""

import functools
import re
from typing import Any, cast

import aiohttp
from aiohttp.client_proto import ResponseHandler

NO_CONTENT = (b"HTTP/1.1 204", b"HTTP/1.0 204")
HEAD_END = b"\r\n\r\n"
CONTENT_TO_COME = re.compile(rb"\r\n(?:content-length:[ \t]*0*[1-9]|transfer-encoding:)", re.IGNORECASE)


class AnswerReader(ResponseHandler):
    """One connection, which is closed after such an answer, because what comes next on it may be content still."""

    def data_received(self, data: bytes) -> None:
        if data.startswith(NO_CONTENT):
            data = self._without_content(data)
        super().data_received(data)

    def _without_content(self, data: bytes) -> bytes:
        head, end, content = data.partition(HEAD_END)
        if content or CONTENT_TO_COME.search(head):
            self.force_close()
        return head + end


class Connector(aiohttp.TCPConnector):
    """aiohttp's own, with such readers. It has no other place to name them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory = cast(functools.partial[ResponseHandler], functools.partial(AnswerReader, loop=self._loop))
