import pytest
from django.test import RequestFactory

from payments.pages.browsers import browser_of

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("agent", "family"),
    [
        (CHROME, "Chrome"),
        (f"{CHROME} Edg/142.0.0.0", "Edge"),
        (f"{IPHONE} Version/19.0 Mobile/15E148 Safari/604.1", "Safari"),
        (f"{IPHONE} CriOS/142.0 Mobile/15E148 Safari/604.1", "Chrome"),
        ("curl/8.5.0", "another browser"),
        ("", "another browser"),
    ],
)
def test_a_browser_is_known_by_its_family(rf: RequestFactory, agent: str, family: str) -> None:
    assert browser_of(rf.get("/", headers={"User-Agent": agent})) == family
