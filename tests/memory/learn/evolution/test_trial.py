"""An accepted change stays if later sessions do better, and goes again, to the byte, if they do worse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acemem import Memory
from acemem.memory.context.proposals import Proposal, accept, find_proposal, proposals_of, reject, take_back
from acemem.memory.learn.evolution.skill import evolve
from acemem.memory.learn.evolution.verdict import Judged, judge
from acemem.memory.models import Draft
from tests.bullets import store
from tests.conftest import Clock
from tests.memory.learn.evolution.living import SKILL, run_session, sighted, write_skill

EXPIRED = "`npm publish` fails with 403 when the token has expired; run `npm login` first."


class World:
    """A project in which sessions run, and a skill with one accepted change."""

    def __init__(self, memory: Memory, clock: Clock, logs: Path, text: str) -> None:
        self.memory, self.clock, self.logs = memory, clock, logs
        self.path = write_skill(memory.project.root, text)
        self.lesson = store(memory, EXPIRED, kind="failure", trust="agent")
        self.ran = 0

    def sessions(self, *recurs: bool) -> None:
        """Sessions, one a day; in those marked so the failure happens."""
        for again in recurs:
            self.ran += 1
            self.clock.pass_days(1)
            run_session(self.memory, self.logs, f"run{self.ran:03}")
            if again:
                sighted(self.memory, self.lesson, [f"run{self.ran:03}"])

    def change(self) -> Proposal:
        """What the skill says after all this, accepted."""
        self.clock.pass_days(1)
        [proposal] = evolve(self.memory.home, self.memory.project, self.path).proposals
        accept(self.memory.home, proposal)
        return proposal

    def judged(self, write: bool = True) -> Judged:
        """What becomes of it."""
        [found] = judge(self.memory.home, self.memory.project, write)
        return found

    def standing(self, proposal: Proposal) -> str:
        return find_proposal(self.memory.home, proposal.id).standing


@pytest.fixture
def world(memory: Memory, clock: Clock, tmp_path: Path) -> Callable[..., World]:
    return lambda text=SKILL: World(memory, clock, tmp_path / "logs", text)


def test_a_change_after_which_it_stopped_is_kept(world: Callable[..., World]) -> None:
    w = world()
    w.sessions(*[True, False] * 6)
    proposal = w.change()
    after = w.path.read_bytes()
    w.sessions(*[False] * 20)
    found = w.judged()
    assert (found.action, found.trial.recurrence.before, found.trial.recurrence.after) == ("kept", (5, 11), (0, 20))
    assert (w.path.read_bytes(), w.standing(proposal)) == (after, "accepted")
    assert judge(w.memory.home) == [], "the trial is over"
    take_back(w.memory.home, find_proposal(w.memory.home, proposal.id))
    assert w.judged(write=False).action == "kept", "and on again when that is taken back"


@pytest.mark.parametrize("text", [SKILL, SKILL.replace("\n", "\r\n"), SKILL.rstrip("\n"), SKILL.split("### When")[0]])
def test_a_change_after_which_it_got_worse_goes_to_the_byte(world: Callable[..., World], text: str) -> None:
    w = world(text)
    w.sessions(True, True, *[False] * 8)
    proposal = w.change()
    changed = w.path.read_bytes()
    w.sessions(*[True] * 5)
    assert w.judged(write=False).action == "reverted" and w.path.read_bytes() == changed
    assert w.judged().action == "reverted"
    assert (w.path.read_bytes(), w.standing(proposal)) == (text.encode(), "reverted")
    assert evolve(w.memory.home, w.memory.project, w.path).proposals == (), "what was tried is not proposed again"
    take_back(w.memory.home, find_proposal(w.memory.home, proposal.id))
    assert (w.path.read_bytes(), w.standing(proposal)) == (changed, "accepted")


def test_what_others_wrote_elsewhere_stays_when_a_change_goes(world: Callable[..., World]) -> None:
    w = world()
    w.sessions(True, True, *[False] * 8)
    w.change()
    edited = w.path.read_text("utf-8").replace("Ask Anna.", "Ask Berta.").replace("# Release", "# Releases")
    w.path.write_text(edited + "\n## More\n\nText.\n", "utf-8")
    w.sessions(*[True] * 5)
    assert w.judged().action == "reverted"
    wanted = SKILL.replace("Ask Anna.", "Ask Berta.").replace("# Release", "# Releases") + "\n## More\n\nText.\n"
    assert w.path.read_text("utf-8") == wanted


def test_a_whole_section_that_came_goes_again(world: Callable[..., World]) -> None:
    text = "---\nname: release\ndescription: `npm publish` fails, token, login, expired.\n---\n\nAsk Anna.\n"
    w = world(text)
    w.sessions(True, True, *[False] * 8)
    assert w.change().heading == "## Pitfalls"
    w.sessions(*[True] * 5)
    assert w.judged().action == "reverted" and w.path.read_text("utf-8") == text


def test_where_somebody_wrote_into_the_section_the_way_back_is_proposed(world: Callable[..., World]) -> None:
    w = world()
    w.sessions(True, True, *[False] * 8)
    proposal = w.change()
    edited = w.path.read_text("utf-8").replace("push the tag.", "push it.")
    w.path.write_text(edited, "utf-8")
    w.sessions(*[True] * 5)
    found = w.judged()
    assert found.action == "revert proposed" and found.revert is not None
    assert w.path.read_text("utf-8") == edited
    assert w.judged().revert == found.revert, "it is proposed once"
    accept(w.memory.home, found.revert)
    assert w.path.read_text("utf-8") == SKILL.replace("push the tag.", "push it.")
    assert w.judged().action == "reverted" and w.standing(proposal) == "reverted"


def test_a_person_who_refuses_the_way_back_keeps_the_change(world: Callable[..., World]) -> None:
    w = world()
    w.sessions(True, True, *[False] * 8)
    w.change()
    w.path.write_text(w.path.read_text("utf-8").replace("push the tag.", "push it."), "utf-8")
    w.sessions(*[True] * 5)
    revert = w.judged().revert
    assert revert is not None
    reject(w.memory.home, revert)
    assert w.judged().action == "kept"


def test_too_few_sessions_leave_it_on_trial(world: Callable[..., World]) -> None:
    w = world()
    w.sessions(*[True, False] * 6)
    proposal = w.change()
    w.sessions(*[False] * 4)
    found = w.judged()
    assert (found.action, found.trial.waits_for, w.standing(proposal)) == ("on trial", 1, "accepted")


def test_sessions_of_other_projects_and_those_under_way_do_not_count(
    world: Callable[..., World], open_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    w = world()
    w.sessions(True, True, False)
    w.clock.pass_days(1)
    run_session(w.memory, tmp_path / "logs", "long", minutes=60 * 24 * 3)
    w.change()
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    w.clock.pass_days(9)
    run_session(open_memory(other), tmp_path / "logs", "elsewhere")
    w.sessions(False)
    recurrence = w.judged().trial.recurrence
    assert (recurrence.before, recurrence.after) == ((1, 2), (0, 1))


def test_the_same_failure_in_other_words_is_a_recurrence(world: Callable[..., World]) -> None:
    w = world()
    told = {"description": "publishing ends in a 403 of the registry", "root_cause": "", "resolution": ""}
    edit = {"fields": told}
    w.lesson = store(w.memory, EXPIRED + " Again.", kind="failure", trust="agent", **edit)
    w.memory.forget(next(b.id for b in w.memory.bullets() if b.text == EXPIRED))
    w.sessions(True, True, False)
    w.change()
    w.sessions(False)
    twin = store(w.memory, "The registry answers 403.", kind="failure", **edit)
    sighted(w.memory, twin, [f"run{w.ran:03}"])
    assert w.judged().trial.recurrence.after == (1, 1)


def test_sessions_that_were_shown_it_and_failed_speak_against_it(world: Callable[..., World]) -> None:
    w = world()
    w.sessions(True, True)
    shown = [{"id": w.lesson.id}]

    def ended(count: int, success: bool) -> None:
        for _ in range(count):
            w.ran += 1
            w.clock.pass_days(1)
            name = f"shown{w.ran:012}"
            receipt = {"receipt": f"r{w.ran}", "agent": "claude-code", "hits": shown}
            w.memory.home.ledger.append([Draft("receipt", session=name, data=receipt)], w.clock())
            w.memory.outcome(success, name)

    ended(8, True)
    proposal = w.change()
    ended(5, False)
    found = w.judged()
    assert (found.trial.failures.before, found.trial.failures.after) == ((0, 8), (5, 5))
    assert found.action == "reverted" and w.standing(proposal) == "reverted"


def test_the_sessions_of_a_log_that_is_gone_are_remembered(world: Callable[..., World]) -> None:
    w = world()
    w.sessions(*[True, False] * 6)
    w.change()
    w.sessions(*[False] * 5)
    first = w.judged()
    for log in w.logs.iterdir():
        log.unlink()
    w.sessions(False)
    again = w.judged()
    assert again.trial.recurrence.before == first.trial.recurrence.before
    assert again.trial.recurrence.after == (0, 6)
    assert [p.standing for p in proposals_of(w.memory.home)] == ["accepted"]
