#!/bin/sh
# Made by `lineclear setup`. Clients' hooks call this file; without lineclear the client goes on as if it had no hook.
# Copilot, Grok and Cursor also run Claude Code's hooks; ignore those calls: they have their own hooks.
if [ "$1" = claude ] && [ -z "$CLAUDECODE$CLAUDE_CODE_SESSION_ID" ]; then
    exit 0
fi
# Clients start our MCP server through this file, too, since only this file names an interpreter. `-P` keeps Python from
# importing modules from the repository.
if [ "$1" = mcp ]; then
    exec @PYTHON@ -P -m lineclear "$@"
fi
if [ -n "$LINECLEAR_PROBE" ]; then
    echo "$1 $2" >>"$LINECLEAR_PROBE"
    exit 0
fi
[ -x @PYTHON@ ] || exit 0
# Clients take some exit codes for a refusal; an error of the shell itself must not be one.
trap 'exit 0' EXIT
unset LINECLEAR_CALL
# droid does not tell its shell commands the session, but sets the variables that a hook writes into this file at the
# start.
if [ "$1 $2" = "droid SessionStart" ] && [ -n "$CLAUDE_ENV_FILE" ]; then
    said=$(LC_ALL=C cat)
    session=${said#'{"session_id":"'}
    session=${session%%'"'*}
    case $session in
    '' | *[!A-Za-z0-9_-]*) ;;
    *) { echo "export LINECLEAR_DROID_SESSION=$session" >>"$CLAUDE_ENV_FILE"; } 2>/dev/null ;;
    esac
    exec @PYTHON@ -I -S -c @PROGRAM@ "$@" <<END
$said
END
fi
# A server answers much faster. Making a worktree takes longer than we wait for a server.
state=${0%/*}
if [ -f "$state/serve/door" ] && [ "$2" != WorktreeCreate ] && [ -x @BASH@ ]; then
    exec @BASH@ -p -c @ASK@ "$state/serve/door" @PYTHON@ -I -S -c @PROGRAM@ "$@"
fi
exec @PYTHON@ -I -S -c @PROGRAM@ "$@"
