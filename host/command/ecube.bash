# bash completion for ecube: the tool itself says what may stand next (ecube complete). Where it says nothing, files.

_ecube() {
    local rest=${COMP_LINE:0:COMP_POINT} words=() word i glued= before
    # COMP_WORDS parts words at : and =, which names of networks have in them.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        ((i < COMP_CWORD)) || word=$rest
        rest=${rest#"$word"}
        if [[ $glued ]]; then words[-1]+=$word; else words+=("$word"); fi
        [[ $rest == [[:space:]]* ]] && glued= || glued=yes
        rest=${rest#"${rest%%[![:space:]]*}"}
    done
    word=${words[-1]}
    before=${word%"$2"}
    COMPREPLY=()
    while IFS= read -r word; do
        [[ $word != *[:=] ]] || compopt -o nospace
        word=${word#"${before//\\/}"}
        COMPREPLY+=("${word// /\\ }")
    done < <("${COMP_WORDS[0]}" complete "${words[@]:1:${#words[@]}-2}" "${words[-1]//\\/}" 2>/dev/null)
}

complete -o bashdefault -o default -F _ecube ecube
