"""Programs: what affiliates earn, and whether the tag that tells of it is on the brand's pages.

listing     all of them, with their terms in a sentence
making      a new one
program     one: its terms, budget, tracking and last events
changing    its terms, and its end
groups      affiliates who share a rate
application_form  what is asked of who applies
tiers       rates that grow with what is sold
recruiting  what recruiting other affiliates pays
landing_page  what strangers read before they apply
install     the tag and its four lights
domain      its custom domain, and what proves that
"""

from pages.brand.programs import (
    application_form,
    changing,
    domain,
    groups,
    install,
    landing_page,
    listing,
    making,
    program,
    recruiting,
    tiers,
)

BLUEPRINTS = (
    listing.blueprint,
    making.blueprint,
    program.blueprint,
    changing.blueprint,
    groups.blueprint,
    tiers.blueprint,
    recruiting.blueprint,
    application_form.blueprint,
    landing_page.blueprint,
    install.blueprint,
    domain.blueprint,
)
