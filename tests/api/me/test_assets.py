"""Assets that brands give affiliates to advertise with. An addition to the interface."""

import base64
from urllib.parse import urlsplit

from tests.support.api.lists import count_round_trips
from tests.support.rows.images import png

URL = "/api/me/assets"


def _create_asset(payroll, name, **more):
    answer = payroll.brand.person("Owner").post("/api/v1/assets", {"name": name, "text": "Try it."} | more)
    assert answer.status_code == 201, answer.text
    return answer.json


def _build_image_fields():
    return {"text": None, "dataBase64": base64.b64encode(png(64, 64)).decode()}


def _list_names(person, query=""):
    return [item["name"] for item in person.get(f"{URL}{query}")["items"]]


def test_assets_of_approved_programs_are_listed_newest_first(rita, stranger):
    first, second = (str(payroll.brand.programs[-1]) for payroll in (rita.first, rita.second))
    other = str(rita.first.brand.program(name="Other"))
    _create_asset(rita.first, "of hers", programId=first)
    _create_asset(rita.first, "of another", programId=other)
    of_all = _create_asset(rita.first, "of all")
    _create_asset(rita.second, "at the other brand", programId=second)

    assert _list_names(rita) == ["at the other brand", "of all", "of hers"]
    assert rita.get(URL)["items"][1] == of_all | {"organizationName": "Brand"}
    assert _list_names(rita, f"?programId={first}") == ["of all", "of hers"]
    assert _list_names(rita, f"?programId={other}") == []
    page = rita.get(f"{URL}?take=2")
    assert _list_names(rita, f"?take=2&cursor={page['nextCursor']}") == ["of hers"]
    assert stranger.get(URL).json["items"] == []


def test_image_is_downloadable_only_where_it_is_listed(rita, stranger):
    other = str(rita.first.brand.program(name="Other"))
    visible = _create_asset(rita.first, "Banner", **_build_image_fields())
    hidden = _create_asset(rita.first, "Hidden", programId=other, **_build_image_fields())
    words = _create_asset(rita.first, "Words")
    (listed,) = [item for item in rita.get(URL)["items"] if item["name"] == "Banner"]
    path = urlsplit(listed["fileUrl"]).path

    answer = rita.partner.get(path)
    assert (answer.status_code, answer.data, answer.content_type) == (200, png(64, 64), "image/png")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="banner.png"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert path == f"{URL}/{visible['id']}/file"
    assert stranger.get(path).status_code == 404
    for asset_id in (hidden["id"], words["id"], "x", "%00"):
        assert rita.partner.get(f"{URL}/{asset_id}/file").status_code == 404, asset_id


def test_unapproved_affiliate_or_ended_program_shows_no_assets(rita):
    asset = _create_asset(rita.first, "Banner", **_build_image_fields())
    path = f"{URL}/{asset['id']}/file"
    affiliate_id, program_id = rita.first.affiliates["rita"], rita.first.brand.programs[-1]
    for change, restored in (
        *(
            (f"update affiliate set status = '{state}' where id = %s", "status = 'Approved'")
            for state in ("Pending", "Paused", "Banned")
        ),
        ("update affiliate set deleted_at = now() where id = %s", "deleted_at = null"),
    ):
        rita.first.execute(change, affiliate_id)
        assert _list_names(rita) == [], change
        assert rita.partner.get(path).status_code == 404, change
        rita.first.execute(f"update affiliate set {restored} where id = %s", affiliate_id)
    for column in ("suspended_at", "archived_at"):
        rita.first.execute(f"update program set {column} = now() where id = %s", program_id)
        assert _list_names(rita) == [], column
        rita.first.execute(f"update program set {column} = null where id = %s", program_id)
    assert _list_names(rita) == ["Banner"]


def test_round_trips_do_not_grow_with_assets(rita):
    _create_asset(rita.first, "one")
    rita.get(URL)
    trips_before = count_round_trips(lambda: rita.get(URL))
    rita.first.execute(
        "insert into asset (id, organization_id, kind, name, text, size_bytes, created_at)"
        " select gen_random_uuid(), %s, 'Text', 'x', 'x', 1, now() from generate_series(1, 100)",
        rita.first.brand.id,
    )

    assert count_round_trips(lambda: rita.get(f"{URL}?take=200")) == trips_before
    assert len(_list_names(rita, "?take=200")) == 101
