"""Newsletter and CRM platforms: each adapter proves a brand's credentials and finds a person's signup record.

`base` is the base of the adapters, `wire` calls a platform within its time, `registry` has the five by name; then
one file for each: `kit`, `beehiiv`, `mailchimp`, `hubspot`, `activecampaign`. An adapter decides nothing about money or
affiliates.
"""
