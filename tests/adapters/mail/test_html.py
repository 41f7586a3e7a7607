"""The allowed parts of user-supplied HTML. Source: core spec, "Affiliate invites", invite rules."""

import pytest

from adapters.mail import html

_EVERYTHING = (
    "<p>a<br>b</p><strong>c</strong><b>d</b><em>e</em><i>f</i><u>g</u><ul><li>h</li></ul><ol><li>i</li></ol>"
    '<a href="https://x.test/?a=1&amp;b=2#c">j</a>'
)


def test_allowed_tags_and_https_links_are_unchanged():
    assert html.clean(_EVERYTHING) == _EVERYTHING


@pytest.mark.parametrize(
    ("raw_html", "expected"),
    [
        ("<script>alert(1)</script>hi", "hi"),
        ("<style>p{color:red}</style>hi", "hi"),
        ("<!-- hidden -->hi", "hi"),
        ("<h1>Big</h1>", "Big"),
        ("<div><p>in</p></div>", "<p>in</p>"),
        ('<img src="https://x.test/a.png" onerror="alert(1)">hi', "hi"),
        ('<iframe src="https://x.test"></iframe>hi', "hi"),
        ('<form action="https://x.test"><input name="q">hi</form>', "hi"),
        ('<svg onload="alert(1)"><circle/></svg>hi', "hi"),
        ('<p onclick="alert(1)" style="color:red" class="a" id="b" title="c" lang="d">hi</p>', "<p>hi</p>"),
        ('<a href="https://x.test" target="_blank" rel="me" title="t">hi</a>', '<a href="https://x.test">hi</a>'),
        ("1 < 2 & 3 > 2", "1 &lt; 2 &amp; 3 &gt; 2"),
        ("a\x00b", "ab"),
    ],
)
def test_disallowed_markup_is_removed(raw_html, expected):
    assert html.clean(raw_html).replace("\ufffd", "") == expected


@pytest.mark.parametrize(
    "href",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "java&#x09;script:alert(1)",
        "&#106;avascript:alert(1)",
        "vbscript:msgbox(1)",
        "data:text/html,<script>alert(1)</script>",
        "http://x.test",
        "mailto:a@x.test",
        "tel:1",
        "ftp://x.test",
        "//x.test",
        "/relative",
        "relative",
        "#fragment",
        "",
        "https:x.test",
        "https:",
        "https://",
        "ht\ntps://x.test",
        "{{brand.name}}",
        "{{brand.name}}https://x.test",
    ],
)
def test_link_without_https_is_removed(href):
    assert html.clean(f'<a href="{href}">hi</a>') == "<a>hi</a>"


@pytest.mark.parametrize(
    ("raw_html", "expected"), [("https://x.test", "https://x.test"), (" HTTPS://x.test ", "HTTPS://x.test")]
)
def test_https_link_is_trimmed(raw_html, expected):
    assert html.clean(f'<a href="{raw_html}">hi</a>') == f'<a href="{expected}">hi</a>'


@pytest.mark.parametrize(
    "raw_html",
    [
        "<scr<script>ipt>alert(1)</script>",
        "<<script>script>alert(1)<</script>/script>",
        '<svg><p><style><a id="</style><img src=1 onerror=alert(1)>">',
        '<math><mtext><table><mglyph><style><img src=x onerror="alert(1)">',
        '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
        '<a href="https://x.test" onmouseover="alert(1)"><b onclick=alert(1)>x',
        '"><img src=x onerror=alert(1)>',
        "<p/onclick=alert(1)>x",
        "<template><script>alert(1)</script></template>",
    ],
)
def test_nested_markup_cannot_restore_a_script(raw_html):
    cleaned = html.clean(raw_html)

    for dangerous in ("<script", "<img", "<svg", "<style", "onerror=", "onclick=", "onmouseover="):
        # A name may remain as text, but not inside a tag.
        assert not any(dangerous in tag for tag in _tags(cleaned)), cleaned
    assert html.clean(cleaned) == cleaned


def _tags(cleaned):
    return [f"<{part.partition('>')[0]}" for part in cleaned.split("<")[1:]]


@pytest.mark.parametrize(("raw_html", "expected"), [("<p>open", "<p>open</p>"), ("<b><i>x</b></i>", "<b><i>x</i></b>")])
def test_unclosed_tags_are_closed(raw_html, expected):
    assert html.clean(raw_html) == expected


def test_merge_tags_are_unchanged_in_text_and_links():
    raw_html = '<p>{{ brand.name }}</p><a href="https://x.test/?n={{affiliate.firstName}}">x</a>'

    assert html.clean(raw_html) == raw_html


def test_ten_thousand_open_tags_are_handled():
    assert len(html.clean("<b>" * 3_333)) <= 10_000 * 3


@pytest.mark.parametrize(
    ("cleaned", "text"),
    [
        ("<p>One</p><p>Two<br>three</p>", "One\n\nTwo\nthree"),
        ("<ul><li>a</li><li>b</li></ul>after", "- a\n- b\n\nafter"),
        ('see <a href="https://x.test/?a=1&amp;b=2">our <b>page</b></a>', "see our page (https://x.test/?a=1&b=2)"),
        ("<a>nowhere</a>", "nowhere"),
        ("1 &lt; 2 &amp; &quot;3&quot;", '1 < 2 & "3"'),
        ("&lt;script&gt;", "<script>"),
        ("{{ brand.name }}", "{{ brand.name }}"),
        ("", ""),
    ],
)
def test_cleaned_html_converts_to_text(cleaned, text):
    assert html.to_text(cleaned) == text
