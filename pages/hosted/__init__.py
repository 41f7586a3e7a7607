"""The pages that the public sees. They work without scripts and keep nothing in the browser.

front_page   what the bare address says
landing      /p/…: the page of a campaign, and where one applies; what crawlers ask
clicks       /r/…: on to the brand's site, the click on its way
leads        the form of a campaign that pays for leads
doors        /door/…: on to a checkout, who sent the buyer remembered
embed        what a brand's own site shows an affiliate, and the script for that
invites      what the link of an invite opens
answers      what else somebody is asked who applied
"""

from pages.hosted import answers, clicks, doors, embed, front_page, invites, landing, leads

BLUEPRINTS = (
    front_page.blueprint,
    *landing.BLUEPRINTS,
    clicks.blueprint,
    leads.blueprint,
    doors.blueprint,
    invites.blueprint,
    answers.blueprint,
    embed.blueprint,
)
