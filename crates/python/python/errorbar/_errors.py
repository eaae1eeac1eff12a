"""Exceptions and warnings of the package."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

#: How the paths of the files of the package begin.
_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


class Error(Exception):
    """Something that could not be read or computed. What there is to know about it is in its attributes."""

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        row: int | None = None,
        line: int | None = None,
        sample: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        #: What is wrong, without the hint.
        self.message = message
        #: The file or frame that it is about, as it was given.
        self.path = path
        #: The row of a frame or of a Parquet file, from 1.
        self.row = row
        #: The line of a text file, from 1.
        self.line = line
        #: The id of the sample.
        self.sample = sample
        #: What to do about it.
        self.hint = hint
        #: Further errors of the same call.
        self.others: list[Error] = []
        #: The results of everything that could be computed.
        self.results: Any = None

    def __str__(self) -> str:
        lines = [self.message]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        if self.others:
            more = len(self.others)
            lines.append(f"({more} more {'error' if more == 1 else 'errors'} in .others)")
        return "\n".join(lines)

    def __reduce__(self) -> Any:
        # Results are values of this process.
        fields = {**self.__dict__, "results": None}
        return _restore, (type(self), self.message, fields)


def _restore(kind: type[Error], message: str, fields: dict[str, Any]) -> Error:
    """An exception that was pickled, as those of worker processes are."""
    error = kind(message)
    error.__dict__.update(fields)
    return error


class InputError(Error, ValueError):
    """Arguments or data that cannot be used."""


class TableError(InputError):
    """A frame or a table of scores that cannot be read."""


class LogError(InputError):
    """An eval log that cannot be read."""


class SpecError(InputError):
    """A metric, reducer or scorer that does not exist or has other arguments."""


class ScoreWarning(UserWarning):
    """Something that a reader of the results should know."""


def warn(message: str) -> None:
    """Issues a warning that names the line that called the package."""
    if sys.version_info >= (3, 12):
        warnings.warn(message, ScoreWarning, skip_file_prefixes=(_PACKAGE,))
    else:
        level, frame = 2, sys._getframe(1)
        while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
            level, frame = level + 1, frame.f_back
        warnings.warn(message, ScoreWarning, stacklevel=level)
