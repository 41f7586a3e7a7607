"""The HTTP interface: it translates requests and decides nothing. Subjects list their BLUEPRINTS for `web`."""
