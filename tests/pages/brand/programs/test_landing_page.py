"""The texts of the landing page, written on the dashboard and previewed before visitors see them."""

import re

import pytest

from tests.support.rows.images import png


@pytest.fixture
def page_path(brand):
    return f"/dashboard/programs/{brand.program(name='Tea', slug='tea')}/landing-page"


def _landing_page_config(brand):
    return brand.get(f"/api/v1/programs/{brand.programs[0]}").json["landingPageConfig"]


def _form(**typed):
    fields = {name.replace("_", "-"): text for name, text in typed.items()}
    return {"headline": "", "intro": "", "accentColor": "", "heroImageId": "", "showTerms": "on"} | fields


def test_typed_texts_are_stored_and_shown_again(brand, people, page_path):
    visitor = people("Manager")
    typed = _form(headline="Our tea", title_0="Why?", text_0="One\r\nTwo", title_2="Third", text_2="Words")

    answer = visitor.send(page_path, typed | {"accentColor": "#B3541E"})

    assert (answer.status_code, answer.headers["Location"]) == (303, f"{page_path}?done=saved")
    assert _landing_page_config(brand) == {
        "headline": "Our tea",
        "intro": None,
        "sections": [{"title": "Why?", "text": "One\nTwo"}, {"title": "Third", "text": "Words"}],
        "heroImageId": None,
        "accentColor": "#b3541e",
        "showTerms": True,
    }
    html = visitor.open(f"{page_path}?done=saved").text
    assert "Saved" in html
    assert 'value="Our tea"' in html
    assert "One\nTwo</textarea>" in html
    assert html.count('name="title-') == 4
    visitor.send(page_path, _form())
    assert _landing_page_config(brand) is None


def test_picture_is_uploaded_kept_and_removed(brand, people, page_path):
    visitor = people()
    visitor.upload(page_path, _form(headline="Our tea"), png(800, 600), "tea.png")
    picture = _landing_page_config(brand)["heroImageId"]

    assert f'src="/api/brand-files/{picture}"' in visitor.open(page_path).text
    visitor.send(page_path, _form(headline="Our tea", heroImageId=picture, title_0="A", text_0="B"))
    assert _landing_page_config(brand)["heroImageId"] == picture
    visitor.send(page_path, _form(headline="Our tea", heroImageId=picture, noPicture="on"))
    assert _landing_page_config(brand)["heroImageId"] is None
    no_picture = visitor.upload(page_path, _form(headline="Kept"), b"<svg/>", "tea.png")
    too_large = visitor.upload(page_path, _form(headline="Kept"), png(64, 64) + b"\0" * 1024 * 1024, "tea.png")
    for answer in (no_picture, too_large):
        assert answer.status_code == 422
        assert re.findall(r'<input id="([^"]+)"[^>]*aria-invalid="true"', answer.text) == ["file"]
        assert 'value="Kept"' in answer.text


def test_error_is_shown_at_its_field_and_a_new_picture_is_kept(brand, people, page_path):
    typed = _form(headline="x" * 121, accentColor="red", title_1="Heading alone", title_4="a\0b", text_4="Text")

    answer = people().upload(page_path, typed, png(800, 600), "tea.png")

    assert answer.status_code == 400
    invalid_fields = re.findall(r'id="([^"]+)"[^>]* aria-invalid="true"', answer.text)
    assert sorted(invalid_fields) == ["accentColor", "headline", "text-1", "title-4"]
    assert "It must be a colour such as #1a2b3c." in answer.text
    (picture,) = re.findall(r'name="heroImageId" value="([^"]+)"', answer.text)
    assert f'src="/api/brand-files/{picture}"' in answer.text
    assert _landing_page_config(brand) is None


def test_another_tenants_picture_is_refused_with_a_message(brand, people, rival, page_path):
    rivals_picture = rival.call("POST", "/api/v1/programs/hero-images", png(64, 64), Content_Type="image/png").json[
        "id"
    ]

    answer = people().send(page_path, _form(heroImageId=rivals_picture))

    assert answer.status_code == 400
    assert "Upload it first." in answer.text
    assert _landing_page_config(brand) is None


def test_preview_shows_typed_values_and_stores_nothing(brand, people, page_path):
    visitor = people()
    preview = f"{page_path}/preview"

    answer = visitor.send(preview, _form(headline="Our <b>tea</b>", title_0="Why?", text_0="Words"))

    assert answer.status_code == 200
    assert '<h1 itemprop="name">Our &lt;b&gt;tea&lt;/b&gt;</h1>' in answer.text
    assert "20 % of each payment." in answer.text
    assert "Preview: visitors see" in answer.text
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert 'method="post"' not in answer.text
    assert _landing_page_config(brand) is None
    assert visitor.send(preview, _form(accentColor="red")).status_code == 422
    brand.rows("update program set is_active = false returning id")
    assert '<h1 itemprop="name">Tea</h1>' in visitor.open(preview).text
    assert "the program is not active" in visitor.open(page_path).text


def test_viewer_sees_the_preview_and_changes_nothing(brand, people, page_path):
    viewer = people("Viewer")

    assert viewer.send(page_path, _form(headline="Ours")).status_code == 403
    assert 'name="headline"' not in viewer.open(page_path).text
    assert viewer.open(f"{page_path}/preview").status_code == 200
    assert _landing_page_config(brand) is None
