"""`flask affiliate`: tax forms and test affiliates."""

from uuid import uuid4

import pytest

from pipelines.affiliates import tax_form_files

_PDF = b"%PDF-1.7 a form"


@pytest.fixture
def ben(brand):
    """Return the id of an affiliate of the brand as text."""
    brand.program()
    return str(brand.affiliate("ben"))


@pytest.fixture
def form(tmp_path):
    """Return the path of a PDF form."""
    path = tmp_path / "form.pdf"
    path.write_bytes(_PDF)
    return path


def test_tax_form_is_stored_and_audited(flask, brand, ben, form):
    code, output = flask("affiliate", "tax-form", ben, "--type", "W9", "--file", str(form))

    assert (code, output) == (0, f"{ben}: W9\n")
    assert brand.get(f"/api/v1/affiliates/{ben}/tax-form").json["type"] == "W9"
    assert brand.rows("select entity_id, actor_type, after from audit_entry where action = 'tax_form.kept'") == [
        (ben, "operator", {"type": "W9", "heldByStripe": False})
    ]


def test_tax_form_can_be_held_by_stripe(flask, brand, ben):
    response = flask.json("affiliate", "tax-form", ben, "--held-by-stripe")

    assert response == {"affiliateId": ben, "type": None, "heldByStripe": True}
    assert brand.get(f"/api/v1/affiliates/{ben}/tax-form").json == {"heldByStripe": True}


@pytest.mark.parametrize("content", [b"", b"MZ a program", b"<svg/>", b"GIF89a"])
def test_file_of_another_type_is_refused(flask, brand, ben, form, content):
    form.write_bytes(content)

    code, output = flask("affiliate", "tax-form", ben, "--type", "W9", "--file", str(form))

    assert code == 1
    assert "PDF, PNG or JPEG" in output
    assert brand.rows("select count(*) from stored_file") == [(0,)]


def test_file_over_5_mb_is_refused(flask, ben, form):
    form.write_bytes(_PDF.ljust(tax_form_files.MAX_BYTES, b" "))
    fits = flask("affiliate", "tax-form", ben, "--type", "W8BEN", "--file", str(form))
    form.write_bytes(_PDF.ljust(tax_form_files.MAX_BYTES + 1, b" "))
    is_too_large = flask("affiliate", "tax-form", ben, "--type", "W8BEN", "--file", str(form))

    assert fits[0] == 0
    assert is_too_large[0] == 1
    assert "5 MB" in is_too_large[1]


@pytest.mark.parametrize(
    "options", [(), ("--type", "W9"), ("--held-by-stripe", "--type", "W9"), ("--type", "W4", "--held-by-stripe")]
)
def test_incomplete_options_are_a_usage_error(flask, ben, options):
    assert flask("affiliate", "tax-form", ben, *options)[0] == 2


def test_tax_form_of_an_unknown_affiliate_is_refused(flask, app, form):
    code, output = flask("affiliate", "tax-form", str(uuid4()), "--type", "W9", "--file", str(form))

    assert code == 1
    assert "There is no affiliate" in output


def test_test_affiliate_is_created_and_marked_as_test(flask, brand):
    program_id = str(brand.program())

    affiliates = [flask.json("affiliate", "make-test", program_id) for _ in range(2)]

    for affiliate in affiliates:
        view = brand.get(f"/api/v1/affiliates/{affiliate['id']}").json
        assert (view["isTest"], view["status"], view["programId"]) == (True, "Approved", program_id)
        assert (view["email"], view["links"][0]["slug"]) == (affiliate["email"], affiliate["slug"])
    assert affiliates[0]["id"] != affiliates[1]["id"]
    assert (
        len(brand.rows("select from audit_entry where action = 'affiliate.created' and actor_type = 'operator'")) == 2
    )


def test_test_affiliate_of_an_unknown_program_is_refused(flask, app):
    code, output = flask("affiliate", "make-test", str(uuid4()))

    assert code == 1
    assert "There is no program" in output
