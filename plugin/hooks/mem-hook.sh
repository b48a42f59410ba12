#!/bin/sh
# Starts the memory's hook. A plugin cannot install programs, and programs started from a desktop often lack the places
# where pip, pipx and uv put theirs: where there is no mem-hook, nothing happens and nothing is said. hooks.json ends with
# 0 whatever becomes of this: an update takes this file from under running sessions, sh ends with 2 where its file is
# gone, and to Claude Code 2 means to refuse the prompt.
PATH="$PATH:$HOME/.local/bin:/usr/local/bin:/opt/homebrew/bin"
command -v mem-hook >/dev/null 2>&1 || exit 0
exec mem-hook "$@" 2>/dev/null
