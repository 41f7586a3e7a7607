"""Payment gateways: each adapter proves what its gateway sends and translates it into `domain.gateways.facts`.

`adapter` is their base, `wire` calls a gateway's API, `registry` has the fifteen by name. A folder per kind:
`card`, `storefront`, `billing`, `digital`. An adapter decides nothing about money or affiliates.
"""
