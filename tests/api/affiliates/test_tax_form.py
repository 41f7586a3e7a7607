"""Tax forms and the links that open them, through HTTP. Source: core spec, "Affiliate" (tax form), "Affiliates"."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

import settings
from adapters import file_links
from models import db
from pipelines.affiliates import tax_form_files

AFFILIATES = "/api/v1/affiliates"
_PDF = b"%PDF-1.7 \x00\xff a form"


@pytest.fixture
def ben(brand):
    """The id of an affiliate of the brand, as text."""
    brand.program()
    return str(brand.affiliate("ben"))


def _keep(affiliate_id, content=_PDF, type="W9"):
    with db.any_org_work():
        return tax_form_files.any_org_store(
            affiliate_id=UUID(affiliate_id), type=type, content=content, now=datetime.now(UTC)
        ).form


def _hold(affiliate_id):
    with db.any_org_work():
        tax_form_files.any_org_record_at_provider(affiliate_id=UUID(affiliate_id), now=datetime.now(UTC))


def _read(brand, affiliate_id):
    return brand.get(f"{AFFILIATES}/{affiliate_id}/tax-form")


def _open(app, url):
    parts = urlsplit(url)
    return app.test_client().get(f"{parts.path}?{parts.query}")


def _audited(brand):
    return brand.rows("select entity_type, entity_id, after from audit_entry where action = 'tax_form.read'")


def test_a_form_is_shown_with_a_link_that_opens_it(app, brand, ben):
    form = _keep(ben)

    shown = _read(brand, ben)
    opened = [_open(app, shown.json["signedUrl"]) for _ in range(2)]

    assert shown.status_code == 200
    assert set(shown.json) == {"id", "affiliateId", "type", "submittedAt", "signedUrl", "expiresInSeconds"}
    assert (shown.json["id"], shown.json["affiliateId"], shown.json["type"]) == (str(form.id), ben, "W9")
    assert shown.json["expiresInSeconds"] == 300
    assert shown.json["signedUrl"].startswith(f"{settings.current().web.url}/api/files/{form.file_id}?expires=")
    for answer in opened:  # as often as one likes
        assert (answer.status_code, answer.data, answer.content_type) == (200, _PDF, "application/pdf")
        assert answer.headers["Content-Disposition"] == 'attachment; filename="tax-form.pdf"'
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize(
    ("content", "media_type", "name"),
    [
        (b"\x89PNG\r\n\x1a\n pixels", "image/png", "tax-form.png"),
        (b"\xff\xd8\xff\xe0 pixels", "image/jpeg", "tax-form.jpg"),
    ],
)
def test_a_picture_of_a_form_is_a_form(app, brand, ben, *, content, media_type, name):
    _keep(ben, content, "W8BENE")

    shown = _read(brand, ben).json
    answer = _open(app, shown["signedUrl"])

    assert shown["type"] == "W8BENE"
    assert (answer.data, answer.content_type) == (content, media_type)
    assert name in answer.headers["Content-Disposition"]


def test_of_a_form_that_the_provider_holds_nothing_else_is_said(brand, ben):
    _keep(ben)
    _hold(ben)

    answer = _read(brand, ben)

    assert (answer.status_code, answer.json) == (200, {"heldByStripe": True})
    assert brand.rows("select count(*) from stored_file") == [(0,)]


def test_a_new_form_takes_the_place_of_the_one_before(app, brand, ben):
    _keep(ben)
    former = _read(brand, ben).json["signedUrl"]
    _keep(ben, b"%PDF-2.0 newer", "W8BEN")

    assert _read(brand, ben).json["type"] == "W8BEN"
    assert _open(app, _read(brand, ben).json["signedUrl"]).data == b"%PDF-2.0 newer"
    assert _open(app, former).status_code == 404
    assert brand.rows("select count(*) from stored_file") == [(1,)]


def test_a_form_is_sealed_at_rest(brand, ben):
    _keep(ben)

    ((content,),) = brand.rows("select content from stored_file")

    assert b"a form" not in bytes(content)


@pytest.mark.parametrize(
    ("prepare", "found"), [(_keep, True), (_hold, True), (lambda _: None, False)], ids=["ours", "held", "absent"]
)
def test_every_read_is_audited(brand, ben, prepare, found):
    prepare(ben)

    _read(brand, ben)
    _read(brand.person("Admin"), ben)

    assert _audited(brand) == [("tax_form", ben, {"found": found})] * 2


def test_a_form_that_is_not_there_is_not_found(brand, rival, ben):
    rival.program()
    theirs = str(rival.affiliate("theirs"))
    _keep(theirs)

    for affiliate_id in (ben, theirs, str(uuid4()), "nonsense"):
        answer = _read(brand, affiliate_id)

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert _audited(rival) == []


def test_the_form_of_a_deleted_affiliate_is_kept(brand, ben):
    _keep(ben)
    brand.post(f"{AFFILIATES}/bulk-action", {"action": "delete", "affiliateIds": [ben]})

    assert _read(brand, ben).status_code == 200


def test_a_link_that_was_changed_or_is_over_opens_nothing(app, brand, ben):
    form = _keep(ben)
    good = urlsplit(_read(brand, ben).json["signedUrl"]).query
    over = file_links.signed(form.file_id, now=datetime.now(UTC) - timedelta(seconds=300))
    expires, signature = (part.split("=")[1] for part in good.split("&"))

    for url in (
        over,
        f"/api/files/{form.file_id}",
        f"/api/files/{uuid4()}?{good}",
        f"/api/files/nonsense?{good}",
        f"/api/files/{form.file_id}?expires={int(expires) + 1}&signature={signature}",
        f"/api/files/{form.file_id}?expires={expires}&signature={'0' * 64}",
        f"/api/files/{form.file_id}?expires=x&signature={signature}",
        f"/api/files/{form.file_id}?expires={'9' * 5000}&signature={signature}",
        f"/api/files/{form.file_id}?expires={expires}&signature=%00%ff%C3%A9",
    ):
        assert _open(app, url).status_code == 404, url


def test_a_good_link_to_a_file_of_another_kind_opens_nothing(app, brand, ben):
    file_id = uuid4()
    with db.unit_of_work(brand.id):
        db.db.stage(
            "insert into stored_file (id, organization_id, kind, content_type, content, created_at)"
            " values (%s, %s, 'logo', 'image/png', 'x', now())",
            (file_id, brand.id),
        )

    assert _open(app, file_links.signed(file_id, now=datetime.now(UTC))).status_code == 404
