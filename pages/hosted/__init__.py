"""The pages that the public sees. They work without scripts and keep nothing in the browser.

front_page   what the bare address says
clicks       /r/…: on to the brand's site, the click on its way
leads        the form of a campaign that pays for leads
invites      what the link of an invite opens
"""

from pages.hosted import clicks, front_page, invites, leads

BLUEPRINTS = (
    front_page.blueprint,
    clicks.blueprint,
    leads.blueprint,
    invites.blueprint,
)
