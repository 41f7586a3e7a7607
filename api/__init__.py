"""HTTP in, HTTP out. One file per resource; translates, decides nothing. Subjects list their BLUEPRINTS for `web`."""
