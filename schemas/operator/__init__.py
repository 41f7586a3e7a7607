"""What operators see and send, of the installation and of every organization."""
