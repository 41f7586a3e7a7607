"""Installation status of a program's tag: four lights, each backed by evidence."""

from datetime import UTC, datetime, timedelta

from api.clicks import tag_sightings
from models import db
from tests.support.rows.link_visits import visit
from tests.support.rows.program_rows import insert_click, insert_conversion


def _get_lights(answer):
    assert answer.status_code == 200, answer.text
    return tuple(answer.json[name] for name in ("tagIsThere", "tagIsNewest", "wasVisited", "hasConverted"))


def _report_script(app, program):
    tag_sightings.clear_cache()
    headers = {"Origin": "https://www.shop.test"}
    assert visit(app, "/api/v1/r/c.gif", query_string={"programId": program, "script": "1"}, headers=headers)


def test_lights_are_off_initially(brand, address):
    answer = brand.get(address)

    assert _get_lights(answer) == (False, False, False, False)
    assert answer.json["check"] is None
    assert [answer.json[name] for name in ("scriptSeenAt", "scriptOrigin", "lastClickAt", "lastConversionAt")] == [
        None
    ] * 4


def test_page_with_the_tag_turns_on_two_lights(brand, address, site, tag):
    url = site.show(f"<!doctype html><title>Knives</title>{tag}<h1>Knives</h1>", path="/knives")

    answer = brand.post(address, {"url": f"{url}?token=secret#top"})

    assert _get_lights(answer) == (True, True, False, False)
    check = answer.json["check"]
    assert (check["pageUrl"], check["finding"], check["policyAllows"], check["policyLines"]) == (
        url,
        "Newest",
        True,
        [],
    )
    assert check["pageBytes"] == len(site.pages["/knives"].html)
    assert check["tookMs"] >= 0
    assert abs(datetime.fromisoformat(check["checkedAt"]) - datetime.now(UTC)) < timedelta(minutes=1)
    assert site.requested_paths == ["/knives?token=secret"]
    assert brand.get(address).json == answer.json


def test_script_report_turns_on_the_third_light_and_those_it_implies(app, brand, address, program):
    _report_script(app, program)

    answer = brand.get(address)

    assert _get_lights(answer) == (True, True, True, False)
    assert answer.json["scriptOrigin"] == "https://www.shop.test"
    assert answer.json["scriptSeenAt"]


def test_sale_or_lead_turns_on_the_fourth_light(brand, address):
    ben = brand.affiliate("ben")
    insert_click(brand, ben)
    after_click = brand.get(address)
    insert_conversion(brand, ben)

    assert _get_lights(after_click) == (False, False, True, False)
    assert _get_lights(brand.get(address)) == (False, False, True, True)


def test_test_key_sale_turns_on_the_light(brand, address):
    ben = brand.affiliate("ben")
    insert_conversion(brand, ben, is_test=True)

    assert _get_lights(brand.get(address))[3]


def test_wrong_tag_is_reported_even_if_the_script_ran(brand, address, program, site):
    url = site.show('<script src="https://x.test/api/v1/r/loader.js" data-program-id="other"></script>')
    brand.post(address, {"url": url})
    _report_script(brand.app, program)

    assert _get_lights(brand.get(address)) == (True, False, True, False)


def test_last_check_counts(brand, address, site, tag):
    with_tag, without = site.show(tag), site.show("<p>Nothing", path="/other")
    brand.post(address, {"url": with_tag})
    second = brand.post(address, {"url": without})

    assert _get_lights(second) == (False, False, False, False)
    assert (second.json["check"]["pageUrl"], second.json["check"]["finding"]) == (without, "NoTag")
    assert brand.rows("select count(*) from install_check") == [(1,)]


def test_lights_of_another_program_stay_off(brand, address, site, tag):
    brand.post(address, {"url": site.show(tag)})
    other = brand.program()

    assert _get_lights(brand.get(f"/api/v1/programs/{other}/install-check")) == (False, False, False, False)


def test_reading_lights_costs_one_statement(brand, address):
    trips = []
    brand.get(address)
    db.db.trip_hooks.append(trips.append)
    try:
        brand.get(address)
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert len([trip for trip in trips if b"install_check" in trip]) == 1
