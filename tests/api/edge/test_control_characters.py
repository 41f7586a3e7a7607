"""Control characters and direction marks: refused in names that people type, removed from names that programs send."""

import pytest

from models import db
from tests.support.coupons import COUPON
from tests.support.rows.deal_scene import DealScene

CONTROL_CHARACTERS = ("\x1b", "\n", "\x85", "\u202e", "\u2066")


def _build_calls(brand):
    program = f"/api/v1/programs/{brand.programs[-1]}"
    terms = {"defaultCommissionType": "Fixed", "defaultCommissionValue": 1}
    applicant = {"programId": str(brand.programs[-1]), "email": f"eve-{brand.id.hex}@example.com"}
    ann = f"/api/v1/affiliates/{brand.affiliate(f'ann-{brand.id.hex[:12]}')}"
    group = {"commissionType": "Percentage", "commissionValue": 25}
    deal = DealScene.for_brand(brand).body(1_000)
    return [
        ("POST", "/api/v1/programs", lambda name: {"name": name, **terms}, "name"),
        ("PATCH", program, lambda name: {"name": name}, "name"),
        ("POST", "/api/v1/affiliates", lambda name: {**applicant, "fullName": name}, "fullName"),
        ("PATCH", ann, lambda name: {"fullName": name}, "fullName"),
        ("PATCH", ann, lambda name: {"tags": ["vip", name]}, "tags"),
        ("POST", "/api/affiliate-invites", lambda name: {**applicant, "fullName": name}, "fullName"),
        ("POST", f"{program}/partner-groups", lambda name: {"name": name, **group}, "name"),
        ("POST", "/api/v1/deals", lambda name: {**deal, "title": name}, "title"),
        ("POST", f"/api/v1/campaigns/{brand.programs[-1]}/coupons", lambda name: {**COUPON, "name": name}, "name"),
        ("POST", "/api/v1/api-keys", lambda name: {"name": name, "scope": "read"}, "name"),
        ("PATCH", "/api/organizations/me", lambda name: {"name": name}, "name"),
        ("POST", f"/api/p/id/{brand.programs[-1]}/apply", lambda name: {**applicant, "fullName": name}, "fullName"),
    ]


@pytest.mark.parametrize("character", CONTROL_CHARACTERS)
def test_control_character_in_a_typed_name_returns_400_for_the_field(brand, character):
    brand.program()
    owner = brand.person("Owner")
    before = brand.rows("select count(*) from audit_entry")

    for method, path, body, field in _build_calls(brand):
        answer = owner.call(method, path, body(f"Eve{character}Mallory"))
        assert answer.status_code == 400, (path, answer.text)
        problem = answer.json
        assert problem.get("field", "") == field or field in problem.get("errors", {}), (path, problem)

    assert brand.rows("select count(*) from audit_entry") == before


@pytest.mark.parametrize("character", CONTROL_CHARACTERS)
def test_control_characters_are_removed_from_names_sent_by_programs(brand, character, drain):
    brand.program()
    slug = f"ann-{brand.id.hex[:12]}"
    brand.affiliate(slug)

    sale = brand.sale(affiliateSlug=slug, customerName=f"Eve {character}Mallory\x00")
    lead = {"affiliateSlug": slug, "email": f"eve-{brand.id.hex}@example.com", "name": f"Eve {character}Mallory"}
    person = {"email": f"fay-{brand.id.hex}@example.com", "fullName": f"Eve {character}Mallory"}
    imported = brand.post("/api/v1/affiliates/import", {"programId": str(brand.programs[-1]), "affiliates": [person]})
    assert (sale.status_code, imported.status_code) == (200, 200), (sale.text, imported.text)
    assert brand.post_signed("/api/tracking/lead", lead).status_code == 200
    drain("sales")

    with db.unit_of_work(brand.id):
        names = [
            *db.db.run("select customer_name from conversion where customer_name is not null", ()),
            *db.db.run("select full_name from affiliate where email like 'fay-%%'", ()),
        ]
    assert len(names) >= 2
    assert {" ".join(name.split()) for (name,) in names} == {"Eve Mallory"}
