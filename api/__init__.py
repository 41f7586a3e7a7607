"""HTTP in, HTTP out. Translates and decides nothing. Subjects list their BLUEPRINTS for `web`."""
