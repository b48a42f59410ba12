"""What a prompt hook costs as a whole process, from its start to its end, with 10,000 bullets, beside bare Python.

Each way takes its turn in every round, one process at a time: bare `python -S -c pass`; the hook as installed settings
start it (`python -I -S client.py`), with the daemon warm; the same question over HTTP without a process; the portable
forms `mem-hook` and `mem hook`. Then the hook with the daemon killed (nobody may start another), with none yet (each
starts one, which is killed afterwards), and stopped in its tracks. Then 200 hooks at once, twice: with the deadline as
it is, and with one of 10 s, where each answer must be the one that the same hook gets alone.
Questions are `needs.json`, each in a session of its own. Texts are real rules, all in one project, 3,000 of them
embedded; the vector of each other is one of these with noise.
Fair: same interpreter, same machine, taking turns. Unfair to us: `mem hook` loads everything in its own process, as it
would for a person who calls it, and is not what is installed. 200 processes at once want some 4 seconds of CPU, so
with two cores most of that time is Python starting.
"""

from __future__ import annotations

import gzip
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import ModuleType

BULLETS = 10_000
EMBEDDED = 3_000
ROUNDS = 100
FEW = 10
CROWD = 200
SLACK = 0.05
BARE, WARM, HTTP, MEM_HOOK, MEM = "python -S -c pass", "hook, warm", "HTTP, no process", "mem-hook", "mem hook"
DEAD, COLD, STOPPED = "hook, daemon killed", "hook, starts the daemon", "hook, daemon stopped"
ANSWERED = ", answered"


class Bench:
    """One home with 10,000 bullets, and the ways to ask it."""

    def __init__(self, folder: Path, data: Path) -> None:
        import acemem

        self.home, self.project = folder / "home", folder / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.client = str(Path(acemem.__file__).parent / "retrieval" / "client.py")
        self.needs = [need for _, need in json.loads((Path(__file__).parent / "needs.json").read_text("utf-8"))]
        self.asked = 0
        self._fill(data)

    def payload(self, session: str, at: int) -> bytes:
        """A prompt as Claude Code sends it."""
        data = {"session_id": session, "prompt": self.needs[at % len(self.needs)], "cwd": str(self.project)}
        return json.dumps(data).encode()

    def command(self, way: str) -> list[str]:
        """What is run."""
        words = ["claude-code", "user-prompt-submit"]
        if way == BARE:
            return [sys.executable, "-S", "-c", "pass"]
        if way == MEM_HOOK:
            return [str(Path(sys.executable).with_name("mem-hook")), *words, str(self.home)]
        if way == MEM:
            return [str(Path(sys.executable).with_name("mem")), "--home", str(self.home), "hook", *words]
        return [sys.executable, "-I", "-S", self.client, *words, str(self.home)]

    def run(self, way: str) -> list[tuple[str, float]]:
        """Milliseconds of one call, and whether it got an answer. Raises AssertionError for one that ends badly."""
        self.asked += 1
        stdin = self.payload(f"one{self.asked}", self.asked)
        before = time.perf_counter()
        if way == HTTP:
            stdout = self.over_http(stdin)
        else:
            done = subprocess.run(self.command(way), input=stdin, capture_output=True, check=False)
            assert (done.returncode, done.stderr) == (0, b""), done
            stdout = done.stdout
        taken = [(way, 1000 * (time.perf_counter() - before))]
        return taken if way == BARE else [*taken, (way + ANSWERED, float(bool(stdout)))]

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

    def start(self) -> float:
        """Seconds until a daemon answers."""
        from acemem.retrieval.daemon import control

        before = time.perf_counter()
        control.start(self.home, self.project)
        return time.perf_counter() - before

    def kill(self) -> None:
        """Kills the daemon, or what is about to be one."""
        from acemem.retrieval.daemon import lock

        while lock.is_held(str(self.home)):
            pid = lock.holder(str(self.home))
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

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


