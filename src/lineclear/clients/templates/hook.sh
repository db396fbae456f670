#!/bin/sh
# Made by `lineclear setup`; a client's hook ends here. Without lineclear the client goes on as if it had none.
# Copilot, Grok and Cursor run the hooks of Claude Code as well; theirs are installed under their own names.
if [ "$1" = claude ] && [ -z "$CLAUDECODE$CLAUDE_CODE_SESSION_ID" ]; then
    exit 0
fi
# A client starts our MCP server this way, too: this file alone names an interpreter. `-P`: nothing that lies in the
# repository is taken for a module of ours.
if [ "$1" = mcp ]; then
    exec @PYTHON@ -P -m lineclear "$@"
fi
if [ -n "$LINECLEAR_PROBE" ]; then
    echo "$1 $2" >>"$LINECLEAR_PROBE"
    exit 0
fi
[ -x @PYTHON@ ] || exit 0
# Clients take some exit codes for a refusal: an error of the shell itself must not become one.
trap 'exit 0' EXIT
unset LINECLEAR_CALL
# droid tells its shell no session; what a hook writes into this file at the start, it sets there.
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
# A server answers in a fraction of the time. Making a worktree takes longer than we wait for it.
state=${0%/*}
if [ -f "$state/serve/door" ] && [ "$2" != WorktreeCreate ] && [ -x @BASH@ ]; then
    exec @BASH@ -p -c @ASK@ "$state/serve/door" @PYTHON@ -I -S -c @PROGRAM@ "$@"
fi
exec @PYTHON@ -I -S -c @PROGRAM@ "$@"
