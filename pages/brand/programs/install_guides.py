"""How the tag is put on each kind of site: the code for it, derived from the attributes of the script."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

import orjson

#: The kinds of site with a guide: its name in the address, and its name for people.
SITES: Mapping[str, str] = MappingProxyType(
    {
        "html": "Plain HTML",
        "gtm": "Google Tag Manager",
        "wordpress": "WordPress",
        "shopify": "Shopify",
        "nextjs": "Next.js",
        "spa": "React, Vue and other single-page apps",
    }
)
#: The calls that a cookie banner makes; they may come before the script has loaded.
CONSENT_CODE = """<script>
  window.Finderfee=window.Finderfee||function(){(Finderfee.q=Finderfee.q||[]).push(arguments)};
  // When the visitor accepts, and on every later page while the consent holds:
  Finderfee('consent', true)
  // When the visitor declines or withdraws:
  Finderfee('consent', false)
</script>"""


@dataclass(frozen=True, slots=True)
class InstallGuide:
    """The guide of one kind of site; `code` is the text to copy."""

    site: str
    name: str
    code: str


def build_guide(site: str, *, snippet: str, attributes: Mapping[str, str]) -> InstallGuide:
    """Return the guide of a kind of site; an unknown one is plain HTML."""
    chosen = site if site in SITES else "html"
    codes = {"gtm": _tag_manager_code, "nextjs": _next_code, "wordpress": _wordpress_code}
    code = codes[chosen](attributes) if chosen in codes else snippet
    return InstallGuide(chosen, SITES[chosen], code)


def _tag_manager_code(attributes: Mapping[str, str]) -> str:
    """Return a script that adds the tag: Google Tag Manager drops data attributes of script tags."""
    # `<` is escaped, so that no value can end the script.
    literal = orjson.dumps(dict(attributes)).decode().replace("<", "\\u003c")
    return f"""<script>
(function () {{
  var attributes = {literal};
  var script = document.createElement('script');
  script.async = true;
  for (var name in attributes) script.setAttribute(name, attributes[name]);
  document.head.appendChild(script);
}})();
</script>"""


def _next_code(attributes: Mapping[str, str]) -> str:
    lines = "\n".join(f"          {name}={orjson.dumps(value).decode()}" for name, value in attributes.items())
    return f"""// app/layout.js
import Script from 'next/script'

export default function RootLayout({{ children }}) {{
  return (
    <html lang="en">
      <body>
        {{children}}
        <Script
          strategy="afterInteractive"
{lines}
        />
      </body>
    </html>
  )
}}"""


def _wordpress_code(attributes: Mapping[str, str]) -> str:
    """Return a function for a child theme or a code plugin that prints the tag into the head of each page."""
    tag = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
    quoted = tag.replace("\\", "\\\\").replace("'", "\\'")
    return f"""add_action('wp_head', function () {{
  echo '<script async {quoted}></script>';
}});"""
