"""The feedback simulation itself: all settings and seeds side by side, one row each, task after task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from learning_world import (
    ATTENTION,
    FLIPPED,
    HARMS,
    HELPS,
    LATE,
    LATE_UNTIL,
    MISTAGGED,
    TAGGED,
    TASKS,
    TASKS_A_DAY,
    Corpus,
    Flags,
    Floats,
    Policy,
    Setting,
    View,
    Whole,
)

from acemem.scoring.bounds import Z
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS
from acemem.scoring.evidence import BASE_PSEUDO_COUNTS, BASE_RANGE
from acemem.scoring.lifecycle import PRUNE_HARMFUL, PRUNE_USES

POOL = 50  # as in retrieval: so many candidates compete
NEAREST = 120  # bullets looked at per task, so that 50 of them have arrived and are not pruned
EARLY = (3, 5, 10)  # relevant tasks after its arrival within which a new bullet should have been shown
BLOCK = 25  # tasks per point of the success curve
MEASURES = (
    "success",
    "on topic",
    "harmful share",
    "harmful",
    "shown",
    *(f"early {n}" for n in EARLY),
    "kept",
    "pruned",
)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a policy: each measure per row, and the success curve, (rows, blocks)."""

    measures: dict[str, Floats]
    curve: Floats


@dataclass(slots=True)
class Draws:
    """What a seed draws before the first task, (rows, bullets) or (rows, tasks): the same for every policy."""

    useful: Floats
    turns: Flags
    arrives: Floats  # in tasks; 0 for those that are there from the start
    importance: Floats
    tasks: Whole
    seeds: Whole  # (rows,) which of the distinct seeds a row has

    @classmethod
    def of(cls, settings: Sequence[Setting], corpus: Corpus) -> Draws:
        """Draws for each seed once, so that its worlds, feedbacks and base rates differ in nothing else."""
        rows, bullets = len(settings), len(corpus.bullet_topics)
        distinct = list(dict.fromkeys(setting.seed for setting in settings))
        drawn = {}
        for seed in distinct:
            rng = np.random.default_rng([seed, 1])
            drawn[seed] = rng.random((5, bullets)), rng.integers(0, len(corpus.task_topics), TASKS)
        self = cls(
            useful=np.empty((rows, bullets)),
            turns=np.empty((rows, bullets), dtype=bool),
            arrives=np.empty((rows, bullets)),
            importance=np.empty((rows, bullets)),
            tasks=np.empty((rows, TASKS), dtype=np.int64),
            seeds=np.array([distinct.index(setting.seed) for setting in settings]),
        )
        for row, setting in enumerate(settings):
            (kind, late, when, drift, importance), tasks = drawn[setting.seed]
            world = setting.world
            self.useful[row] = np.where(
                kind < world.helpful, HELPS, np.where(kind < world.helpful + world.neutral, 0.0, HARMS)
            )
            self.turns[row] = (self.useful[row] > 0) & (drift < world.drift)
            self.arrives[row] = np.where(late < LATE, np.ceil(when * LATE_UNTIL * TASKS), 0.0)
            self.importance[row] = importance
            self.tasks[row] = tasks
        return self


