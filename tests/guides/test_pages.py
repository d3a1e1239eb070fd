"""The guides as the service shows them, and their pictures."""

import re
from html.parser import HTMLParser
from operator import attrgetter

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from pytest_django.fixtures import Settings

from payments.api.guides import markdown, views
from payments.api.guides.contents import CONTENTS, NAMES
from payments.api.guides.markdown import PLACEHOLDER
from payments.health.table import JUDGED
from tests.figures.back_office.picture import MOST_BYTES, PICTURES
from tests.guides.texts import FOLDER, GUIDES, ROOT, TEXTS

LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)]+)\)")
PRODUCT = ("config", "customers", "payments", "templates")
TO_GUIDE = re.compile(r"/docs/[a-z-]+(?:/[a-z-]+)*(?:#[a-z-]+)?(?![\w/{.*-])")
ELSEWHERE = ("/", "/docs", "/admin/")
PAGES = ["/docs/guides", *(f"/docs/{name}" for name in GUIDES)]


def links_of_the_product() -> set[str]:
    """Return the links to guides that are written out in its programs and templates."""
    files = [file for folder in PRODUCT for end in ("py", "html", "js") for file in (ROOT / folder).rglob(f"*.{end}")]
    return {link for file in files for link in TO_GUIDE.findall(file.read_text())}


