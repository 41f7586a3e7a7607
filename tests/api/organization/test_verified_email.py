"""Operations that show credentials need a verified email."""

from dataclasses import replace

URL = "/api/v1/api-keys"


def test_unverified_person_neither_creates_nor_rotates_a_key(brand, admin):
    key = admin.post(URL, {}).json
    for role in ("Owner", "Admin"):
        person = brand.person(role, is_email_verified=False)
        for refused in (person.post(URL, {}), person.post(f"{URL}/{key['id']}/rotate")):
            assert (refused.status_code, refused.json["error"]) == (403, "email_verification_required")
        assert person.get(URL).status_code == 200

    assert replace(brand, api_key=key["apiKey"]).get("/api/organizations/me").status_code == 200


# Operations that show a secret to people without a verified email, and why it gives them nothing more.
_NO_CREDENTIAL = {
    "create_webhook_endpoint": "it only proves to a receiver who sent an event, and grants no access",
    "rotate_webhook_secret": "it only proves to a receiver who sent an event, and grants no access",
    "create_automation_hook": "it only proves to a receiver who sent an event, and grants no access",
    "create_embed_token": "it opens one affiliate's frame until it expires, and no route of the brand",
    "resend_invite": "it invites an affiliate again whom a person with a verified email has invited",
    "list_connections": "a gateway posts its events to the address that is shown, and signs them; it reads nothing",
    "get_connection": "a gateway posts its events to the address that is shown, and signs them; it reads nothing",
    "get_tax_form": "it is the link of a file, which its reader may open anyway",
}


def test_operations_that_show_credentials_need_a_verified_email(app):
    operations = {
        view.__name__: view.operation.guard
        for view in app.view_functions.values()
        if getattr(getattr(view, "operation", None), "shows_secret", False)
    }
    unverified = {
        name
        for name, guard in operations.items()
        if guard.audience in ("brand", "dashboard") and not guard.verified_email
    }

    assert unverified == set(_NO_CREDENTIAL)
    assert {"create_api_key", "rotate_api_key"} <= set(operations)
