"""The program `stormplace` from its first moment on: Ctrl-C ends it without a trace while modules load."""

from __future__ import annotations

from cli.interrupt import INTERRUPTED_STATUS, ends_at_once


def main() -> None:
    """Load the commands and run the one that is asked for."""
    try:
        with ends_at_once():
            # takes some tenths of a second, in which Ctrl-C would otherwise show where it struck
            from cli import commands  # noqa: PLC0415
        commands.run()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED_STATUS) from None


if __name__ == "__main__":
    main()
