"""What may carry messages between the relay and the fleets: started on 127.0.0.1, killed, and brought back."""
