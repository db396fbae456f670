# The scripted agent: a hook before an edit, a commit, and for every third task a count under a claim and a message.
# $1: the scratch directory; $2: the clone's hook; the rest: how to call lineclear.
cat >/dev/null
place=$1 hook=$2 task=$LINECLEAR_TASK
shift 2
mkdir -p tasks
printf '{"session_id":"s-%s","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Edit","tool_use_id":"1","tool_input":{"file_path":"%s/tasks/%s.txt","old_string":"x"}}' \
  "$task" "$PWD" "$PWD" "$task" | "$hook" claude PreToolUse >/dev/null 2>&1
echo "$task" >"tasks/$task.txt"
git add tasks
git commit --quiet --message="$task" || exit 1
if [ $((${task#T-} % 3)) -eq 0 ]; then
  "$@" with row:counter --wait 20s --ttl 60s -- sh -c '
    n=$(cat "$1/counter" 2>/dev/null || echo 0)
    sleep 0.1
    echo $((n + 1)) >"$1/counter.$2" && mv "$1/counter.$2" "$1/counter" && echo "$2" >>"$1/bumps"
  ' bump "$place" "$task.$$"
  "$@" say "$task.$$ is written" && echo "$task.$$ is written" >>"$place/said"
fi
exit 0
