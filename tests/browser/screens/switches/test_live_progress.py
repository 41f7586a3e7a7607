"""The live part of a switch in a real browser. Source: the switch-over rules, "Screens and command"."""

from tests.support.switches.switch_states import insert_switch


def test_live_updates_add_no_further_part(brand, window, link):
    switch_id = insert_switch(brand, "Reading")
    page = window()
    page.goto(link("owner"))
    page.goto(f"/dashboard/switch/{switch_id}")

    for requests in (20, 30):
        with page.expect_response(lambda response: "/fragment" in response.url and response.status == 200):
            brand.rows("update switch set requests = %s where id = %s returning id", requests, switch_id)
    page.get_by_text("30 requests so far").wait_for()

    assert page.get_by_text("Cancel this switch").count() == 1
    assert page.get_by_text("Reading", exact=True).count() == 1