def samples(data: Path) -> list[tuple[str, float]]:
    """Milliseconds by way, whether each got an answer, and what the daemon takes to start and to hold."""
    from acemem.memory import config
    from acemem.retrieval.daemon import control
    from acemem.retrieval.daemon.launch import FAILED

    taken: list[tuple[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), data)
        try:
            taken.append(("start of the daemon, s", bench.start()))
            while not (bench.home / "cold.db").exists():
                time.sleep(0.1)
            for round in range(ROUNDS):
                ways = (BARE, WARM, HTTP, MEM_HOOK) if round % (ROUNDS // FEW) else (BARE, WARM, HTTP, MEM_HOOK, MEM)
                for way in ways:
                    taken += bench.run(way)
            found = control.status(bench.home)
            taken += [("memory, MB", found["memory"] / 1e6), ("peak of memory, MB", found["peak"] / 1e6)]
            taken += _crowds(bench, "400 ms")
            config.save(bench.home, "hook.deadline", 10_000)
            time.sleep(2)
            taken += _crowds(bench, "10 s")
            config.save(bench.home, "hook.deadline", 400)
            time.sleep(2)
            os.kill(control.status(bench.home)["pid"], signal.SIGSTOP)
            for _ in range(FEW):
                taken += bench.run(STOPPED)
            bench.kill()
            for _ in range(FEW):
                (bench.home / FAILED).touch()
                taken += bench.run(DEAD)
            (bench.home / FAILED).unlink()
            for _ in range(FEW):
                taken += bench.run(COLD)
                bench.kill()
        finally:
            bench.kill()
    return taken


def summary(taken: list[tuple[str, float]]) -> list[str]:
    """Medians, the 95th percentile, and both as multiples of bare Python's median."""
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
    for way in (BARE, WARM, HTTP, MEM_HOOK, MEM, DEAD, COLD, STOPPED):
        answered = f"{sum(values[way + ANSWERED]):.0f}" if way != BARE else ""
        rows.append(
            f"| {way} | {len(values[way])} | {answered} | {median(values[way]):.1f} | {p95(way):.1f} "
            f"| {median(values[way]) / median(values[BARE]):.2f} | {p95(way) / median(values[BARE]):.2f} |"
        )
    middle, high = median(values[WARM]) / median(values[BARE]), p95(WARM) / median(values[BARE])
    kept = "kept" if middle <= 3 and high <= 6 else "MISSED"
    lines = [
        *rows,
        "",
        f"Marks for the warm hook: median at most 3 times bare Python, p95 at most 6 times: {kept}.",
        "",
    ]
    for deadline in ("400 ms", "10 s"):
        found = {what: values[f"{CROWD} at once, {deadline}, {what}"] for what in _CROWD}
        lines.append(
            f"- {CROWD} at once, deadline {deadline}: {sum(found['answered']):.0f} answered, of which "
            f"{sum(found['different']):.0f} otherwise than alone, while {sum(found['missing']):.0f} got nothing and do "
            f"alone; {sum(found['late']):.0f} took more than 50 ms past the deadline, counted from the "
            f"start of the process, at most {max(found['ms']):.0f} ms."
        )
    lines.append(
        f"- The daemon started in {values['start of the daemon, s'][0]:.1f} s, held {values['memory, MB'][0]:.0f} MB, "
        f"at most {values['peak of memory, MB'][0]:.0f} MB (mark: 350)."
    )
    return lines


_CROWD = ("ms", "answered", "missing", "different", "late")


def _crowds(bench: Bench, deadline: str) -> list[tuple[str, float]]:
    limit = 0.4 if deadline == "400 ms" else 10.0
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
            float(seconds > limit + SLACK),
        )
        taken += [(f"{CROWD} at once, {deadline}, {what}", value) for what, value in zip(_CROWD, found, strict=True)]
    return taken


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
