"""No test of notes reaches a model."""

from __future__ import annotations

from tests.memory.learn.model.conftest import no_model_requests

__all__ = ["no_model_requests"]
