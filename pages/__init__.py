"""What people see of the service in a browser. docs/screens.md describes the house.

documents   a template as an answer, with the headers of every page
hosted      the pages that the public sees: /, /r/…, /lead/…, /door/…, /invites/…, /embed/…

screens     what every screen of a person who signed in has: who may see it, its frame, live parts, error pages
session     the cookie, and the person it stands for
kept        a form that waits while its person logs in again
calls       how a screen asks the API, in this process, as that person
navigation  the three areas, and what is in the bar of each
forms       what is in a form, and what is wrong with it
typed       numbers as people type them
form_pages  pages with forms: each form declared, and shown, sent, refused and led on in one way
list_pages  lists of the API by the filter in the address
show        how money, numbers, times and states look
charts      pictures of figures
tables      tables that fold where there is no room for columns
statics     style, icons and scripts
sign_in     /sign-in, the one-time links, identity providers, /sign-out, /theme
brand, portal, console   the areas, one module per screen

A page shows what the api gives it, so it lies above it and asks no table by itself. Templates are in `templates/`:
`hosted/` in `page.html`, `screens/` in `screens/base.html`.
"""

from pages import brand, console, hosted, portal, sign_in, statics

BLUEPRINTS = (
    *hosted.BLUEPRINTS,
    statics.blueprint,
    *sign_in.BLUEPRINTS,
    *brand.BLUEPRINTS,
    *portal.BLUEPRINTS,
    *console.BLUEPRINTS,
)
