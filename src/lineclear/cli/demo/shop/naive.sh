#!/bin/sh
# Four agents at once without a coordinator, as a careful person would script it: a worktree and a branch
# for every task of TASKS.md, a time limit for each agent, and in the end one merge after the other. What
# does not merge stays a branch; a worktree with uncommitted work stays where it is.
#
# Started in the repository. PYTHON, SEED and LIMIT_S are for the agents; WORK is a directory beside it.
set -eu

tasks() { grep '^- \[ \]' TASKS.md; }

if [ $# -eq 1 ]; then # the agent of one task, by its place in the list
    tree=$WORK/task-$1
    cd "$tree"
    { "$PYTHON" -m lineclear.cli.demo.shop.agent "$SEED" "$LIMIT_S" <"$tree.prompt" >"$tree.log"; } 2>"$tree.err" ||
        echo "task-$1: its agent ended with exit code $?"
    exit 0
fi

mkdir "$WORK"
numbers=$(seq "$(tasks | wc -l)")
for number in $numbers; do
    tasks | sed -n "${number}p" >"$WORK/task-$number.prompt"
    git worktree add --quiet -b "task-$number" "$WORK/task-$number" main
done

echo "$numbers" | xargs -P 4 -n 1 sh "$0"

for number in $numbers; do
    if git merge --quiet --no-edit "task-$number" >"$WORK/task-$number.merge"; then
        git worktree remove "$WORK/task-$number" 2>/dev/null ||
            echo "task-$number: its worktree holds work that is not committed"
    else
        git merge --abort
        grep '^CONFLICT' "$WORK/task-$number.merge" | sed "s/^/task-$number: /"
    fi
done
