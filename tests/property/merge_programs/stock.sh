#!/bin/bash
set -eu

load() {
    local path=$1
    head -n 500 "$path"
}

count() {
    local total=0
    while read -r amount; do
        if [ "$amount" -gt 3 ]; then
            total=$((total + amount))
        fi
    done
    echo "$total"
}

order() {
    sort -n | tail -n 9
}

describe() {
    printf '%s has %s\n' "$1" 100
}

load "$1" | count
