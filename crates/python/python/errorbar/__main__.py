"""The command line: `errorbar` and `python -m errorbar`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence


def main(args: Sequence[str] | None = None) -> int:
    """Runs the command line on these arguments, or on those of the process; returns the exit code."""
    from errorbar import _errorbar
    from errorbar._custom import entries, import_modules
    from errorbar._errors import Error

    argv = list(sys.argv if args is None else ["errorbar", *args])
    if argv[0].endswith("__main__.py"):
        argv[0] = "errorbar"
    try:
        import_modules()
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    sys.stdout.flush()
    sys.stderr.flush()
    if args is not None:
        return _errorbar.main(argv, entries())
    # As for any program: Python would note the signal and wait for the end of the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _errorbar.main(argv, entries())


if __name__ == "__main__":
    sys.exit(main())