class Page(HTMLParser):
    """What a page names: its anchors, links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.inline: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if tag == "a" else []
        self.loaded += [values.get("src") or values["href"]] if tag in ("img", "link", "script") else []
        self.inline += [name for name in values if name == "style" or name.startswith("on")]
        self.inline += [tag] if tag == "style" or (tag == "script" and "src" not in values) else []


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    return {path: Page(text_at(path)) for path in PAGES}


def text_at(path: str) -> str:
    response = Client().get(path)
    assert (response.status_code, response["Content-Type"]) == (200, "text/html; charset=utf-8")
    return response.content.decode()


def test_the_list_of_contents_has_each_guide_once() -> None:
    assert sorted(NAMES) == GUIDES == sorted({name for guides in CONTENTS.values() for name in guides})
    assert "guides" not in GUIDES, "that is where the list is"


@pytest.mark.long
@pytest.mark.parametrize("path", PAGES)
def test_a_page_leads_to_every_guide_and_to_the_reference(path: str, pages: dict[str, Page]) -> None:
    assert {"/docs", "/docs/guides", *(f"/docs/{name}" for name in GUIDES)} <= set(pages[path].links)


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_lists_its_headings(name: str, pages: dict[str, Page]) -> None:
    page = pages[f"/docs/{name}"]
    headings = re.findall(r"^## .+$", re.sub(r"```.*?```", "", (FOLDER / f"{name}.md").read_text(), flags=re.S), re.M)
    assert len([link for link in page.links if link.startswith("#") and link != "#here"]) >= len(headings)
    assert len(page.anchors) == len(set(page.anchors))


def test_the_search_knows_each_section_of_each_guide_and_of_the_reference(pages: dict[str, Page]) -> None:
    addresses = [address for address, *_ in Client().get("/docs/search.json").json()]
    assert len(addresses) == len(set(addresses))
    found = {(address.partition("#")[0], address.partition("#")[2]) for address in addresses}
    sections = {
        (f"/docs/{name}", link[1:])
        for name in GUIDES
        for link in pages[f"/docs/{name}"].links
        if link.startswith("#") and link not in ("#contents", "#here")
    }
    assert sections <= found
    assert {("/docs", "refund_charge"), ("/docs", "object-Charge"), ("/docs", "errors")} <= found


@pytest.mark.long
@pytest.mark.parametrize("path", ["/docs/guides/", "/docs/webhooks/"])
def test_a_page_is_there_with_a_slash_too(path: str) -> None:
    assert text_at(path) == text_at(path.rstrip("/"))


@pytest.mark.parametrize("path", ["/docs/no-such-guide", "/docs/../settings", "/docs/guides/nothing.md", "/docs/a/b"])
def test_there_is_nothing_else(path: str) -> None:
    assert Client().get(path).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        *(
            f"/docs/{name}"
            for name in ("guides/webhooks", "webhooks.md", "guides/webhooks.md/", "Webhooks", "WEBHOOKS.MD")
        ),
        *("/docs/guides/Webhooks.md", "/docs/guides/webhooks/"),
    ],
)
def test_other_spellings_of_a_guide_lead_to_it(path: str) -> None:
    response = Client().get(path)
    assert (response.status_code, response["Location"]) == (301, "/docs/webhooks")


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_is_found_below_the_list_too(name: str) -> None:
    assert Client().get(f"/docs/guides/{name}.md")["Location"] == f"/docs/{name}"


@pytest.mark.long
def test_a_name_that_no_guide_has_is_answered_with_the_guides() -> None:
    response = Client().get("/docs/guides/no-such-guide", headers={"Accept": "text/html"})
    assert response.status_code == 404
    assert "There is no guide at this address" in response.content.decode()
    assert {f"/docs/{name}" for name in GUIDES} <= set(Page(response.content.decode()).links)
    message = Client().get("/docs/guides/no-such-guide").json()["error"]["message"]
    assert all(name in message for name in GUIDES)


def test_the_list_itself_is_found_by_other_spellings() -> None:
    assert [Client().get(path)["Location"] for path in ("/docs/Guides", "/docs/guides.md")] == ["/docs/guides"] * 2


@pytest.mark.parametrize("path", PAGES)
def test_each_link_of_a_page_leads_somewhere(path: str, pages: dict[str, Page]) -> None:
    for link in pages[path].links:
        # Each picture is looked for by a test of its own.
        if link.startswith(("https://", "http://", settings.STATIC_URL)):
            continue
        page, _, anchor = link.partition("#")
        target = pages[page or path] if page not in ELSEWHERE else None
        assert not anchor or (target and anchor in target.anchors), link


@pytest.mark.parametrize("link", sorted({*map(attrgetter("guide"), JUDGED), *links_of_the_product()}))
def test_each_link_of_the_product_to_a_guide_leads_to_it(link: str, pages: dict[str, Page]) -> None:
    page, _, anchor = link.partition("#")
    assert page in pages
    assert not anchor or anchor in pages[page].anchors


@pytest.mark.parametrize("name", TEXTS)
def test_each_link_leads_somewhere_in_the_repository(name: str) -> None:
    for link in LINK.findall(TEXTS[name]):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        target = (ROOT / name).parent / file if file else ROOT / name
        assert target.exists(), link
        headings = re.findall(r"^#+ (.+)$", target.read_text(), re.M) if anchor else []
        assert not anchor or anchor in map(markdown.anchor_of, headings), link


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_links_to_guides_and_other_sites_only(name: str) -> None:
    """Other files are in the repository and not on the service."""
    links = LINK.findall((FOLDER / f"{name}.md").read_text())
    assert [link for link in links if not re.match(r"https://|#|[a-z-]+\.md(#|$)", link)] == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_loads_only_what_the_service_has(path: str, pages: dict[str, Page]) -> None:
    for address in pages[path].loaded:
        assert address == "data:," or finders.find(address.removeprefix("/static/")), address


@pytest.mark.long
@pytest.mark.parametrize("path", PAGES)
def test_a_page_runs_and_styles_nothing_inline(path: str, pages: dict[str, Page]) -> None:
    assert pages[path].inline == []
    policy = Client().get(path)["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.long
def test_the_services_own_address_is_filled_in(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://pay.shop.example"
    text = text_at("/docs/first-payment")
    assert "KAHA_URL=https://pay.shop.example KAHA_KEY=" in text
    assert 'href="https://pay.shop.example/docs"' in text
    assert PLACEHOLDER not in text


def test_html_in_a_guide_is_shown_and_not_obeyed(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.md").write_text("# T\n\n<script>alert(1)</script> <b onclick=x>b</b>\n\n[a](javascript:alert(1))\n")
    monkeypatch.setattr(markdown, "FOLDER", tmp_path)
    html = markdown.read_guide("x", 'https://"><script>').html
    assert "<script" not in html
    assert "<b " not in html
    assert "href=" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


@pytest.mark.long
def test_a_page_is_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text_at("/docs/webhooks")
    monkeypatch.setattr(views, "render_to_string", None)
    assert "Webhooks and receivers" in text_at("/docs/webhooks")


@pytest.mark.long
def test_caches_may_keep_a_page() -> None:
    assert Client().get("/docs/webhooks")["Cache-Control"] == "public, max-age=300"


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_a_page_is_only_read(method: str) -> None:
    assert getattr(Client(), method)("/docs/webhooks").status_code == 405


@pytest.mark.long
def test_one_address_reads_so_many_pages(settings: Settings) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "2/year"
    reader, other = Client(REMOTE_ADDR="192.0.2.1"), Client(REMOTE_ADDR="192.0.2.2")
    assert [reader.get("/docs/webhooks").status_code for _ in range(3)] == [200, 200, 429]
    refused = reader.get("/docs/guides")
    assert (refused.status_code, 0 < int(refused["Retry-After"]) <= 360 * 86_400) == (429, True)
    assert other.get("/docs/webhooks").status_code == 200


def test_the_start_page_knows_a_back_office_on_a_host_of_its_own(client: Client, settings: Settings) -> None:
    settings.ADMIN_HOST, settings.ADMIN_ORIGIN = "office.example", "https://office.example"
    assert 'href="https://office.example/admin/"' in client.get("/", headers={"Accept": "text/html"}).content.decode()


SHOWN = {name for text in TEXTS.values() for name in re.findall(r"/static/docs/screenshots/([a-z-]+\.webp)", text)}


def test_each_picture_is_shown_and_each_that_is_shown_is_there() -> None:
    assert sorted(path.name for path in PICTURES.iterdir()) == sorted(SHOWN)


def test_each_picture_loads_quickly() -> None:
    assert [path.name for path in PICTURES.iterdir() if path.stat().st_size > MOST_BYTES] == []
