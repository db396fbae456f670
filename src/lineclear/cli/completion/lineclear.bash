# bash completion for lineclear: eval "$(lineclear completion bash)"
_lineclear() {
    local IFS=$'\n'
    local typed="${COMP_WORDS[COMP_CWORD]}"
    mapfile -t COMPREPLY < <(lineclear completion --words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [ ${#COMPREPLY[@]} -eq 0 ]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$typed")
    fi
}
complete -o filenames -F _lineclear lineclear
