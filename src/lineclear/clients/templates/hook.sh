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
ask() {
    exec @PYTHON@ -I -S -c @PROGRAM@ "$@"
}
# droid tells its shell no session; what a hook writes into this file at the start, it sets there.
if [ "$1 $2" = "droid SessionStart" ] && [ -n "$CLAUDE_ENV_FILE" ]; then
    said=$(LC_ALL=C cat)
    session=${said#'{"session_id":"'}
    session=${session%%'"'*}
    case $session in
    '' | *[!A-Za-z0-9_-]*) ;;
    *) { echo "export LINECLEAR_DROID_SESSION=$session" >>"$CLAUDE_ENV_FILE"; } 2>/dev/null ;;
    esac
    ask "$@" <<END
$said
END
fi
unset LINECLEAR_STATUS LINECLEAR_CALL seen served noted
state=${0%/*}
case $state in /*) ;; *) ask "$@" ;; esac
case $2 in
PreToolUse | PostToolUse | PostToolUseFailure | BeforeTool | AfterTool) [ ! -d "$state/hush/s" ] || noted=yes ;;
esac
# Making a worktree takes longer than a server is waited for.
[ ! -f "$state/serve/door" ] || [ "$2" = WorktreeCreate ] || served=yes
[ -n "$noted$served" ] || ask "$@"

# Most calls are edits of a file that is this session's already, or commands that change nothing, and nothing is to
# be told. lineclear has left a note of that (src/lineclear/process/hush.py), which whoever changes anything about it
# takes away first. What follows reads the call and the note with the shell; whatever is not exactly as expected is
# asked. An error of the shell itself must not be taken for a refusal.
trap 'exit 0' EXIT

# What comes before the tool's arguments, in the very words that clients use; sets head and session.
# A long text is asked: some shells look through it again and again.
has_plain_head() {
    [ ${#said} -le 65536 ] || return 1
    case $said in *'}') ;; *) return 1 ;; esac
    head=${said%%'"tool_input":{'*}
    session=${head#'{"session_id":"'}
    [ "$session" != "$head" ] || return 1
    session=${session%%'"'*}
    case $session in '' | *[!A-Za-z0-9_-]*) return 1 ;; esac
    case $head in *\\* | *'"agent_id"'* | *'"agentId"'*) return 1 ;; esac
    rest=${said#*'"tool_input":{'}
    # The same words again: quotes inside a text have a backslash before them.
    case $rest in
    *'"agent_id":'* | *'"agentId":'* | *'"session_id":'* | *'"cwd":'* | *'"tool_input":'* | *'"tool_name":'*) return 1 ;;
    esac
}

# The session has a note, made in this directory and under these settings; stands in it from here on.
has_note() {
    cd -P "$state/hush/s/$1-$session${LINECLEAR_AGENT:++$LINECLEAR_AGENT}" || return 1
    [ -e live ] || return 1
    { IFS= read -r root && IFS= read -r cwd; } <place || return 1
    case $head in *',"cwd":"'"$cwd"'",'*) ;; *) return 1 ;; esac
    has_same_settings
}

# The first look is at the shell: does it see a nanosecond?
has_same_settings() {
    for one in team local; do
        if [ -e $one ]; then
            [ -e $one.past ] && [ $one.seen -nt $one.past ] || return 1
            [ $one -nt $one.seen ] && return 1
            [ $one.seen -nt $one ] && return 1
        else
            [ -e $one.seen ] && return 1
        fi
    done
    return 0
}

# The moment that the entry names is yet to come, and the clock was not set back.
is_in_time() {
    echo >now || return 1
    [ "$1" -nt now ] || return 1
    [ live -nt now ] && return 1
    return 0
}

# Nothing on the way to the file has become a link or another worktree.
is_straight() {
    at=$path
    while [ "$at" != "$root" ]; do
        { [ -h "$at" ] || [ -e "$at/.git" ]; } && return 1
        at=${at%/*}
    done
    return 0
}

# The call is about one file in this worktree; sets path and file.
has_plain_path() {
    path=${rest#'"file_path":"'}
    [ "$path" != "$rest" ] || return 1
    # Another file besides.
    case ${path%%',"tool_response":'*} in
    *'path":'* | *'Path":'* | *'paths":'* | *'_file":'* | *'files":'* | *'edits":'* | *'\u00'[2-7]*) return 1 ;;
    esac
    path=${path%%'"'*}
    case $path in *\\*) return 1 ;; esac
    file=${path#"$root"/}
    case /$file/ in "/$path/" | *//* | */./* | */../*) return 1 ;; esac
    is_straight
}

passes_read() {
    [ -f read ] && has_plain_path && is_in_time read
}

passes_edit() {
    has_plain_path && [ -f "e/$file" ] && is_in_time "e/$file" || return 1
    case $2 in
    Pre* | Before*) ;;
    # A picture of the tree that was taken before is no longer true.
    *) echo "$file" >>"$memory.edited" || return 1 ;;
    esac
}

# git says what it said before, and what it named then is older than the call. Sets seen: lineclear need not ask git
# again.
line_end='
'
is_same_tree() {
    # A server that watches the tree need not look through it.
    if [ -n "$served" ]; then
        IFS= read -r row <shell || return 1
        [ "$row" != '# watched' ] || return 1
    fi
    [ -z "$GIT_DIR$GIT_WORK_TREE$GIT_INDEX_FILE$GIT_COMMON_DIR$GIT_OBJECT_DIRECTORY$GIT_NAMESPACE" ] || return 1
    [ -z "$GIT_CONFIG_COUNT$GIT_CONFIG_PARAMETERS" ] || return 1
    seen=$(LC_ALL=C git -C "$root" @STATUS@) || return 1
    set --
    was=
    while IFS= read -r row; do
        [ "$row" != '# watched' ] || continue
        was=$was$row$line_end
        case $row in
        '# '*) continue ;;
        '? '*) at=$root/${row#'? '} ;;
        '1 '*) at=$root/${row#* * * * * * * * } ;;
        *) return 1 ;;
        esac
        [ ! -e "$at" ] && [ ! -h "$at" ] || set -- "$@" -newermc "$at"
    done <shell
    [ "$seen$line_end" = "$was" ] || return 1
    [ $# = 0 ] || [ -n "$(find "$mark" "$@")" ]
}

passes_shell() {
    call=${rest##*',"tool_use_id":"'}
    [ "$call" != "$rest" ] || return 1
    call=${call%%'"'*}
    case $call in '' | *[!A-Za-z0-9_-]*) return 1 ;; esac
    [ ${#call} -le 50 ] || return 1
    mark=$memory.call-$call
    [ -s shell ] && [ ! -e "$memory.edited" ] && is_in_time shell || return 1
    case $2 in
    Pre*) true >"$mark" ;;
    *) [ -e "$mark" ] && [ ! -s "$mark" ] && is_same_tree && echo done >"$mark" ;;
    esac
}

passes() {
    has_plain_head && has_note "$1" || return 1
    memory=$state/sessions/$1-$session
    case $head in
    *',"tool_name":"Edit",' | *',"tool_name":"Write",') passes_edit "$1" "$2" ;;
    *',"tool_name":"replace",' | *',"tool_name":"write_file",' | *',"tool_name":"edit",') passes_edit "$1" "$2" ;;
    *',"tool_name":"Bash",') passes_shell "$1" "$2" ;;
    *',"tool_name":"Read",' | *',"tool_name":"read_file",') passes_read ;;
    *) return 1 ;;
    esac && [ -e live ]
}

# Sets said. The shell reads a byte at a time, which for a short line is less than another program's start; a file's
# whole text stands in what a client says after an edit.
hear() {
    case $2 in
    Pre* | Before*) IFS= read -r said || return 0 ;;
    *)
        said=$(LC_ALL=C cat)
        return 0
        ;;
    esac
    # There is a line end, and mostly nothing behind it.
    if IFS= read -r row || [ -n "$row" ]; then
        said=$said$line_end$row$line_end$(LC_ALL=C cat)
    fi
}

here=$PWD
hear "$1" "$2" 2>/dev/null
[ -n "$noted" ] && passes "$1" "$2" 2>/dev/null && exit 0
cd "$here" 2>/dev/null
[ -z "$seen" ] || [ ${#seen} -gt 4000 ] || export LINECLEAR_STATUS="$seen"
# `lineclear serve` answers in a tenth of the time; a variable of the environment holds no more than 128 KiB.
if [ -n "$served" ] && [ ${#said} -le 30000 ] && [ -x @BASH@ ]; then
    export said
    exec @BASH@ -p -c @ASK@ "$state/serve/door" @PYTHON@ -I -S -c @PROGRAM@ "$@"
fi
ask "$@" <<END
$said
END
