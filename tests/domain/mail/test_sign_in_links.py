"""Links that sign a reader in are masked in emails shown to an operator."""

from domain.mail import sign_in_links


def test_sign_in_and_answer_links_are_masked_and_other_text_stays():
    text = "Hello\nhttps://a.example/sign-in/link/ab-C_9?next=%2Fportal\nhttps://a.example/p/answers/Zz-9_=\nhttps://a.example/sign-in/invite/Q_q-1\n/p/acme/tea"

    assert sign_in_links.mask(text) == (
        "Hello\nhttps://a.example/sign-in/link/…?next=%2Fportal\nhttps://a.example/p/answers/…\nhttps://a.example/sign-in/invite/…\n/p/acme/tea"
    )