class Memory:
    """Everything a policy's store knows: marks, weights, when shown, what is pruned; all (rows, bullets)."""

    def __init__(self, arrives: Floats, half_life: float) -> None:
        shape = arrives.shape
        self.half_life = half_life
        self.helpful, self.harmful = np.zeros(shape), np.zeros(shape)  # weighted, grown by what later marks faded less
        self.weighted_helpful, self.weighted_harmful = np.zeros(shape), np.zeros(shape)
        self.plain_helpful, self.plain_harmful = np.zeros(shape), np.zeros(shape)
        self.complaints = np.zeros(shape)  # explicit harmful marks, each of its own session, since the last helpful one
        self.confirmed = arrives / TASKS_A_DAY
        self.shown = arrives / TASKS_A_DAY
        self.ignored = np.zeros(shape)
        self.pruned = np.zeros(shape, dtype=bool)

    def left(self, day: float) -> float:
        """What is left of a mark of day 0."""
        return float(0.5 ** (day / self.half_life))

    def base(self) -> Floats:
        """The running base rate of each row, as `base_rate` computes it; (rows, 1)."""
        helpful = self.weighted_helpful.sum(1, keepdims=True)
        total = helpful + self.weighted_harmful.sum(1, keepdims=True)
        rate: Floats = (helpful + BASE_PSEUDO_COUNTS / 2) / (total + BASE_PSEUDO_COUNTS)
        return np.clip(rate, *BASE_RANGE)

    def mark(self, at: tuple[Whole, Whole], helpful: Flags, weight: Floats, explicit: Flags, day: float) -> None:
        """Notes marks; no bullet of a row comes twice."""
        grown = weight / self.left(day)
        for is_helpful, aged, weighted, plain in (
            (helpful, self.helpful, self.weighted_helpful, self.plain_helpful),
            (~helpful, self.harmful, self.weighted_harmful, self.plain_harmful),
        ):
            aged[at] += np.where(is_helpful, grown, 0.0)
            weighted[at] += np.where(is_helpful, weight, 0.0)
            plain[at] += is_helpful
        self.complaints[at] = np.where(helpful, 0.0, self.complaints[at] + explicit)
        self.confirmed[at] = np.where(helpful, day, self.confirmed[at])

    def show(self, each: Whole, chosen: Whole, shows: Flags, used: Flags, day: float) -> None:
        """Notes what was shown, and of that what is known to have been used."""
        at = np.nonzero(shows)
        place = at[0], chosen[at]
        self.shown[place] = day
        self.ignored[place] = np.where(used[at], 0.0, self.ignored[place] + 1)

    def prune(self, rule: str) -> None:
        """Archives what the rule says, for good."""
        score = DEFAULT_WEIGHTS.helpful * self.weighted_helpful + DEFAULT_WEIGHTS.harmful * self.weighted_harmful
        bad = score < -1e-9
        if rule == "evidence":
            trials = self.weighted_helpful + self.weighted_harmful
            poor = wilson_upper(self.weighted_helpful, trials) < self.base()
            used = self.plain_helpful + self.plain_harmful >= PRUNE_USES
            bad &= (self.complaints >= PRUNE_HARMFUL) | (used & poor)
        self.pruned |= bad


