"""TLS to the checked address, under the name of the URL."""

import asyncio
import ssl
from pathlib import Path

import pytest

from payments.webhooks.transport.client import Transport
from payments.webhooks.transport.results import Answer, Failure
from tests.webhooks.transport.certificates import Certificate
from tests.webhooks.transport.receivers import BODY, HEADERS, Receiver, always, receiver, send


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return Certificate(tmp_path_factory.mktemp("tls"), "shop.example", "127.0.0.1")


def sent(certificate: Certificate, host: str, trust: ssl.SSLContext | None) -> tuple[Answer | Failure, Receiver]:
    async def try_it() -> tuple[Answer | Failure, Receiver]:
        certificate.names_asked.clear()
        async with receiver(tls=certificate.server()) as shop:
            return await send(f"https://{host}:{shop.port}/", resolve=always("127.0.0.1"), tls=trust), shop

    return asyncio.run(try_it())


def failure(certificate: Certificate, host: str, trust: ssl.SSLContext | None) -> Failure:
    result, shop = sent(certificate, host, trust)
    assert isinstance(result, Failure)
    assert shop.requests == []
    return result


def test_server_name_and_host_header_are_those_of_the_url(certificate: Certificate) -> None:
    result, shop = sent(certificate, "shop.example", certificate.client())
    assert isinstance(result, Answer)
    assert certificate.names_asked == ["shop.example"]
    assert shop.requests[0].headers["host"] == f"shop.example:{shop.port}"


def test_a_certificate_may_be_for_an_address(certificate: Certificate) -> None:
    result, _ = sent(certificate, "127.0.0.1", certificate.client())
    assert isinstance(result, Answer)


def test_a_certificate_for_another_name_is_refused(certificate: Certificate) -> None:
    result = failure(certificate, "other.example", certificate.client())
    assert result.kind == "tls_failed"
    assert "Hostname mismatch" in result.reason


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Certificate) -> None:
    assert failure(certificate, "shop.example", None).kind == "tls_failed"


def test_a_companys_own_authority_may_lack_extensions(tmp_path: Path) -> None:
    authority = Certificate(tmp_path, "Own authority")
    result, _ = sent(Certificate(tmp_path, "shop.example", issuer=authority), "shop.example", authority.client())
    assert isinstance(result, Answer)


def test_a_receiver_without_tls_is_refused_on_https(certificate: Certificate) -> None:
    def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def try_it() -> Answer | Failure:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return await send(f"https://127.0.0.1:{port}/", tls=certificate.client())

    result = asyncio.run(try_it())
    assert isinstance(result, Failure)
    assert result.kind == "tls_failed"


def test_two_names_on_one_address_never_share_a_connection(tmp_path: Path) -> None:
    certificate = Certificate(tmp_path, "one.example", "two.example")

    async def to_both() -> Receiver:
        async with (
            receiver(tls=certificate.server()) as shop,
            Transport(always("127.0.0.1"), certificate.client()) as transport,
        ):
            for name in ("one", "two", "one"):
                await transport.send(f"https://{name}.example:{shop.port}/", BODY, HEADERS, livemode=False)
        return shop

    shop = asyncio.run(to_both())
    assert (len(shop.requests), certificate.names_asked) == (3, ["one.example", "two.example"])


def test_a_name_that_decodes_to_nothing_fails_like_any_other(certificate: Certificate) -> None:
    result, _ = sent(certificate, "xn--a.example", certificate.client())
    assert isinstance(result, Failure)
    assert result.kind == "tls_failed"
