# fish completion for lineclear: lineclear completion fish | source
function __lineclear_words
    set -l typed (commandline -opc) (commandline -ct)
    lineclear completion --words -- $typed[2..-1] 2>/dev/null
end
complete -c lineclear -a '(__lineclear_words)'
