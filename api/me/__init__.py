"""The signed-in affiliate's own records, with every brand that they work for.

person        their account, their programs, and programs open to them
balance       the amounts that they are owed, and when these become payable
numbers       the clicks and sales of their links
links         their links
earnings      their earnings with the reasons, also as a file
receipts      the payouts to them
applications  the second step of their applications
network       programs of every brand that they may apply to
assets        texts and images from brands

All of it needs a verified email. Payout accounts are in `payouts.account`, codes in `coupons.own`, recruits in
`affiliates.sub_affiliates`, deals in `deals.creator`.
"""

from api.me import applications, assets, balance, earnings, links, network, numbers, person, receipts

BLUEPRINTS = (
    person.blueprint,
    balance.blueprint,
    numbers.blueprint,
    links.blueprint,
    earnings.blueprint,
    receipts.blueprint,
    network.blueprint,
    assets.blueprint,
    applications.blueprint,
)
