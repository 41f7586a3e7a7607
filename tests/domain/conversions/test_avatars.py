"""Avatar addresses of buyers. Source: tracking spec, "Server-to-server sale body"."""

from domain.conversions import avatars


def test_avatar_depends_on_the_email_in_any_case():
    expected = (
        "https://www.gravatar.com/avatar/973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b?d=identicon"
    )

    assert avatars.url_from_email("test@example.com") == expected
    assert avatars.url_from_email(" Test@Example.com ") == expected


def test_sale_without_an_email_has_no_avatar():
    assert avatars.url_from_email(None) is None
