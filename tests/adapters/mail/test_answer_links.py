"""Links to the second step of an application: which applicant a token identifies and when it expires."""

import string
from datetime import UTC, datetime, timedelta
from uuid import UUID

from adapters.mail import answer_links
from adapters.mail.answer_links import Applicant
from adapters.secret_key import embed_bearer

_NOW = datetime(2026, 3, 1, tzinfo=UTC)
_ADA = Applicant(UUID(int=7), UUID(int=2**128 - 1))


def test_token_identifies_its_applicant_until_it_expires():
    token = answer_links.encode(_ADA, now=_NOW)

    assert set(token) <= set(string.ascii_letters + string.digits + "-_")
    for later, expected in ((timedelta(0), _ADA), (timedelta(days=14, seconds=-1), _ADA), (timedelta(days=14), None)):
        assert answer_links.decode(token, now=_NOW + later) == expected
    assert answer_links.build_url(_ADA, now=_NOW).endswith(f"/p/answers/{token}")


def test_malformed_or_foreign_token_is_invalid():
    token = answer_links.encode(_ADA, now=_NOW)
    other = answer_links.encode(Applicant(_ADA.organization_id, UUID(int=8)), now=_NOW)
    changed = [token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :] for place in range(84)]
    spliced = [token[:42] + other[42:], other[:42] + token[42:]]
    malformed = [
        "",
        "x",
        "x" * 84,
        token + "=",
        token[:-1],
        f" {token[1:]}",
        "é" * 84,
        "\x00" * 84,
        token.upper(),
        token * 2,
    ]

    bearer = embed_bearer.encode(_ADA.affiliate_id, 1)
    for invalid_token in (*changed, *spliced, *malformed, bearer, bearer[:84]):
        assert answer_links.decode(invalid_token, now=_NOW) is None, invalid_token
