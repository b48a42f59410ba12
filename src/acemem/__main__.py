"""`python -m acemem` is `mem`."""

from acemem.cli.main import cli

cli(prog_name="mem")
