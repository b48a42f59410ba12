"""One file a command; `acemem.cli.main` lists them."""
