"""The product beside its anchors, measured in one run on one machine: `python -m bench [--quick] [--only NAME]`."""
