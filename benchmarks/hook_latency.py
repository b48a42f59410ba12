"""What a hook costs as a whole process, from its start to its end, with 10,000 bullets, beside bare Python.

Each way takes its turn in every round, one process at a time: bare `python -S -c pass`; the hook as `mem install` has
agents start it, with the daemon warm, for a prompt, the start of a session and a failed tool; the prompt over HTTP
without a process; the portable forms `mem-hook` and `mem hook`; a hook as others ship it, which loads a model and a
vector store in a fresh process (`fresh_process_hook.py`, our own imitation). Then a pasted prompt of 12 MB; 200 bullets
added by another process, for the daemon's memory; and 200 hooks at once, twice: with the deadline as it is, and with
one of 10 s, where each answer must be the one that the same hook gets alone.
Then what may go wrong (`hook_faults.py`): a daemon that is stopped in its tracks, killed, not started yet (each hook
starts one, which is killed afterwards), its socket gone; a home that is missing, can only be read, is on a full disk
(with the daemon alive and without), whose table or whole store is garbage. There the mark is the deadline and 100 ms.
Questions are `needs.json`, each in a session of its own. Texts are real rules, all in one project, 3,000 of them
embedded; the vector of each other is one of these with noise.
Fair: same interpreter, same machine, taking turns, the same questions in the same order. Unfair to us: 200 processes
at once want some 4 seconds of CPU, so with two cores most of that time is Python starting. Unfair to others: of their
hooks we only imitate the shape.
MEM_ROUNDS sets the number of rounds, 100 unless it is set.
"""

from __future__ import annotations

import gzip
import http.client
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

