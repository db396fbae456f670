#!/bin/sh
# lineclear: the gate before git's @NAME@; `lineclear setup git --remove` removes it.
# Git calls it whenever any ref moves, so the shell itself lets through whatever is not guarded.
here=${0%/*}
gate=$here/@GATE@
kept=@KEPT@
if [ "$1" != prepared ] || [ "$LINECLEAR_GATE" = open ] || [ ! -x "$gate" ]; then
    [ ! -x "$kept" ] || exec "$kept" "$@"
    exit 0
fi
lines= guarded=
while IFS= read -r line; do
    lines="$lines$line
"
    case $line in
    *' refs/lineclear/'*) guarded=ours ;;
    *' '@MAIN@) guarded=${guarded:-main} ;;
    esac
done
# In the main worktree everybody may commit to main; from a linked worktree, work has to land.
if [ "$guarded" = main ]; then
    case $(git rev-parse --git-dir) in
    */worktrees/*) ;;
    *) guarded= ;;
    esac
fi
if [ -n "$guarded" ]; then
    printf '%s' "$lines" | "$gate" @NAME@ "$@" || exit $?
fi
[ -x "$kept" ] || exit 0
printf '%s' "$lines" | "$kept" "$@"
