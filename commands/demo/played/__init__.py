"""Played sources: servers on this machine that answer like another affiliate system, for `flask demo` and tests.

server         the HTTP server: it checks the credentials, logs requests and applies faults
source         the base class of a played source: its routes, credentials and account
account        the rows of an account, which may change between two pages
paging         pages by number and by the last id
faults         answers that a source should not give: 429, 5xx, HTML, redirects, rows that move
sample         a deterministic account in a neutral form, computed row by row
rewardful      Rewardful
firstpromoter  FirstPromoter
tolt           Tolt
partnerstack   PartnerStack
tapfiliate     Tapfiliate
lemonsqueezy   Lemon Squeezy
dub            Dub

A played source is a module with the name of its source and two functions: `build_account(sample)` returns the account
in the source's own JSON, `build_source(account)` the source to pass to `server.playing`.
"""
