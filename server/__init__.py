"""The edge: sockets, sessions and wire protocols. Knows no torch."""
