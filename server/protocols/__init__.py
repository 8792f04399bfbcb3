"""One file per wire format, each a thin translation to `server.session`."""
