#!/bin/sh
# lineclear: the gate before git's @NAME@; `lineclear setup git --remove` removes it.
here=${0%/*}
gate=$here/@GATE@
kept=@KEPT@
lines=
while IFS= read -r line; do
    lines="$lines$line
"
done
if [ -x "$gate" ]; then
    printf '%s' "$lines" | "$gate" @NAME@ "$@" || exit $?
fi
[ -x "$kept" ] || exit 0
printf '%s' "$lines" | "$kept" "$@"
