"""`flask affiliate` as an operator types it."""

from uuid import uuid4

import pytest

from pipelines.affiliates import tax_form_files

_PDF = b"%PDF-1.7 a form"


@pytest.fixture
def ben(brand):
    """The id of an affiliate of the brand, as text."""
    brand.program()
    return str(brand.affiliate("ben"))


@pytest.fixture
def form(tmp_path):
    """A form in a file."""
    path = tmp_path / "form.pdf"
    path.write_bytes(_PDF)
    return path


def test_a_form_is_put_on_file(flask, brand, ben, form):
    code, said = flask("affiliate", "tax-form", ben, "--type", "W9", "--file", str(form))

    assert (code, said) == (0, f"{ben}: W9\n")
    assert brand.get(f"/api/v1/affiliates/{ben}/tax-form").json["type"] == "W9"
    assert brand.rows("select entity_id, actor_type, after from audit_entry where action = 'tax_form.kept'") == [
        (ben, "operator", {"type": "W9", "heldByStripe": False})
    ]


def test_a_form_may_be_with_the_provider(flask, brand, ben):
    kept = flask.json("affiliate", "tax-form", ben, "--held-by-stripe")

    assert kept == {"affiliateId": ben, "type": None, "heldByStripe": True}
    assert brand.get(f"/api/v1/affiliates/{ben}/tax-form").json == {"heldByStripe": True}


@pytest.mark.parametrize("content", [b"", b"MZ a program", b"<svg/>", b"GIF89a"])
def test_a_file_that_is_no_form_is_refused(flask, brand, ben, form, content):
    form.write_bytes(content)

    code, said = flask("affiliate", "tax-form", ben, "--type", "W9", "--file", str(form))

    assert code == 1
    assert "PDF, PNG or JPEG" in said
    assert brand.rows("select count(*) from stored_file") == [(0,)]


def test_a_form_has_five_megabytes_at_most(flask, ben, form):
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
def test_half_an_order_is_a_usage_error(flask, ben, options):
    assert flask("affiliate", "tax-form", ben, *options)[0] == 2


def test_an_affiliate_who_is_not_there_gets_no_form(flask, app, form):
    code, said = flask("affiliate", "tax-form", str(uuid4()), "--type", "W9", "--file", str(form))

    assert code == 1
    assert "There is no affiliate" in said


def test_a_test_affiliate_is_made_and_says_so(flask, brand):
    program_id = str(brand.program())

    made = [flask.json("affiliate", "make-test", program_id) for _ in range(2)]

    for one in made:
        shown = brand.get(f"/api/v1/affiliates/{one['id']}").json
        assert (shown["isTest"], shown["status"], shown["programId"]) == (True, "Approved", program_id)
        assert (shown["email"], shown["links"][0]["slug"]) == (one["email"], one["slug"])
    assert made[0]["id"] != made[1]["id"]
    assert (
        len(brand.rows("select from audit_entry where action = 'affiliate.created' and actor_type = 'operator'")) == 2
    )


def test_a_program_that_is_not_there_gets_no_test_affiliate(flask, app):
    code, said = flask("affiliate", "make-test", str(uuid4()))

    assert code == 1
    assert "There is no program" in said
