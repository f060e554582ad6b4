#compdef ecube
# zsh completion for ecube: the tool itself says what may stand next (ecube complete). Where it says nothing, files.

local -a found
found=("${(@f)$(${(Q)words[1]} complete "${(Q@)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
found=(${found:#})
if (($#found)); then
    compadd -S '' -- ${(M)found:#*:}
    compadd -- ${found:#*:}
else
    _files
fi
