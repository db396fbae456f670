#!/bin/sh
# Made by `make docs`. The hooks of the Claude Code plugin call `hook.sh EVENT`, which calls this repository's own
# lineclear. If there is none, or the repository does not use it, Claude Code goes on as if it had no hook.
d="$PWD"; until [ -e "$d/.git" ] || [ -z "$d" ]; do d="${d%/*}"; done; g="$d/.git"; if [ -f "$g" ]; then read -r _ g <"$g"; case "$g" in /*) ;; *) g="$d/$g" ;; esac; fi
[ ! -f "$g/commondir" ] || g=$g/../..
state=$g/lineclear
# `lineclear setup claude` has installed its own hooks, which answer the call.
[ ! -e "$state/setup/claude.json" ] || exit 0
[ ! -x "$state/hook" ] || exec "$state/hook" claude "$1"
[ ! -d "$state" ] || ! command -v lineclear >/dev/null || exec lineclear hook claude "$1"
exit 0
