"""What affiliates see of themselves on the wire, with every brand."""
