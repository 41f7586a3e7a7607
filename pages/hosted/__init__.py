"""The pages that the public sees. They work without scripts and keep nothing in the browser.

front_page   what the bare address says
clicks       /r/…: on to the brand's site, the click on its way
leads        the form of a campaign that pays for leads
doors        /door/…: on to a checkout, who sent the buyer remembered
invites      what the link of an invite opens
"""

from pages.hosted import clicks, doors, front_page, invites, leads

BLUEPRINTS = (
    front_page.blueprint,
    clicks.blueprint,
    leads.blueprint,
    doors.blueprint,
    invites.blueprint,
)
