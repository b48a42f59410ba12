"""What can go wrong, by what a caller would do about it.

AcememError                 the base; `exit_code` is what the command line ends with
  NotFound            (1)   the bullet, event or plan named does not exist
  UsageError          (2)   a name, value or combination that the product does not know
  BadInput            (3)   a file or text that cannot be read as what it claims to be
  StoreError          (4)   the store is damaged, locked, foreign or out of room
    StoreBusy         (4)   another process is writing; what only reads may go on without
  ModelError          (5)   an embedder or a model is missing or does not answer

Every message names the value, what was expected, and the next command.
"""

from __future__ import annotations


class AcememError(Exception):
    """Anything acemem refuses or cannot do; catch this to catch all of them."""

    exit_code = 4


class NotFound(AcememError, LookupError):
    """The bullet, event or plan that was named is not in this store."""

    exit_code = 1


class UsageError(AcememError, ValueError):
    """A name, a value or a combination of options that has no meaning here."""

    exit_code = 2


class BadInput(AcememError, ValueError):
    """A file or a text that cannot be read as what it claims to be."""

    exit_code = 3


class StoreError(AcememError):
    """The store is damaged, held by another process, made by another embedder, or out of room."""

    exit_code = 4


class StoreBusy(StoreError):
    """Another process is writing to the bullet table; catch it where reading the older state will do."""


class ModelError(AcememError):
    """An embedder or a model is missing, broken, or does not answer."""

    exit_code = 5
