"""Programs: what affiliates earn, and whether the tag that tells of it is on the brand's pages.

listing     all of them, with their terms in a sentence
making      a new one
program     one: its terms, budget, tracking and last events
changing    its terms, and its end
groups      affiliates who share a rate
tiers       rates that grow with what is sold
recruiting  what recruiting other affiliates pays
install     the tag and its four lights
"""

from pages.brand.programs import changing, groups, install, listing, making, program, recruiting, tiers

BLUEPRINTS = (
    listing.blueprint,
    making.blueprint,
    program.blueprint,
    changing.blueprint,
    groups.blueprint,
    tiers.blueprint,
    recruiting.blueprint,
    install.blueprint,
)
