"""Events: their payloads and samples, how they are signed, when they are sent again."""
