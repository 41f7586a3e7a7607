"""Texts and images for affiliates on the dashboard. An addition to the pages' interface."""

import re
from uuid import uuid4

import pytest

from domain.programs.assets import MAX_IMAGE_BYTES
from tests.support.rows.images import png

_HERE = "/dashboard/assets"


@pytest.fixture
def owner(visitor, links):
    visitor.open(links("owner"))
    return visitor


def _send_image(owner, content, name="Banner", file_name="banner.png", **fields):
    return owner.upload(f"{_HERE}/images", {"name": name, "programId": ""} | fields, content, file_name)


def test_image_is_uploaded_shown_and_deleted(owner, brand):
    brand.program(name="Spring <i>1</i>")
    assert "No assets yet" in owner.open(_HERE).text
    answer = _send_image(owner, png(640, 320), "Banner <b>1</b>", '../"<b>.svg', programId=str(brand.programs[-1]))
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{_HERE}?done=given")

    html = owner.open(_HERE).text
    assert "Banner &lt;b&gt;1&lt;/b&gt;" in html
    assert "Spring &lt;i&gt;1&lt;/i&gt;" in html
    assert "PNG, 640 × 320, 1 KiB" in html
    address = re.search(rf'src="({_HERE}/[^"]+/file)"', html)[1]
    answer = owner.open(address)
    assert (answer.data, answer.content_type) == (png(640, 320), "image/png")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="banner-b-1-b.png"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Cookie" in answer.headers["Vary"]

    assert owner.send(f"{address.removesuffix('/file')}/delete").status_code == 303
    assert owner.open(address).status_code == 404
    assert owner.send(f"{address.removesuffix('/file')}/delete").status_code == 404
    assert "No assets yet" in owner.open(_HERE).text


def test_text_is_stored_as_typed_once(owner, brand):
    form = {"name": "Post", "programId": "", "text": "</textarea><script>\r\n\r\nalert(1)", "_key": "one-form"}
    assert [owner.send(f"{_HERE}/texts", form).status_code for _ in range(2)] == [303, 303]

    (asset,) = brand.get("/api/v1/assets").json["items"]
    assert asset["text"] == "</textarea><script>\n\nalert(1)"
    html = owner.open(_HERE).text
    assert "\n&lt;/textarea&gt;&lt;script&gt;\n\nalert(1)</textarea>" in html
    assert "<script>\n" not in html


def test_error_is_shown_at_its_field_with_the_typed_values(owner, brand):
    for content, file_name, message in (
        (b"", "", "Choose a file."),
        (b"<svg onload='alert(1)'/>", "banner.png", "The content must be an image"),
        (png(8, 8), "banner.png", "Width and height"),
        (png(64, 64).ljust(MAX_IMAGE_BYTES + 1, b"\0"), "banner.png", "The file is larger than 2 MiB."),
    ):
        answer = _send_image(owner, content, "My banner", file_name)
        assert answer.status_code == 422, message
        assert re.search(rf'id="image-file-error">{re.escape(message)}', answer.text), message
        assert 'value="My banner"' in answer.text
    assert _send_image(owner, png(64, 64).ljust(2 * MAX_IMAGE_BYTES, b"\0")).status_code == 413

    answer = owner.send(f"{_HERE}/texts", {"name": " ", "programId": "", "text": "Try <it>"})
    assert (answer.status_code, "text-name-error" in answer.text) == (400, True)
    assert ">\nTry &lt;it&gt;</textarea>" in answer.text
    assert owner.send(f"{_HERE}/texts", {"name": "x", "programId": str(uuid4()), "text": "x"}).status_code == 404
    assert brand.get("/api/v1/assets").json["items"] == []


def test_asset_filter_without_matches_shows_a_message(owner, brand):
    spring, autumn = (str(brand.program(name=name)) for name in ("Spring", "Autumn"))
    owner.send(f"{_HERE}/texts", {"name": "Of spring", "programId": spring, "text": "x"})

    assert ">Of spring</h2>" in owner.open(f"{_HERE}?programId={spring}").text
    filtered = owner.open(f"{_HERE}?programId={autumn}").text
    assert ">Of spring</h2>" not in filtered
    assert "No assets match" in filtered
    assert owner.open(f"{_HERE}?programId=x").status_code == 400
