"""Tax forms and the links that open them, through HTTP. Source: core spec, "Affiliate" (tax form), "Affiliates"."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

import settings
from adapters.secret_key import file_links
from models import db
from pipelines.affiliates import tax_form_files

AFFILIATES = "/api/v1/affiliates"
_PDF = b"%PDF-1.7 \x00\xff a form"


@pytest.fixture
def ben(brand):
    """Return the id of an affiliate of the brand, as text."""
    brand.program()
    return str(brand.affiliate("ben"))


def _store_form(affiliate_id, content=_PDF, type="W9"):
    with db.any_org_work():
        return tax_form_files.any_org_store(
            affiliate_id=UUID(affiliate_id), type=type, content=content, now=datetime.now(UTC)
        ).form


def _store_provider_held_form(affiliate_id):
    with db.any_org_work():
        tax_form_files.any_org_record_at_provider(affiliate_id=UUID(affiliate_id), now=datetime.now(UTC))


def _read(brand, affiliate_id):
    return brand.get(f"{AFFILIATES}/{affiliate_id}/tax-form")


def _open(app, url):
    parts = urlsplit(url)
    return app.test_client().get(f"{parts.path}?{parts.query}")


def _list_audited_reads(brand):
    return brand.rows("select entity_type, entity_id, after from audit_entry where action = 'tax_form.read'")


def test_form_is_returned_with_a_working_link(app, brand, ben):
    form = _store_form(ben)

    response = _read(brand, ben)
    opened = [_open(app, response.json["signedUrl"]) for _ in range(2)]

    assert response.status_code == 200
    assert set(response.json) == {"id", "affiliateId", "type", "submittedAt", "signedUrl", "expiresInSeconds"}
    assert (response.json["id"], response.json["affiliateId"], response.json["type"]) == (str(form.id), ben, "W9")
    assert response.json["expiresInSeconds"] == 300
    assert response.json["signedUrl"].startswith(f"{settings.current().web.url}/api/files/{form.file_id}?expires=")
    for answer in opened:  # a link may be opened repeatedly
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
def test_image_of_a_form_is_accepted(app, brand, ben, *, content, media_type, name):
    _store_form(ben, content, "W8BENE")

    form = _read(brand, ben).json
    answer = _open(app, form["signedUrl"])

    assert form["type"] == "W8BENE"
    assert (answer.data, answer.content_type) == (content, media_type)
    assert name in answer.headers["Content-Disposition"]


def test_provider_held_form_has_no_link(brand, ben):
    _store_form(ben)
    _store_provider_held_form(ben)

    answer = _read(brand, ben)

    assert (answer.status_code, answer.json) == (200, {"heldByStripe": True})
    assert brand.rows("select count(*) from stored_file") == [(0,)]


def test_new_form_replaces_the_previous_one(app, brand, ben):
    _store_form(ben)
    former_url = _read(brand, ben).json["signedUrl"]
    _store_form(ben, b"%PDF-2.0 newer", "W8BEN")

    assert _read(brand, ben).json["type"] == "W8BEN"
    assert _open(app, _read(brand, ben).json["signedUrl"]).data == b"%PDF-2.0 newer"
    assert _open(app, former_url).status_code == 404
    assert brand.rows("select count(*) from stored_file") == [(1,)]


def test_form_is_encrypted_at_rest(brand, ben):
    _store_form(ben)

    ((content,),) = brand.rows("select content from stored_file")

    assert b"a form" not in bytes(content)


@pytest.mark.parametrize(
    ("prepare", "is_found"),
    [(_store_form, True), (_store_provider_held_form, True), (lambda _: None, False)],
    ids=["stored here", "held by the provider", "absent"],
)
def test_every_read_is_audited(brand, ben, prepare, is_found):
    prepare(ben)

    _read(brand, ben)
    _read(brand.person("Admin"), ben)

    assert _list_audited_reads(brand) == [("tax_form", ben, {"found": is_found})] * 2


def test_missing_form_returns_404(brand, rival, ben):
    rival.program()
    rivals_affiliate = str(rival.affiliate("theirs"))
    _store_form(rivals_affiliate)

    for affiliate_id in (ben, rivals_affiliate, str(uuid4()), "nonsense"):
        answer = _read(brand, affiliate_id)

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert _list_audited_reads(rival) == []


def test_form_of_a_deleted_affiliate_is_still_readable(brand, ben):
    _store_form(ben)
    brand.post(f"{AFFILIATES}/bulk-action", {"action": "delete", "affiliateIds": [ben]})

    assert _read(brand, ben).status_code == 200


def test_altered_or_expired_link_returns_404(app, brand, ben):
    form = _store_form(ben)
    valid_query = urlsplit(_read(brand, ben).json["signedUrl"]).query
    expired_url = file_links.build_url(form.file_id, now=datetime.now(UTC) - timedelta(seconds=300))
    expires, signature = (part.split("=")[1] for part in valid_query.split("&"))

    for url in (
        expired_url,
        f"/api/files/{form.file_id}",
        f"/api/files/{uuid4()}?{valid_query}",
        f"/api/files/nonsense?{valid_query}",
        f"/api/files/{form.file_id}?expires={int(expires) + 1}&signature={signature}",
        f"/api/files/{form.file_id}?expires={expires}&signature={'0' * 64}",
        f"/api/files/{form.file_id}?expires=x&signature={signature}",
        f"/api/files/{form.file_id}?expires={'9' * 5000}&signature={signature}",
        f"/api/files/{form.file_id}?expires={expires}&signature=%00%ff%C3%A9",
    ):
        assert _open(app, url).status_code == 404, url


def test_signed_link_to_another_kind_of_file_returns_404(app, brand, ben):
    file_id = uuid4()
    with db.unit_of_work(brand.id):
        db.db.stage(
            "insert into stored_file (id, organization_id, kind, content_type, content, created_at)"
            " values (%s, %s, 'logo', 'image/png', 'x', now())",
            (file_id, brand.id),
        )

    assert _open(app, file_links.build_url(file_id, now=datetime.now(UTC))).status_code == 404
