"""A merchant's logo and icon: made anew of what was sent, shown to anybody, and gone when they are replaced."""

import resource
from io import BytesIO
from random import Random

import pytest
from django.test import Client
from PIL import Image, PngImagePlugin
from pytest_django.fixtures import Settings

from payments.domain.merchants import pictures
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.pictures import SIZE_MAX, BadPicture, set_picture
from payments.models import BrandPicture, Merchant
from payments.rendering.brand import own_branding
from tests.client import Api, made
from tests.concurrency import at_once
from tests.providers.evidence import image

pytestmark = pytest.mark.django_db
SECRET = b"4242 4242 4242 4242"


def shown(client: Client, merchant: Merchant, name: str = "logo") -> Image.Image:
    """Return what a browser loads as the picture of a merchant."""
    merchant.refresh_from_db()
    answer = client.get(own_branding(merchant)[name])
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    return Image.open(BytesIO(answer.content))


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    file = BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def test_a_logo_is_shown_to_anybody_and_may_be_kept_because_its_address_names_its_content(
    client: Client, api: Api, shop: NewMerchant
) -> None:
    set_picture(shop.merchant, "logo", image("PNG", (1200, 300)))
    branding = made(api.get("/me"))["branding"]
    assert (branding["use_logo"], branding["icon"]) == (True, None)
    answer = client.get(branding["logo"])
    assert answer["Cache-Control"] == "public, max-age=31536000, immutable"
    assert (answer["X-Content-Type-Options"], answer["Cross-Origin-Resource-Policy"]) == ("nosniff", "cross-origin")
    assert not answer.cookies
    assert shown(client, shop.merchant).size == (512, 128)
    set_picture(shop.merchant, "logo", image("PNG", (100, 100)))
    assert client.get(branding["logo"]).status_code == 404
    assert shown(client, shop.merchant).size == (100, 100)
    set_picture(shop.merchant, "logo", None)
    branding = made(api.get("/me"))["branding"]
    assert (branding["use_logo"], branding["logo"]) == (False, None)
    assert not BrandPicture.objects.exists()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_nothing_but_the_picture_is_kept_and_it_stands_upright(kind: str, client: Client, shop: NewMerchant) -> None:
    exif, text = Image.Exif(), PngImagePlugin.PngInfo()
    # Turned by a quarter, and said by whom.
    exif[0x0112], exif[0x013B] = 6, SECRET.decode()
    text.add_text("Comment", SECRET.decode())
    more = {"pnginfo": text} if kind == "PNG" else {}
    set_picture(
        shop.merchant, "icon", saved(Image.new("RGB", (40, 20), "red"), kind, exif=exif, icc_profile=SECRET, **more)
    )
    found = shown(client, shop.merchant, "icon")
    assert (found.size, found.info, dict(found.getexif())) == ((20, 40), {}, {})
    assert SECRET not in bytes(BrandPicture.objects.get().content)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_of_an_animation_the_first_picture_is_kept(kind: str, client: Client, shop: NewMerchant) -> None:
    frames = [Image.new("RGBA", (20, 20), colour) for colour in ("red", "blue")]
    set_picture(shop.merchant, "logo", saved(frames[0], kind, save_all=True, append_images=frames[1:], lossless=True))
    found = shown(client, shop.merchant)
    assert (getattr(found, "n_frames", 1), found.getpixel((5, 5))) == (1, (255, 0, 0, 255))


def test_a_picture_that_no_file_makes_small_is_kept_with_fewer_pixels(client: Client, shop: NewMerchant) -> None:
    noise = Image.frombytes("RGBA", (350, 350), Random(1).randbytes(4 * 350**2))
    set_picture(shop.merchant, "logo", saved(noise, "PNG"))
    assert shown(client, shop.merchant).size == (256, 256)


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "why"),
    [
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG too has to be saved"),
        (image("GIF"), "an SVG too has to be saved"),
        (b"%PDF-1.7", "an SVG too has to be saved"),
        (image("PNG")[:60], "an SVG too has to be saved"),
        (image("PNG", (3001, 3000), "1"), "3,000 pixels wide and high"),
        (image("PNG", (30_000, 30_000), "1"), "3,000 pixels wide and high"),
        (bytes(SIZE_MAX + 1), "512 pixels wide for example"),
    ],
    ids=["SVG", "GIF", "PDF", "broken", "too many pixels", "bomb", "too large"],
)
def test_what_is_no_picture_is_refused_and_the_refusal_says_what_to_do(
    file: bytes, why: str, shop: NewMerchant
) -> None:
    with pytest.raises(BadPicture, match=why):
        set_picture(shop.merchant, "logo", file)
    assert not BrandPicture.objects.exists()


def test_a_picture_for_which_the_host_has_no_time_and_no_process_is_not_called_a_bad_one(
    shop: NewMerchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture, (soft, hard) = image("PNG"), resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr(pictures, "SECONDS", 0)
    with pytest.raises(BadPicture, match="again in a moment"):
        set_picture(shop.merchant, "logo", picture)
    monkeypatch.undo()
    # No process is started without pipes to it.
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(BadPicture, match="again in a moment"):
            set_picture(shop.merchant, "logo", picture)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not BrandPicture.objects.exists()


def test_the_same_picture_of_two_merchants_is_of_each_alone(
    client: Client, shop: NewMerchant, other_shop: NewMerchant
) -> None:
    for merchant in (shop.merchant, other_shop.merchant):
        set_picture(merchant, "logo", image("PNG"))
    assert len({own_branding(merchant)["logo"] for merchant in Merchant.objects.all()}) == 2
    set_picture(shop.merchant, "logo", None)
    assert shown(client, other_shop.merchant).size == (300, 200)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_of_two_pictures_at_once_one_is_kept_and_nothing_of_the_other(client: Client, shop: NewMerchant) -> None:
    at_once(2, lambda number: set_picture(shop.merchant, "logo", image("PNG", (100 + number, 100))))
    assert shown(client, shop.merchant).height == 100
    assert BrandPicture.objects.count() == 1


def test_an_address_that_asks_too_often_is_refused_pictures_too(
    client: Client, settings: Settings, shop: NewMerchant
) -> None:
    set_picture(shop.merchant, "icon", image("PNG"))
    shop.merchant.refresh_from_db()
    settings.RATE_LIMIT_ANONYMOUS = "1/year"
    address = own_branding(shop.merchant)["icon"]
    assert [client.get(address).status_code for _ in range(2)] == [200, 429]