BULLETS = 10_000
EMBEDDED = 3_000
ROUNDS = int(os.environ.get("MEM_ROUNDS", "100"))
FEW = max(2, ROUNDS // 10)
CROWD = 2 * ROUNDS
ADDS = 2 * ROUNDS
DEADLINE = 400  # milliseconds
SLACK = 50
FAULT_SLACK = 100
PASTED = 12_000_000

BARE, WARM, HTTP, MEM_HOOK, MEM = (
    "python -S -c pass",
    "prompt, warm",
    "prompt, HTTP without a process",
    "mem-hook",
    "mem hook",
)
START, FAILED_TOOL, LARGE = "session start, warm", "failed tool, warm", "prompt of 12 MB, warm"
COLD = "no daemon yet, starts it"
FRESH = "a fresh process with its own model and store"
WAYS = (BARE, WARM, START, FAILED_TOOL, HTTP, MEM_HOOK, MEM, FRESH, LARGE)
ROUNDS_OF = {MEM: FEW, FRESH: FEW}
ANSWERED = ", answered"
EVENTS = {START: "session-start", FAILED_TOOL: "post-tool-use-failure"}

Taken = list[tuple[str, float]]


class Bench:
    """One home with 10,000 bullets, and the ways to ask it."""

    def __init__(self, folder: Path, data: Path) -> None:
        import acemem
        from acemem.cli.installing.launcher import Launcher

        self.home, self.project = folder / "home", folder / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.package = Path(acemem.__file__).parent
        self.launcher = Launcher.of(self.home)
        self.needs = [need for _, need in json.loads((Path(__file__).parent / "needs.json").read_text("utf-8"))]
        self.asked: Counter[str] = Counter()
        self._fill(data)

    def payload(self, session: str, at: int, way: str = WARM) -> bytes:
        """What Claude Code sends; of a failed tool, one that a need speaks of."""
        need = self.needs[at % len(self.needs)]
        data = {"session_id": session, "cwd": str(self.project), "transcript_path": str(self.project / "log.jsonl")}
        if way == START:
            data |= {"source": "startup"}
        elif way == FAILED_TOOL:
            data |= {"tool_name": "Bash", "tool_input": {"command": "make test"}, "error": f"Exit code 2\n{need}"}
        elif way == LARGE:
            line = "2026-01-01 12:00:00 ERROR in parser.py, line 12: something went wrong\n"
            data |= {"prompt": f"{need}\n{line * (PASTED // len(line))}\n{need}"}
        else:
            data |= {"prompt": need}
        return json.dumps(data).encode()

    def command(self, way: str, home: Path | None = None) -> list[str]:
        """What is run."""
        words = ["claude-code", EVENTS.get(way, "user-prompt-submit")]
        place = str(home or self.home)
        if way == BARE:
            return [sys.executable, "-S", "-c", "pass"]
        if way == MEM_HOOK:
            return [str(Path(sys.executable).with_name("mem-hook")), *words, place]
        if way == MEM:
            return [str(Path(sys.executable).with_name("mem")), "--home", place, "hook", *words]
        if way == FRESH:
            model = self.package / "memory" / "embedders"
            fresh = Path(__file__).with_name("fresh_process_hook.py")
            return [sys.executable, str(fresh), str(self.home / "lance"), str(model)]
        return replace(self.launcher, home=place).hook(*words)

    def run(self, way: str, home: Path | None = None, name: str | None = None) -> Taken:
        """Milliseconds of one call, and whether it got an answer. Raises AssertionError for one that ends badly."""
        self.asked[name or way] += 1  # so that every way is asked the same
        at = self.asked[name or way]
        stdin = self.payload(f"{name or way} {at}", at, way)
        before = time.perf_counter()
        if way == HTTP:
            stdout = self.over_http(stdin)
        else:
            done = subprocess.run(self.command(way, home), input=stdin, capture_output=True, check=False)
            assert done.returncode == 0 and (way == FRESH or done.stderr == b""), done
            stdout = done.stdout
        taken = [(name or way, 1000 * (time.perf_counter() - before))]
        if stdout:
            json.loads(stdout)
        return taken if way == BARE else [*taken, ((name or way) + ANSWERED, float(bool(stdout)))]

    def over_http(self, stdin: bytes) -> bytes:
        """The question as an agent's own HTTP hook would send it, on a connection of its own."""
        from acemem.retrieval.daemon.address import published

        address = published(self.home)
        assert address is not None
        line = http.client.HTTPConnection("mem")
        line.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.sock.connect(os.fsencode(address.path))
        line.request("POST", "/hook/claude-code/user-prompt-submit", stdin, {"Connection": "close"})
        answer = line.getresponse().read()
        line.close()
        return answer

    def crowd(self, name: str) -> list[tuple[bytes, float]]:
        """What 200 hooks at once print, each with its seconds from start to end."""
        results: list[tuple[bytes, float]] = [(b"", 0.0)] * CROWD

        def wait(at: int, process: subprocess.Popen[bytes], began: float) -> None:
            stdout, stderr = process.communicate(self.payload(f"{name}{at}", at))
            assert (process.returncode, stderr) == (0, b"")
            results[at] = stdout, time.perf_counter() - began

        waiting = []
        for at in range(CROWD):
            began = time.perf_counter()
            process = subprocess.Popen(
                self.command(WARM), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            waiting.append(threading.Thread(target=wait, args=(at, process, began)))
            waiting[-1].start()
        for thread in waiting:
            thread.join()
        return results

    def start(self, home: Path | None = None) -> float:
        """Seconds until a daemon answers."""
        from acemem.retrieval.daemon import control

        before = time.perf_counter()
        control.start(home or self.home, self.project)
        return time.perf_counter() - before

    def kill(self, home: Path | None = None) -> None:
        """Kills the daemon, or what is about to be one."""
        from acemem.retrieval.daemon import lock

        place = str(home or self.home)
        while lock.is_held(place):
            pid = lock.holder(place)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def add(self) -> None:
        """Adds bullets one by one, as another process."""
        from acemem import Memory

        with Memory.open(self.home, self.project) as memory:
            for at in range(ADDS):
                memory.add(f"Widget {at} of box {at * 7} is painted by robot {at % 13}.", merge=False)

    def _fill(self, data: Path) -> None:
        import numpy as np

        from acemem import Memory
        from acemem.memory import config

        speed = _load("search_speed")
        with gzip.open(data / "rules" / "rules.jsonl.gz", "rt", encoding="utf-8") as file:
            texts = list(dict.fromkeys(json.loads(line)["text"] for line in file))
        rng = np.random.default_rng(1)
        texts = [texts[at] for at in rng.permutation(len(texts))]
        texts = (texts + [f"{text} (again)" for text in texts])[:BULLETS]
        with Memory.open(self.home, self.project) as memory:
            base = memory.home.embedder.embed_documents(texts[:EMBEDDED])
            speed._fill(memory, texts, speed._vectors(base, BULLETS, rng))
        config.save(self.home, "hook.holdout", 0.0)  # the lot is drawn by session, and would part equal questions


def samples(data: Path) -> Taken:
    """Milliseconds by way, whether each got an answer, and what the daemon takes to start and to hold."""
    from acemem.memory import config

    taken: Taken = []
    faults = _load("hook_faults").FAULTS
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), data)
        try:
            taken.append(("start of the daemon, s", bench.start()))
            while not (bench.home / "cold.db").exists():
                time.sleep(0.1)
            for round in range(ROUNDS):
                for way in WAYS[:-1]:
                    if way not in ROUNDS_OF or round % (ROUNDS // ROUNDS_OF[way]) == 0:
                        taken += bench.run(way)
            taken += _memory(bench, "after the prompts")
            bench.add()
            time.sleep(5)
            taken += bench.run(WARM, name="prompt, after the adds")
            taken += _memory(bench, f"after {ADDS} adds by another process")
            for _ in range(FEW):
                taken += bench.run(LARGE)
            taken += _memory(bench, "after prompts of 12 MB")
            taken += _crowds(bench, DEADLINE)
            config.save(bench.home, "hook.deadline", 10_000)
            time.sleep(2)
            taken += _crowds(bench, 10_000)
            config.save(bench.home, "hook.deadline", DEADLINE)
            time.sleep(2)
            taken += _memory(bench, f"after {CROWD} hooks at once")
            bench.kill()
            for name, fault in faults.items():
                taken += _faulty(bench, name, fault)
            for _ in range(FEW):
                taken += bench.run(WARM, name=COLD)
                bench.kill()
        finally:
            bench.kill()
    return taken


def summary(taken: Taken) -> list[str]:
    """Medians, the 95th percentile, and both as multiples of bare Python's median; for faults, the longest."""
    from statistics import median, quantiles

    values: dict[str, list[float]] = {}
    for what, value in taken:
        values.setdefault(what, []).append(value)

    def p95(way: str) -> float:
        return quantiles(values[way], n=20)[-1]

    rows = [
        "| way | runs | answered | median ms | p95 ms | median / bare median | p95 / bare median |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for way in WAYS:
        answered = f"{sum(values[way + ANSWERED]):.0f}" if way != BARE else ""
        rows.append(
            f"| {way} | {len(values[way])} | {answered} | {median(values[way]):.1f} | {p95(way):.1f} "
            f"| {median(values[way]) / median(values[BARE]):.2f} | {p95(way) / median(values[BARE]):.2f} |"
        )
    middle, high = median(values[WARM]) / median(values[BARE]), p95(WARM) / median(values[BARE])
    lines = [
        *rows,
        "",
        "Marks for the warm prompt hook: median at most 3 times bare Python, p95 at most 6 times: "
        f"{'kept' if middle <= 3 and high <= 6 else 'MISSED'}.",
        "",
        f"| what is wrong | runs | answered | median ms | longest ms | mark: {DEADLINE + FAULT_SLACK} ms |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in (*_load("hook_faults").FAULTS, COLD):
        if name not in values:
            lines.append(f"| {name} | 0 | | | | not tried: nothing may be mounted here |")
            continue
        kept = "kept" if max(values[name]) <= DEADLINE + FAULT_SLACK else "MISSED"
        lines.append(
            f"| {name} | {len(values[name])} | {sum(values[name + ANSWERED]):.0f} | {median(values[name]):.1f} "
            f"| {max(values[name]):.1f} | {kept} |"
        )
    lines.append("")
    for deadline in (DEADLINE, 10_000):
        found = {what: values[f"{CROWD} at once, {deadline} ms, {what}"] for what in _CROWD}
        lines.append(
            f"- {CROWD} at once, deadline {deadline} ms: {sum(found['answered']):.0f} answered, of which "
            f"{sum(found['different']):.0f} otherwise than alone, while {sum(found['missing']):.0f} got nothing and do "
            f"alone; {sum(found['late']):.0f} took more than {SLACK} ms past the deadline, counted from the "
            f"start of the process, at most {max(found['ms']):.0f} ms."
        )
    lines.append(f"- The daemon started in {values['start of the daemon, s'][0]:.1f} s.")
    for what in [what for what in values if what.startswith("peak of memory")]:
        peak = values[what][0]
        lines.append(f"- Its {what.removesuffix(', MB')}: {peak:.0f} MB, {peak * 1e6 / 2**20:.0f} MiB (mark: 350).")
    return lines


_CROWD = ("ms", "answered", "missing", "different", "late")


def _crowds(bench: Bench, deadline: int) -> Taken:
    alone = {}
    for at in range(len(bench.needs)):
        stdin = bench.payload(f"alone, {deadline}, {at}", at)
        alone[at] = subprocess.run(bench.command(WARM), input=stdin, capture_output=True, check=False).stdout
    taken = []
    for at, (stdout, seconds) in enumerate(bench.crowd(f"crowd, {deadline}, ")):
        reference = alone[at % len(bench.needs)]
        found = (
            1000 * seconds,
            float(bool(stdout)),
            float(bool(reference and not stdout)),
            float(bool(stdout and reference and stdout != reference)),
            float(1000 * seconds > deadline + SLACK),
        )
        taken += [(f"{CROWD} at once, {deadline} ms, {what}", value) for what, value in zip(_CROWD, found, strict=True)]
    return taken


def _memory(bench: Bench, when: str) -> Taken:
    from acemem.retrieval.daemon import control

    found = control.status(bench.home)
    return [(f"memory {when}, MB", found["memory"] / 1e6), (f"peak of memory {when}, MB", found["peak"] / 1e6)]


def _faulty(bench: Bench, name: str, fault: Any) -> Taken:
    """Hooks with one thing wrong, in a copy of the home; nothing where it cannot be brought about."""
    taken: Taken = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        shutil.copytree(bench.home, home, ignore=shutil.ignore_patterns("daemon", "daemon.*"))
        try:
            with fault(bench, home) as place:
                for _ in range(FEW):
                    taken += bench.run(WARM, place, name)
        except PermissionError:
            return []
        finally:
            bench.kill(home)
    return taken


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
