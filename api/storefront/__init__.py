"""What strangers see of a brand: which campaign an address stands for, and the application form."""
