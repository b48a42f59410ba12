"""The ledger's file and the folder it lies in."""

from __future__ import annotations

import stat
from pathlib import Path

from acemem.memory.database import Database


def test_a_new_home_is_its_owners_alone(tmp_path: Path) -> None:
    """What sessions said is nobody else's business, whatever the mask of new files."""
    Database(tmp_path / "home" / "ledger.db").close()
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700
