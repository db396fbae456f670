#!/bin/sh
# Made by `make docs`: the hooks of the Claude Code plugin end here, `hook.sh EVENT`. Goes on with this repository's own
# lineclear; where there is none, or the repository is not under coordination, Claude Code goes on as if it had no hook.
@FIND@
[ ! -f "$g/commondir" ] || g=$g/../..
state=$g/lineclear
# `lineclear setup claude` has put its own hooks in: a call is answered once.
[ ! -e "$state/setup/claude.json" ] || exit 0
[ ! -x "$state/hook" ] || exec "$state/hook" claude "$1"
[ ! -d "$state" ] || ! command -v lineclear >/dev/null || exec lineclear hook claude "$1"
exit 0
