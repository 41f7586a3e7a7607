"""Every page that needs no sign-in in a real browser: light and dark, wide and at 320 px, small.

Source: the pages' interface, "Every page"; WCAG 2.2 A and AA, as far as axe can check them.
"""

import pytest

from tests.support.api.doors import create_door_program, door_path
from tests.support.api.invite_requests import invite, token_from_invite
from tests.support.pages.page_faults import list_faults
from tests.support.rows import paid_leads

_LOOKS = [("light", 1280), ("dark", 320)]
_MAX_BYTES, _MAX_REQUESTS = 60_000, 5
# The path of each page by its name; some need rows, which the fixture `paths` adds.
_PATHS = {
    "front page": "/",
    "sign in": "/sign-in",
    "link asked for": "/sign-in/asked",
    "used link": "/sign-in/link/unknown",
    "used invitation": "/sign-in/invite/unknown",
    "unknown address": "/nowhere",
    "unknown affiliate link": "/r/nobody-at-all",
    "used invite": "/invites/unknown",
    "used unsubscribe link": "/unsubscribe/unknown",
}
_WITH_ROWS = ("invite", "lead form", "email door", "program", "programs of a brand")


@pytest.fixture
def paths(brand):
    """Return the path of every page by its name."""
    door = door_path(brand, create_door_program(brand, mode="email", name="Mugs"))
    slug = paid_leads.create_campaign(brand, name="Spring")
    brand.rows("update organization set subdomain = %s where id = %s returning 1", brand.id.hex[:20], brand.id)
    ((program_slug,),) = brand.rows("select slug from program limit 1")
    return _PATHS | {
        "invite": f"/invites/{token_from_invite(invite(brand, fullName='Ada'))}",
        "lead form": f"/lead/{slug}",
        "email door": door,
        "program": f"/p/{brand.id.hex[:20]}/{program_slug}",
        "programs of a brand": f"/p/{brand.id.hex[:20]}",
    }


@pytest.mark.parametrize("name", [*_PATHS, *_WITH_ROWS])
def test_every_public_page_is_accessible_and_small(window, paths, name):
    page, finished = window(expected_statuses=(400, 404, 410)), []
    page.on("requestfinished", lambda request: finished.append(request))
    with paid_leads.configure_human_check(URL="local"):
        response = page.goto(paths[name])

    assert response.status == 200 or name not in _WITH_ROWS
    assert page.get_by_role("heading", level=1).count() == 1
    assert len(finished) <= _MAX_REQUESTS
    assert sum(sum(request.sizes().values()) for request in finished) <= _MAX_BYTES
    assert list(list_faults(page, _LOOKS)) == []
