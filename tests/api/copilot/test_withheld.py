"""Links that grant access to their holder reach neither the model's host nor the stored conversation."""

from datetime import UTC, datetime

from models import db
from pipelines.affiliates import tax_form_files
from tests.support.outside.model import build_reply


def test_tax_form_reaches_the_model_without_its_link(brand, model, start_conversation):
    brand.program()
    ann = brand.affiliate(f"ann-{brand.id.hex[:12]}")
    with db.any_org_work():
        tax_form_files.any_org_store(affiliate_id=ann, type="W9", content=b"%PDF-1.7", now=datetime.now(UTC))
    model.script(build_reply("", ("get_tax_form", {"affiliateId": str(ann)})), build_reply("A W9."))

    assert start_conversation().ask("Which form is it?")["state"] == "Answered"

    (result,) = model.list_tool_results()
    assert (result["data"]["type"], list(result["data"]["withheld"])) == ("W9", ["signedUrl"])
    assert "/api/files/" not in str(model.requests)
    assert brand.rows("select count(*) from copilot_entry where text like '%%/api/files/%%'") == [(0,)]


def test_confirmed_invitation_reaches_the_model_without_its_link(brand, model, start_conversation):
    program = str(brand.program())
    arguments = {"programId": program, "email": f"ina-{brand.id.hex}@example.com"}
    model.script(build_reply("", ("invite_affiliate", arguments)), build_reply("Done."))
    owner = start_conversation()
    owner.ask("Invite Ina.")

    conversation = owner.decide("confirm").json

    assert conversation["acts"][0]["state"] == "Done", conversation
    assert list(conversation["acts"][0]["result"]["withheld"]) == ["acceptUrl"]
    owner.advance()
    assert "/invites/" not in str(model.requests)
