"""A link that opens something for any holder never reaches the host of the model, nor the stored conversation."""

from datetime import UTC, datetime

from models import db
from pipelines.affiliates import tax_form_files
from tests.support.outside.model import build_reply


def test_a_tax_form_reaches_the_model_without_its_link(brand, model, talk):
    brand.program()
    ann = brand.affiliate(f"ann-{brand.id.hex[:12]}")
    with db.any_org_work():
        tax_form_files.any_org_store(affiliate_id=ann, type="W9", content=b"%PDF-1.7", now=datetime.now(UTC))
    model.script(build_reply("", ("get_tax_form", {"affiliateId": str(ann)})), build_reply("A W9."))

    assert talk().ask("Which form is it?")["state"] == "Answered"

    (result,) = model.list_tool_results()
    assert (result["data"]["type"], list(result["data"]["withheld"])) == ("W9", ["signedUrl"])
    assert "/api/files/" not in str(model.requests)
    assert brand.rows("select count(*) from copilot_entry where text like '%%/api/files/%%'") == [(0,)]


def test_a_confirmed_invitation_reaches_the_model_without_its_link(brand, model, talk):
    program = str(brand.program())
    sent = {"programId": program, "email": f"ina-{brand.id.hex}@example.com"}
    model.script(build_reply("", ("invite_affiliate", sent)), build_reply("Done."))
    owner = talk()
    owner.ask("Invite Ina.")

    shown = owner.decide("confirm").json

    assert shown["acts"][0]["state"] == "Done", shown
    assert list(shown["acts"][0]["result"]["withheld"]) == ["acceptUrl"]
    owner.go_on()
    assert "/invites/" not in str(model.requests)
