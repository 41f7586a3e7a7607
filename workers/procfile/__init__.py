"""The programs of a Procfile on one machine: `supervisor` looks after them, `child` is one, `console` shows them."""
