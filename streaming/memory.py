"""Memory that the process no longer uses."""

import ctypes
import gc


def give_back() -> None:
    """Return to the system what was freed: glibc keeps tens of megabytes of what loading took. Elsewhere nothing."""
    gc.collect()
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(0)
