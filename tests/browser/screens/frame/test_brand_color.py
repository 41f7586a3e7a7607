"""The preview of a brand's color in a real browser."""

from playwright.sync_api import expect

from tests.support.pages.navigation import press

_HERE = "/dashboard/settings/brand"


def test_picked_color_is_previewed_before_it_is_saved(window, link):
    page = window()
    page.goto(link("owner"))
    page.goto(_HERE)
    page.get_by_label("Pick a color").fill("#ffd400")
    press(page.get_by_role("button", name="Preview"))
    expect(page.get_by_role("main")).to_contain_text("#ffd400 has a contrast of 1.4 to 1 on white")
    expect(page.get_by_role("img", name="Dark theme: #ffd400 with black text")).to_be_visible()

    page.get_by_label("Or enter its code").fill("#123456")
    press(page.get_by_role("button", name="Preview"))
    expect(page.get_by_role("img", name="Light theme: #123456 with white text")).to_be_visible()
    press(page.get_by_role("button", name="Save color"))

    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    expect(page.get_by_label("Or enter its code")).to_have_value("#123456")
    expect(page.get_by_label("Pick a color")).to_have_value("#123456")


def test_color_is_previewed_without_scripts(window, link):
    page = window(java_script_enabled=False)
    page.goto(link("owner"))
    page.goto(_HERE)
    page.get_by_label("Or enter its code").fill("#123456")
    press(page.get_by_role("button", name="Preview"))

    expect(page.get_by_role("img", name="Light theme: #123456 with white text")).to_be_visible()
    expect(page.get_by_label("Or enter its code")).to_have_value("#123456")
    press(page.get_by_role("button", name="Save color"))
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
