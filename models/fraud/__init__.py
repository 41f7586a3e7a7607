"""Events of the fraud rules, and the fraud settings of each brand."""
