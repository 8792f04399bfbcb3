"""`python -m server`: options, application, signals.

The engine workers are spawned and import this module again, so what only the edge needs is imported in `main`.
"""

import sys


def main() -> int:
    """Run until SIGTERM or SIGINT; the first one drains, a second one ends."""
    from server.settings import SettingsError, load

    try:
        settings = load(sys.argv[1:])
    except SettingsError as error:
        print(f"error: {error}.", file=sys.stderr)
        return 2

    from server.worker_link import start_process

    started = [start_process(spec) for spec in settings.engine_specs]  # they load while the rest is imported

    import uvloop

    from server import log
    from server.run import run

    log.set_up(settings.log_level)
    return uvloop.run(run(settings, settings.engine_specs, started))


if __name__ == "__main__":
    sys.exit(main())
