"""Programs: terms, tiers, groups, landing page, and the installation of the tracking tag.

listing     all of them, with their terms in a sentence
new_program  a new one
program     one: its terms, budget, tracking and last events
terms       its terms, and its end
groups      affiliates who share a rate
application_form  the questions for applicants
tiers       rates that grow with sales
recruiting  the commission for recruiting other affiliates
landing_page  the page that visitors read before they apply
install     the tag and its four status lights
install_guides    the code of the tag for each kind of site
"""

from pages.brand.programs import (
    application_form,
    groups,
    install,
    landing_page,
    listing,
    new_program,
    program,
    recruiting,
    terms,
    tiers,
)

BLUEPRINTS = (
    listing.blueprint,
    new_program.blueprint,
    program.blueprint,
    terms.blueprint,
    groups.blueprint,
    tiers.blueprint,
    recruiting.blueprint,
    application_form.blueprint,
    landing_page.blueprint,
    install.blueprint,
)
