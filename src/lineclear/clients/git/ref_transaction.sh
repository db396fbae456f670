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
lines= ours= main= begins=
while IFS= read -r line; do
    lines="$lines$line
"
    case $line in
    *' refs/lineclear/'*) ours=yes ;;
    *' '@MAIN@) main=yes ;;
    *' ORIG_HEAD') begins=yes ;; # a merge or pull writes it before it touches a file
    esac
done
# Agents land from their own worktrees. In the main worktree a person may do anything, and so may an agent that works
# there: the gate knows.
if [ -z "$ours" ] && [ -n "$main$begins" ]; then
    case $(git rev-parse --git-dir) in
    */worktrees/*) ours=$main ;;
    *) ours="@SIGNS@" ;;
    esac
fi
if [ -n "$ours" ]; then
    printf '%s' "$lines" | "$gate" @NAME@ "$@" "$PPID" || exit $?
fi
[ -x "$kept" ] || exit 0
printf '%s' "$lines" | "$kept" "$@"
