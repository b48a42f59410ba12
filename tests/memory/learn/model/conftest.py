"""No test of extraction reaches a model: requests are forbidden, and keys of whoever runs the tests are taken away."""

from __future__ import annotations

import os
import sys

import pytest

KEYS = ("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "OLLAMA_", "CLAUDECODE")


@pytest.fixture(autouse=True)
def no_model_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbids requests to models. Files that use pydantic-ai import it at their top; others need not pay for it."""
    for name in list(os.environ):
        if name.startswith(KEYS):
            monkeypatch.delenv(name)
    models = sys.modules.get("pydantic_ai.models")
    if models is not None:
        monkeypatch.setattr(models, "ALLOW_MODEL_REQUESTS", False)
