"""What affiliates see of themselves in the API, with every brand."""
