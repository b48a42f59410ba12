from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from acemem.memory.embedders.minilm import CALIBRATION
from acemem.retrieval.relevance import relevance
from acemem.retrieval.weights import DEFAULT_WEIGHTS as RANKING
from acemem.scoring import bounds, evidence
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS, Mark, score
from acemem.scoring.evidence import DAY_SECONDS
from acemem.scoring.lifecycle import should_prune
from acemem.scoring.patience import patience

NAMES = ("learning_world", "learning_engine", "learning_policies", "learning")
RNG = np.random.default_rng(0)
HELPFUL, HARMFUL = RNG.exponential(3, 500), RNG.exponential(3, 500) * (RNG.random(500) < 0.7)
BASES = RNG.uniform(*evidence.BASE_RANGE, 500)


@pytest.fixture(scope="module")
def simulation() -> Iterator[Any]:
    """The benchmark's modules, which are scripts beside each other and no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        modules: dict[str, ModuleType] = {}
        for name in NAMES:
            __import__(name)
            modules[name.removeprefix("learning_")] = sys.modules[name]
        yield SimpleNamespace(**modules)
        for name in NAMES:
            del sys.modules[name]


def view(simulation: Any, **known: Any) -> Any:
    """A view in which nothing is known but this."""
    names = simulation.world.View.__dataclass_fields__
    return SimpleNamespace(**{name: known.get(name) for name in names})


class TestTwins:
    """What the simulation computes for arrays is what the product computes for one bullet."""

    def test_the_factor(self, simulation: Any) -> None:
        """The evidence term of a rank, with every weight that the ablation uses."""
        for w, c in [(2.0, 1.0), (3.0, 0.0), (1.0, 1.0)]:
            ours = simulation.policies.factor(HELPFUL, HARMFUL, BASES, w, c)
            theirs = [evidence.ordering_factor(*row, w, c) for row in zip(HELPFUL, HARMFUL, BASES, strict=True)]
            assert ours == pytest.approx(theirs, abs=1e-12)

    def test_relevance_without_words(self, simulation: Any) -> None:
        """Of relevance only the part of meaning is left."""
        cosines = np.linspace(-1, 1, 100)
        judged = relevance(cosines, np.zeros(100), 0.0, CALIBRATION, RANKING)
        assert simulation.policies.semantic(cosines) == pytest.approx(judged.semantic)
        assert judged.relevance == pytest.approx(RANKING.semantic * judged.semantic)

    def test_slots(self, simulation: Any) -> None:
        """Which bullets earn a slot behind the first, on both sides of every edge."""
        cosines = RNG.uniform(0, CALIBRATION.same, 500)
        near = (evidence.SLOT_REACH, evidence.SLOT_REACH_SPOTLESS)
        known = view(
            simulation,
            cosine=cosines[None],
            helpful=HELPFUL[None],
            harmful=HARMFUL[None],
            base=np.array([[0.55]]),
            pool=np.ones((1, 500), dtype=bool),
        )
        [ours] = simulation.policies.earns_a_slot(known, 2.0, 1.0, evidence.SLOT_FACTOR, near)
        meaning = simulation.policies.semantic(cosines)
        theirs = [
            evidence.earns_a_slot(helpful, harmful, 0.55, float(here), float(meaning.max()))
            for helpful, harmful, here in zip(HELPFUL, HARMFUL, meaning, strict=True)
        ]
        assert ours.tolist() == theirs
        assert 0 < sum(theirs) < 500

    def test_patience_and_bounds(self, simulation: Any) -> None:
        """The small ones."""
        assert simulation.policies.patience(np.arange(60.0)) == pytest.approx([patience(n) for n in range(60)])
        trials = HELPFUL + HARMFUL
        for name in ("wilson_upper", "wilson_lower"):
            theirs = [getattr(bounds, name)(*row) for row in zip(HELPFUL, trials, strict=True)]
            assert getattr(simulation.engine, name)(HELPFUL, trials) == pytest.approx(theirs)
        assert simulation.engine.wilson_upper(np.zeros(1), np.zeros(1)) == [1.0]

    @pytest.mark.parametrize("explicit", [True, False])
    def test_a_store_counts_ages_and_prunes(self, simulation: Any, explicit: bool) -> None:
        """After random histories: aged sums, base rate and what is pruned, as the shipped functions have it."""
        bullets, half_life = 200, 80.0
        memory = simulation.engine.Memory(np.zeros((1, bullets)), half_life)
        histories: list[list[Mark]] = [[] for _ in range(bullets)]
        quality = RNG.random(bullets)
        for step in range(60):
            day = step / 4
            chosen = np.sort(RNG.choice(bullets, 25, replace=False))
            helpful = RNG.random(25) < quality[chosen]
            weight = np.full(25, 1.0 if explicit else 0.5)
            memory.mark((np.zeros(25, dtype=int), chosen), helpful, weight, np.full(25, explicit), day)
            for bullet, helped in zip(chosen, helpful, strict=True):
                mark = Mark(day * DAY_SECONDS, bool(helped), float(weight[0]), f"s{step}", explicit)
                histories[bullet].append(mark)
        sums = [evidence.aged(marks, 20 * DAY_SECONDS, half_life) for marks in histories]
        left = memory.left(20.0)
        assert np.column_stack([memory.helpful[0], memory.harmful[0]]) * left == pytest.approx(np.array(sums))
        weights = [
            [mark.weight for marks in histories for mark in marks if mark.helpful is side] for side in (True, False)
        ]
        base = evidence.base_rate(*map(math.fsum, weights))
        assert memory.base() == pytest.approx(base)
        memory.prune("evidence")
        theirs = [
            should_prune(marks, score(marks, DEFAULT_WEIGHTS), base, len(marks)) is not None for marks in histories
        ]
        assert memory.pruned[0].tolist() == theirs
        assert 0 < sum(theirs) < bullets


class TestWorld:
    @pytest.fixture
    def small(self, simulation: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
        """Twelve topics of ten bullets, and 400 tasks."""
        monkeypatch.setattr(simulation.engine, "TASKS", 400)
        rng = np.random.default_rng(1)
        bullets, tasks = np.repeat(np.arange(12), 10), np.repeat(np.arange(12), 3)
        cosines = rng.uniform(0.1, 0.5, (36, 120)) + 0.3 * (tasks[:, None] == bullets)
        return simulation.world.Corpus(cosines, bullets, tasks)

    def test_learning_beats_similarity(self, simulation: Any, small: Any) -> None:
        """A world in which the shipped ranking is no better than similarity is built wrongly."""
        rows = simulation.world.settings([1, 2])
        wanted = ("similarity only", "shipped")
        plain, ours = (
            simulation.engine.simulate(policy, rows, small).measures
            for policy in simulation.policies.policies()
            if policy.name in wanted
        )
        assert ours["success"].mean() > plain["success"].mean()
        assert ours["harmful"].mean() < plain["harmful"].mean()
        assert plain["shown"] == pytest.approx(5.0)
        assert plain["kept"] == pytest.approx(1.0)

    def test_a_run_can_be_repeated(self, simulation: Any, small: Any) -> None:
        """The same seed gives the same rows; another seed gives others."""
        policy = simulation.policies.shipped("shipped")
        one, same, other = (
            simulation.engine.simulate(policy, simulation.world.settings([seed]), small).measures["success"]
            for seed in (1, 1, 2)
        )
        assert one.tolist() == same.tolist()
        assert one.tolist() != other.tolist()


def test_recovery_is_counted_from_the_drift(simulation: Any) -> None:
    """Recovered is where the moving success reaches the bar, and never where it does not."""
    curve = np.concatenate([np.full(60, 0.7), np.full(20, 0.5), np.full(40, 0.69)])
    assert simulation.learning.level(curve) == pytest.approx(0.7)
    assert simulation.learning.recovery(curve, 0.68) == 28 * simulation.engine.BLOCK
    assert simulation.learning.recovery(curve, 0.7) is None
