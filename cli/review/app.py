"""The review: proposals on the left, the chosen one with its evidence and its diff on the right, one key a decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Label, ListItem, ListView, Static, TextArea

from acemem.cli.review.text import difference, headline, story
from acemem.memory.cleantext import clean
from acemem.memory.context.proposals import Proposal, accept, proposals_of, reject
from acemem.memory.errors import AcememError
from acemem.memory.home import Home

STYLES = {"+": "green", "-": "red", "@": "cyan"}


def review(home: Home) -> tuple[int, int, int]:
    """Runs the view until the person leaves it, and says how many were accepted, rejected and left open."""
    app = Review(home)
    app.run()
    return app.accepted, app.rejected, len(proposals_of(home, "open"))


class Words(ModalScreen[str | None]):
    """The proposed words, to be changed; gives None when they are left as they were."""

    CSS = "Words { align: center middle; } TextArea { width: 90%; height: 80%; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "keep", "Use these words", priority=True),
        Binding("escape", "leave", "Back", priority=True),
    ]

    def __init__(self, content: str) -> None:
        super().__init__()
        self._content = content

    def compose(self) -> ComposeResult:
        """The words in a field, and the keys."""
        yield TextArea(self._content)
        yield Footer()

    def action_keep(self) -> None:
        """Takes the words as they stand now."""
        self.dismiss(self.query_one(TextArea).text)

    def action_leave(self) -> None:
        """Goes back without them."""
        self.dismiss(None)


class Review(App[None]):
    """Open proposals, decided one by one; nothing is written before a decision."""

    TITLE = "mem review"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Horizontal { height: 1fr; }
    ListView { width: 38%; min-width: 24; border-right: solid $primary; }
    #detail { width: 1fr; padding: 0 1; }
    #said { height: auto; color: $warning; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "accept", "Accept"),
        Binding("e", "edit", "Edit"),
        Binding("r", "reject", "Reject"),
        Binding("s", "skip", "Skip"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, home: Home) -> None:
        super().__init__()
        self.accepted = self.rejected = 0
        self._home = home
        self._open = proposals_of(home, "open")
        self._words: dict[str, str] = {}  # by proposal, what the person wrote instead

    def compose(self) -> ComposeResult:
        """The list, the chosen proposal, what was done last, and the keys."""
        with Horizontal():
            yield ListView(*map(_item, self._open))
            with VerticalScroll(id="detail"):
                yield Static(id="proposal")
        yield Static(id="said")
        yield Footer()

    def on_mount(self) -> None:
        """Shows the first one."""
        self.query_one(ListView).focus()
        self._show()

    def on_list_view_highlighted(self, event: ListView.Highlighted) -> None:
        """Shows the one that is chosen now."""
        self._show()

    def action_skip(self) -> None:
        """Goes on to the next, and leaves this one open."""
        self.query_one(ListView).action_cursor_down()

    def action_accept(self) -> None:
        """Writes the chosen change into its file."""
        proposal = self._chosen()
        if proposal is not None and self._decided(lambda: accept(self._home, proposal, self._words.get(proposal.id))):
            self.accepted += 1
            self._done(proposal, f"accepted {proposal.id}: {proposal.target_file} has it")

    def action_reject(self) -> None:
        """Notes that the chosen change is not wanted."""
        proposal = self._chosen()
        if proposal is not None and self._decided(lambda: reject(self._home, proposal)):
            self.rejected += 1
            self._done(proposal, f"rejected {proposal.id}")

    def action_edit(self) -> None:
        """Lets the person change the words before accepting them."""
        proposal = self._chosen()
        if proposal is None:
            return

        def keep(words: str | None) -> None:
            if words is not None:
                self._words[proposal.id] = words
                self._say("changed; press a to accept it so")
                self._show()

        self.push_screen(Words(self._words.get(proposal.id, proposal.content)), keep)

    def _chosen(self) -> Proposal | None:
        at = self.query_one(ListView).index
        return self._open[at] if at is not None and at < len(self._open) else None

    def _decided(self, decide: Callable[[], object]) -> bool:
        """Whether a decision could be noted; else the person reads why not."""
        try:
            decide()
        except AcememError as error:
            self._say(str(error))
            return False
        return True

    def _done(self, proposal: Proposal, what: str) -> None:
        view = self.query_one(ListView)
        at = self._open.index(proposal)
        del self._open[at]
        self._say(what)
        if not self._open:
            self.exit()
            return
        view.pop(at)
        view.index = min(at, len(self._open) - 1)
        self._show()

    def _show(self) -> None:
        proposal = self._chosen()
        text = Text()
        if proposal is not None:
            for line in (headline(proposal), "", *story(proposal), ""):
                text.append(f"{clean(line)}\n")
            for line in difference(proposal, self._words.get(proposal.id)):
                text.append(f"{clean(line)}\n", STYLES.get(line[:1], ""))
        self.query_one("#proposal", Static).update(text)

    def _say(self, what: str) -> None:
        self.query_one("#said", Static).update(Text(clean(what)))


def _item(proposal: Proposal) -> ListItem:
    return ListItem(Label(Text(clean(headline(proposal)))))
