"""Payment gateways: each adapter proves what its gateway sends and translates it into `domain.gateways.facts`.

`base` is what every adapter offers, `wire` how it calls its gateway, `registry` the fifteen by name. A folder per kind:
`card`, `storefront`, `billing`, `digital`. An adapter decides nothing about money or affiliates.
"""
