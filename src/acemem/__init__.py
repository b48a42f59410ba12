"""acemem: a scored memory for coding agents. `Memory` is the whole of it; the rest are its words.

Each name is loaded when it is first asked for, so that `mem --help` does not pay for the store.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acemem.api import Memory
    from acemem.memory.errors import AcememError, BadInput, ModelError, NotFound, StoreBusy, StoreError, UsageError
    from acemem.memory.insight import Insight
    from acemem.memory.models import Bullet, Event
    from acemem.memory.refine.plan import Plan
    from acemem.retrieval.ranking import Hit

__all__ = [
    "AcememError",
    "BadInput",
    "Bullet",
    "Event",
    "Hit",
    "Insight",
    "Memory",
    "ModelError",
    "NotFound",
    "Plan",
    "StoreBusy",
    "StoreError",
    "UsageError",
]

_MODULES = {
    "Bullet": "acemem.memory.models",
    "Event": "acemem.memory.models",
    "Hit": "acemem.retrieval.ranking",
    "Insight": "acemem.memory.insight",
    "Memory": "acemem.api",
    "Plan": "acemem.memory.refine.plan",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'acemem' has no attribute {name!r}")
    return getattr(import_module(_MODULES.get(name, "acemem.memory.errors")), name)


def __dir__() -> list[str]:
    return __all__
