#!/bin/sh
# Made by `lineclear setup`; a client's hook ends here. Without lineclear the client goes on as if it had none.
# Copilot, Grok and Cursor run the hooks of Claude Code as well; theirs are installed under their own names.
if [ "$1" = claude ] && [ -z "$CLAUDECODE$CLAUDE_CODE_SESSION_ID" ]; then
    exit 0
fi
if [ -n "$LINECLEAR_PROBE" ]; then
    echo "$1 $2" >>"$LINECLEAR_PROBE"
    exit 0
fi
[ -x @PYTHON@ ] || exit 0
exec @PYTHON@ -I -S -c @PROGRAM@ "$@"
