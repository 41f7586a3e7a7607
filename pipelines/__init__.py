"""What happens: plain functions inside the caller's transaction. The map:

sale        a signed sale is accepted, then settled into a priced conversion
override    the recruiter's share of a settled sale
refund      what a conversion gives back, and its override with it
webhook     one attempt to tell an endpoint; emit freezes what it is told
earn        what every new conversion brings with it: history, ledger, event
programs, affiliates, endpoints, keys, organizations   single-step writes
storefront  what a stranger asks of a campaign: to join it
home        an organization's home currency with its rate
jobs        every job by name, and the one way to ask for one
upkeep      what the service forgets
"""
