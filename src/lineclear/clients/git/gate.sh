#!/bin/sh
# Made by `lineclear setup git`. Git's hooks call this file. It stops git only on a clear refusal: if lineclear is
# missing or fails, git goes on.
if [ -n "$LINECLEAR_PROBE" ]; then
    echo "git $1" >>"$LINECLEAR_PROBE"
    exit 1
fi
if [ "$LINECLEAR_GATE" = open ] || [ ! -x @PYTHON@ ]; then
    exit 0
fi
@PYTHON@ -I -m lineclear gate "$@"
case $? in
@STOPS@) exit 1 ;;
esac
exit 0
