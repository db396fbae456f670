test -x "$(git rev-parse --git-common-dir 2>/dev/null)/lineclear/hook" && exec "$(git rev-parse --git-common-dir)/lineclear/hook" mcp; exec lineclear mcp
