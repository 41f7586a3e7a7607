"""What others build on the description: public linters, and clients that public generators make."""
