"""What happens to a sale: accepted, settled, held, reviewed, refunded. Lock order: sale, conversion, override."""
