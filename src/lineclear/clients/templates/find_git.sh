d="$PWD"; until [ -e "$d/.git" ] || [ -z "$d" ]; do d="${d%/*}"; done; g="$d/.git"; if [ -f "$g" ]; then read -r _ g <"$g"; case "$g" in /*) ;; *) g="$d/$g" ;; esac; fi
