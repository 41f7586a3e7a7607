"""What others build on the interface: public linters, clients that public generators make, and our own clients."""
