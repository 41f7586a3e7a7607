"""What the affiliate who signed in sees of themselves, with every brand that they work for.

person     their account, their programs, and what else there is
balance    what they are owed, and when it becomes payable
numbers    what their links brought
links      their links
earnings   what they earned and why, also as a file
receipts   what they were paid
applications  what else they are asked where they applied
network    programs of every brand that one may apply to
assets     what brands give them to advertise with

All of it is for somebody with a verified email alone. Where they are paid is in `payouts.account`, their codes in
`coupons.own`, their recruits in `affiliates.sub_affiliates`, their deals in `deals.creator`.
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