def simulate(policy: Policy, settings: Sequence[Setting], corpus: Corpus) -> Result:
    """Runs one policy through all tasks of all settings.

    Success is the chance of it, given what was shown and used; measuring the drawn outcome would only add noise.
    """
    draws = Draws.of(settings, corpus)
    rows, bullets = draws.useful.shape
    each = np.arange(rows)[:, None]
    nearest = np.argsort(-corpus.cosines, axis=1, kind="stable")[:, :NEAREST]
    cosines = np.take_along_axis(corpus.cosines, nearest, 1)
    shared = np.array([[setting.feedback == "shared"] for setting in settings])
    logit = np.array([np.log(setting.base / (1 - setting.base)) for setting in settings])
    off_topic = np.array([[setting.world.off_topic] for setting in settings])
    luck, own_luck = np.random.default_rng([settings[0].seed, 2]), np.random.default_rng([settings[0].seed, 3])
    memory = Memory(draws.arrives, policy.half_life)
    useful = draws.useful.copy()
    wait = Wait(draws.arrives, corpus)
    success = np.empty((rows, TASKS))
    on_topic, harmful, shown = np.zeros(rows), np.zeros(rows), np.zeros(rows)
    attention = ATTENTION ** np.arange(policy.k)
    for now in range(TASKS):
        day = now / TASKS_A_DAY
        if now == TASKS // 2:
            useful[draws.turns] = HARMS
        task = draws.tasks[:, now]
        topic = corpus.task_topics[task][:, None]
        candidates = nearest[task]
        flat = candidates + each * bullets
        alive = (draws.arrives.take(flat) <= now) & ~memory.pruned.take(flat)
        left = memory.left(day)
        view = View(
            cosine=cosines[task],
            helpful=memory.helpful.take(flat) * left,
            harmful=memory.harmful.take(flat) * left,
            plain_helpful=memory.plain_helpful.take(flat),
            plain_harmful=memory.plain_harmful.take(flat),
            since_confirmed=day - memory.confirmed.take(flat),
            since_shown=day - memory.shown.take(flat),
            importance=draws.importance.take(flat),
            ignored=memory.ignored.take(flat),
            base=memory.base(),
            pool=alive & (np.cumsum(alive, axis=1) <= POOL),
            rng=own_luck,
        )
        ranked = np.where(view.pool, policy.rank(view), -np.inf)
        best = np.argsort(-ranked, axis=1, kind="stable")[:, : policy.k]
        shows = np.isfinite(np.take_along_axis(ranked, best, 1))
        chosen = np.take_along_axis(candidates, best, 1)
        fits = corpus.bullet_topics[chosen] == topic
        truth = useful[each, chosen]
        effect = np.where(fits, truth, off_topic)
        # The same luck for every policy, whatever it shows: one number per seed, slot and question.
        drawn = luck.random((len(set(draws.seeds)), 4, 10))[draws.seeds]
        used = shows & (drawn[:, 0, : policy.k] < attention)
        chance = 1 / (1 + np.exp(-(logit + (effect * used).sum(1))))
        success[:, now] = chance
        shown += shows.sum(1)
        on_topic += (shows & fits).sum(1)
        harmful += (shows & (truth < 0)).sum(1)
        wait.show(each, chosen, shows, topic, now)
        # A tag on a bullet that does nothing is a coin; one about something else cannot be used, and gets none.
        verdict = (drawn[:, 3, :1] < chance[:, None]) ^ (drawn[:, 3, 1:2] < FLIPPED)
        told = np.where(effect == 0, drawn[:, 3, 2 : 2 + policy.k] < 0.5, effect > 0)
        told = told ^ (drawn[:, 2, : policy.k] < MISTAGGED)
        marked = np.where(shared, shows, used & fits & (drawn[:, 1, : policy.k] < TAGGED))
        at = np.nonzero(marked)
        memory.mark(
            (at[0], chosen[at]),
            np.where(shared, verdict, told)[at],
            np.broadcast_to(np.where(shared, policy.verdict_weight, 1.0), marked.shape)[at],
            np.broadcast_to(~shared, marked.shape)[at],
            day,
        )
        memory.show(each, chosen, shows, marked, day)
        if policy.pruning != "none" and now % TASKS_A_DAY == TASKS_A_DAY - 1:
            memory.prune(policy.pruning)
    good = useful > 0
    measures = {
        "success": success.mean(1),
        "on topic": on_topic / shown,
        "harmful share": harmful / shown,
        "harmful": harmful / TASKS,
        "shown": shown / TASKS,
        **{f"early {n}": wait.early(n, good) for n in EARLY},
        "kept": (good & ~memory.pruned).sum(1) / good.sum(1),
        "pruned": memory.pruned.sum(1).astype(float),
    }
    return Result(measures, success.reshape(rows, TASKS // BLOCK, BLOCK).mean(2))


class Wait:
    """How many tasks of its own topic a new bullet waits until it is first shown, to whatever task."""

    def __init__(self, arrives: Floats, corpus: Corpus) -> None:
        self.late = arrives > 0
        self.topics = corpus.bullet_topics
        self.asked = np.zeros((len(arrives), int(corpus.task_topics.max()) + 1))
        self.at_arrival = np.zeros(arrives.shape)
        self.waited = np.full(arrives.shape, np.inf)
        self.arriving: dict[int, tuple[Whole, Whole]] = {}
        for now in np.unique(arrives[self.late]):
            row, bullet = np.nonzero(arrives == now)
            self.arriving[int(now)] = row, bullet

    def show(self, each: Whole, chosen: Whole, shows: Flags, topic: Whole, now: int) -> None:
        """Notes what one task shows; to be called for every task in turn."""
        if now in self.arriving:
            row, bullet = self.arriving[now]
            self.at_arrival[row, bullet] = self.asked[row, self.topics[bullet]]
        at = np.nonzero(shows)
        bullets = chosen[at]
        waited = self.asked[at[0], self.topics[bullets]] - self.at_arrival[at[0], bullets]
        self.waited[at[0], bullets] = np.minimum(self.waited[at[0], bullets], waited)
        self.asked[each, topic] += 1

    def early(self, tasks: int, good: Flags) -> Floats:
        """The share of the new and still good that were shown within so many tasks of their topic, if there were."""
        had_them = self.late & good & (self.asked[:, self.topics] - self.at_arrival >= tasks)
        share: Floats = (had_them & (self.waited < tasks)).sum(1) / had_them.sum(1)
        return share


def wilson_upper(successes: Floats, trials: Floats) -> Floats:
    """`acemem.scoring.bounds.wilson_upper` for arrays."""
    return np.where(trials == 0, 1.0, np.minimum(1.0, _wilson(successes, trials, 1.0)))


def wilson_lower(successes: Floats, trials: Floats) -> Floats:
    """`acemem.scoring.bounds.wilson_lower` for arrays."""
    return np.where(trials == 0, 0.0, np.maximum(0.0, _wilson(successes, trials, -1.0)))


def _wilson(successes: Floats, trials: Floats, side: float) -> Floats:
    some = np.where(trials == 0, 1.0, trials)
    total = some + Z * Z
    half = Z * np.sqrt(successes * ((some - successes) / some) + Z * Z / 4)
    bound: Floats = (successes + Z * Z / 2 + side * half) / total
    return bound
