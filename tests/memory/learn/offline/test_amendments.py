"""Edits that the person changed before accepting them."""

from __future__ import annotations

import pytest

from tests.memory.learn.offline.talks import Talk, evidence, one


def amended(proposed: str | None, accepted: str, modified: bool = True) -> Talk:
    talk = Talk().human("log it").add("call", tool="Edit", args={"file_path": "/work/shop/a.py"}, call_id="c1")
    told = {"user_modified": modified, "file_path": "/work/shop/a.py", "proposed": proposed, "accepted": accepted}
    return talk.add("result", "ok", tool="Edit", args=told, call_id="c1")


def test_replaced() -> None:
    """What the person wrote in place of the agent's line is how they want it."""
    insight = one(amended("print(total)", "log.info('total %s', total)").insights)

    assert insight.text == (
        "Write `log.info('total %s', total)` instead of `print(total)` in `a.py`. "
        "The user changed the edit so before accepting it."
    )
    assert (insight.type, insight.strength, insight.trust) == ("preference", "explicit", "user")
    assert evidence(insight) == [2, 3]


def test_left_out() -> None:
    """A line that the person took out is not wanted."""
    assert one(amended("# adds two", "").insights).text.startswith("Do not write `# adds two` in `a.py`.")


@pytest.mark.parametrize(("proposed", "modified"), [("print(total)", False), (None, True)])
def test_nothing_to_tell(proposed: str | None, modified: bool) -> None:
    """An edit that was accepted as it was, or of which the log shows one version only, says nothing."""
    assert amended(proposed, "log(total)", modified).insights == []
