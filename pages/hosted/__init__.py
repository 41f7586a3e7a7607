"""Public pages. They work without scripts and store nothing in the browser.

front_page       the page at /
landing          /p/…: landing pages of campaigns with the application form; files for crawlers
clicks           /r/…: the redirect to the brand's site, which records a click
leads            the form of a campaign that pays for leads
checkout_door    /door/…: the redirect to a checkout, which records the referral
embed            the page that a brand's own site embeds, and its script
invites          the page of an invite's link
answers          additional questions for applicants
unsubscribe      the page of an unsubscribe link
unknown_address  the page of an address that does not exist
"""

from pages.hosted import (
    answers,
    checkout_door,
    clicks,
    embed,
    front_page,
    invites,
    landing,
    leads,
    unknown_address,
    unsubscribe,
)

BLUEPRINTS = (
    front_page.blueprint,
    *landing.BLUEPRINTS,
    clicks.blueprint,
    leads.blueprint,
    checkout_door.blueprint,
    invites.blueprint,
    answers.blueprint,
    unsubscribe.blueprint,
    embed.blueprint,
    unknown_address.blueprint,
)
