"""The command `mem`: the list of its commands, each loaded only when it is run."""

from __future__ import annotations

import errno
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from acemem.memory.errors import AcememError

# Name: (module below acemem.cli.commands, one line of help). The help stands here so that `mem --help` need not
# import the commands; a test compares it with theirs.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init", "Make the store and say which agents have logs here."),
    "add": ("add", "Remember one statement."),
    "sessions": ("sessions", "List the agents' session logs found on this machine."),
    "extract": ("extract", "Print the insights of session logs; store nothing."),
    "ingest": ("ingest", "Read session logs and remember what they show."),
    "search": ("search", "Find the bullets that answer a question."),
    "list": ("list", "List bullets."),
    "show": ("show", "Show one bullet whole."),
    "history": ("history", "List everything that happened to a bullet."),
    "why": ("why", "Explain an injection or a bullet's score."),
    "feedback": ("feedback", "Mark bullets helpful or harmful."),
    "outcome": ("outcome", "Say how a session ended, and credit or blame what was used."),
    "refine": ("refine", "Merge duplicates, prune what harms, demote what stopped helping, keep within the limits."),
    "improve": ("improve", "Propose changes to this project's context files, from what sessions showed."),
    "review": ("review", "Decide on proposed changes to context files."),
    "evolve": ("evolve", "Propose changes to a skill or a living document, and end the trials of those accepted."),
    "promote": ("promote", "Make a bullet a rule, or list those that have earned it."),
    "demote": ("demote", "Make a rule an ordinary bullet again."),
    "render": ("render", "Write the rules into context files."),
    "drift": ("drift", "List bullets that name what the repository no longer has; exit 1 if there are any."),
    "forget": ("forget", "Archive a bullet and keep it from coming back."),
    "restore": ("restore", "Bring an archived bullet back."),
    "conflicts": ("conflicts", "List the pairs of bullets that advise opposites, or settle one."),
    "compare": ("compare", "Say whether two statements would merge or contradict."),
    "install": ("install", "Make agents call the memory: hooks, MCP server, skills."),
    "uninstall": ("uninstall", "Take out of agents' settings what `mem install` wrote."),
    "hook": ("hook", "Answer an agent's hook (stdin to stdout)."),
    "daemon": ("daemon", "Start, stop or look at the warm process behind the hooks."),
    "mcp": ("mcp", "Serve the memory's tools to an agent (MCP over stdio)."),
    "report": ("report", "Say whether the memory helps, by the store's own experiment."),
    "tune": ("tune", "Try other ranking weights on what happened, and take better ones."),
    "note": ("note", "Show the note of a session, or make one from its log."),
    "export": ("export", "Write the memory into a file, for another machine, another tool, or a person."),
    "import": ("import_", "Take in a bundle, an ACE playbook, a skillbook, or a Markdown list."),
    "stats": ("stats", "Show what the store holds."),
    "doctor": ("doctor", "Look for damage, and repair it."),
    "reembed": ("reembed", "Embed every bullet again with the configured embedder."),
    "config": ("config", "Show or change settings."),
    "demo": ("demo", "Run the whole loop on sample logs, in a temporary store."),
}


class Commands(click.Group):
    """A group that knows its commands by name and imports one when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"acemem.cli.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; an error of ours ends with its exit code and one sentence."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a console's own encoding may lack what a bullet holds
                stream.reconfigure(encoding="utf-8", errors="replace")
        try:
            return super().invoke(ctx)
        except (AcememError, OSError) as error:
            self._fail(ctx, error)

    def _fail(self, ctx: click.Context, error: AcememError | OSError) -> NoReturn:
        from acemem.cli.output import abandon_stdout
        from acemem.memory.cleantext import clean

        if isinstance(error, AcememError):
            message, code = str(error), error.exit_code
        elif error.errno == errno.EPIPE:  # whoever was reading has seen enough: click ends quietly
            raise error
        else:
            abandon_stdout()
            where = f" {error.filename}" if error.filename else ""
            message, code = f"cannot go on{where}: {error.strerror or error}", AcememError.exit_code
        # A message names what it was given, and that may hold commands to a terminal.
        click.echo(" ".join(clean(f"mem: {message}").splitlines()), err=True)
        raise click.exceptions.Exit(code)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="acemem", prog_name="acemem")
@click.option("--home", metavar="DIR", help="The store's home; default $MEM_HOME, else the user's data folder.")
@click.option("--project", metavar="DIR", help="The project's folder; default the current one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def cli(home: str | None, project: str | None, as_json: bool) -> None:
    """A scored memory for coding agents: reads past sessions, keeps what helped, forgets what did not.

    \b
    mem demo                         see the whole loop in a few seconds
    mem ingest                       learn from the agents' logs on this machine
    mem search "how do tests run"    what would be put in front of that prompt
    """
