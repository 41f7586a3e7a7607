"""The pages of the service in a browser. docs/screens.md describes them.

documents         a template as a response, with the headers of every page
hosted            the public pages: /, /r/…, /lead/…, /door/…, /invites/…, /embed/…

screens           the parts of every screen for a signed-in person: access, frame, live parts, error pages
session           the session cookie and its person
pending_forms     a form that waits while its person logs in again
api_client        calls of a screen to the API, in this process, as that person
navigation        the three areas, and the places in the bar of each
forms             values and errors of a form
form_values       numbers, amounts and host names as people type them
form_pages        declarations of pages with forms, which show, send and refuse in one way
list_pages        lists of the API by the filter in the address
template_filters  formats of money, numbers, times and states; tables that fold
charts            charts as SVG
static_files      style, icons and scripts
docs              /docs: the documentation of the API
sign_in           /sign-in, the one-time links, identity providers, /sign-out, /theme
brand, portal, console   the areas, one module per screen

A page shows data of the API, so `pages` lies above `api` and queries no table. Templates are in `templates/`:
`hosted/` in `page.html`, `docs/` in `docs/frame.html`, `screens/` in `screens/base.html`.
"""

from pages import brand, console, docs, hosted, portal, sign_in, static_files

BLUEPRINTS = (
    *hosted.BLUEPRINTS,
    *docs.BLUEPRINTS,
    static_files.blueprint,
    *sign_in.BLUEPRINTS,
    *brand.BLUEPRINTS,
    *portal.BLUEPRINTS,
    *console.BLUEPRINTS,
)
