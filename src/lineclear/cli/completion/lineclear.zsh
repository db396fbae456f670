#compdef lineclear
# zsh completion for lineclear: eval "$(lineclear completion zsh)"
_lineclear() {
    local -a found
    found=("${(@f)$(lineclear completion --words -- "${words[@]:1:$((CURRENT - 1))}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then
        compadd -- "${found[@]}"
    else
        _files
    fi
}
compdef _lineclear lineclear
