"""The exchange of one message by the `mcp` package, whose handlers run in the thread of the request."""

import asyncio
import logging
from collections.abc import Callable, Mapping, MutableMapping
from functools import wraps
from http import HTTPStatus
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.http import HttpResponse
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CLIENT_INFO_META_KEY,
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)
from rest_framework.request import Request

from payments.api.validation.parsers import MAX_BODY_BYTES
from payments.json_codecs.verbatim_json import loads, to_bytes
from payments.mcp.calls import INSTRUCTIONS, Asked, call, tools_of
from payments.mcp.messages import NO_MESSAGE, NoMessage, as_read, known_id, require_list_allowed
from payments.models import ApiKey
from payments.sensitive_data.redaction import redact_all, redact_bytes

logger = logging.getLogger("kaha.mcp")

Message = MutableMapping[str, Any]
WRONG_HERE = "Something is wrong on our side."
# The body was read as JSON by then, and is answered so, whatever a program says that it takes.
JSON = b"application/json"


def answer(request: Request, key: ApiKey) -> HttpResponse:
    """Return the answer to the message, or to the list of them, in the body of a request that `key` signed."""
    if not isinstance(request.data, list):
        status, body = _answer(request, key, request.data)
        return _response(body, status)
    try:
        require_list_allowed(request.data, request.headers.get("MCP-Protocol-Version", ""))
    except NoMessage as fault:
        return _response(_refused(None, fault), HTTPStatus.BAD_REQUEST)
    bodies = [body for _, body in (_answer(request, key, message) for message in request.data) if body]
    return _response(b"[%b]" % b",".join(bodies), HTTPStatus.OK) if bodies else _response(b"", HTTPStatus.ACCEPTED)


def _answer(request: Request, key: ApiKey, message: Any) -> tuple[int, bytes]:
    try:
        read = as_read(message)
    except NoMessage as fault:
        return HTTPStatus.BAD_REQUEST, _refused(known_id(message), fault)
    start, body = async_to_sync(_exchange)(_server(request, key), _scope(request), to_bytes(read))
    return start["status"], _redacted(body, start["status"])


def _refused(of: str | int | None, fault: NoMessage) -> bytes:
    return to_bytes({"jsonrpc": "2.0", "id": of, "error": {"code": NO_MESSAGE, "message": str(fault)}})


def _response(body: bytes, status: int) -> HttpResponse:
    return HttpResponse(body, "application/json", status, headers={"Cache-Control": "no-store"})


def _redacted(body: bytes, status: int) -> bytes:
    """Return the body without card numbers and keys where it is an error, which may repeat what was sent."""
    if status < HTTPStatus.BAD_REQUEST and b'"error"' not in body:
        return body
    try:
        message = loads(body.decode())
    except ValueError:
        return redact_bytes(body)
    if isinstance(message, dict) and "error" in message:
        # The client knows the answer by its ID, which stays as it is.
        return to_bytes(message | {"error": redact_all(message["error"])})
    return body if status < HTTPStatus.BAD_REQUEST else to_bytes(redact_all(message))


async def _exchange(server: Server[Any], scope: Message, body: bytes) -> tuple[Message, bytes]:
    sent: list[Message] = []
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        # The client's leaving is the web server's to see.
        return parts.pop() if parts else await asyncio.get_running_loop().create_future()

    async def send(message: Message) -> None:
        sent.append(message)

    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=2 * MAX_BODY_BYTES
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
    return sent[0], b"".join(message.get("body", b"") for message in sent[1:])


def _scope(request: Request) -> Message:
    names = [name for name in request.headers if name.lower().startswith("mcp-")]
    headers = [(name.lower().encode(), request.headers[name].encode("latin-1", "replace")) for name in names]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": request.scheme,
        "method": "POST",
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": b"",
        "headers": [(b"accept", JSON), (b"content-type", JSON), *headers],
    }


def _server(request: Request, key: ApiKey) -> Server[Any]:
    def client_of(context: Any) -> str:
        # Before 2026-07-28 a client says its name when it begins, which no session keeps here.
        said = (context.meta or {}).get(CLIENT_INFO_META_KEY)
        name = said.get("name") if isinstance(said, Mapping) else None
        return str(name or request.headers.get("User-Agent", ""))

    @_in_own_words
    async def list_tools(*_: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_shown(tool) for tool in await sync_to_async(tools_of)(key)])

    @_in_own_words
    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        asked = Asked(request, key, client_of(context))
        text, is_error = await sync_to_async(call)(asked, params.name, params.arguments or {})
        return CallToolResult(content=[TextContent(text=text)], is_error=is_error)

    return Server("kaha", instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def _in_own_words(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler whose failures reach the client without their texts."""

    @wraps(handler)
    async def handle(*given: Any) -> Any:
        try:
            return await handler(*given)
        except Exception:
            logger.exception("a message failed")
            raise MCPError(INTERNAL_ERROR, WRONG_HERE) from None

    return handle


def _shown(tool: Any) -> Tool:
    hints = ToolAnnotations(read_only_hint=not tool.moves_money, destructive_hint=tool.moves_money)
    return Tool(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints)
