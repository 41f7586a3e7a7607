"""What every route needs: its declaration, bodies and ids read, answers and errors, pages of lists, the audit trail."""
