#!/bin/sh
# lineclear: the gate before git's @NAME@; `lineclear setup git --remove` removes it.
here=${0%/*}
gate=$here/@GATE@
kept=@KEPT@
if [ -x "$gate" ]; then
    "$gate" @NAME@ "$@" || exit $?
fi
[ ! -x "$kept" ] || exec "$kept" "$@"
exit 0
