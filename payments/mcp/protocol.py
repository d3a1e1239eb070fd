"""The exchange of one message by the `mcp` package, whose handlers run in the thread of the request."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.http import HttpResponse
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    CLIENT_INFO_META_KEY,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)
from rest_framework.request import Request

from payments.api.validation.parsers import MAX_BODY_BYTES
from payments.json_codecs.verbatim_json import to_bytes
from payments.mcp.calls import INSTRUCTIONS, Asked, call, tools_of
from payments.models import ApiKey

Message = MutableMapping[str, Any]
# Of the request's headers, those that the protocol reads.
HEADERS = ("accept", "content-type", "user-agent")


def answer(request: Request, key: ApiKey) -> HttpResponse:
    """Return the answer to the message in the body of a request that `key` signed."""
    start, body = async_to_sync(_exchange)(_server(request, key), _scope(request), to_bytes(request.data))
    headers = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    headers.pop("content-length", None)
    return HttpResponse(body, status=start["status"], headers={"Cache-Control": "no-store", **headers})


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
    names = [name for name in request.headers if name.lower() in HEADERS or name.lower().startswith("mcp-")]
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
        "headers": headers,
    }


def _server(request: Request, key: ApiKey) -> Server[Any]:
    def client_of(context: Any) -> str:
        # Before 2026-07-28 a client says its name when it begins, which no session keeps here.
        said = (context.meta or {}).get(CLIENT_INFO_META_KEY) or {}
        return str(said.get("name") or request.headers.get("User-Agent", ""))

    async def list_tools(*_: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_shown(tool) for tool in await sync_to_async(tools_of)(key)])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        asked = Asked(request, key, client_of(context))
        text, is_error = await sync_to_async(call)(asked, params.name, params.arguments or {})
        return CallToolResult(content=[TextContent(text=text)], is_error=is_error)

    return Server("kaha", instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def _shown(tool: Any) -> Tool:
    hints = ToolAnnotations(read_only_hint=not tool.moves_money, destructive_hint=tool.moves_money)
    return Tool(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints)
