# man-roff.awk - what both makers of man pages write: text as roff has it, and a page's head.

# text(LINE) - the line as it stands: nothing in it is a request or an escape.
function text(line) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    gsub(/'/, "\\(aq", line)
    gsub(/\^/, "\\(ha", line)
    gsub(/~/, "\\(ti", line)
    gsub(/`[^`]*`/, "\\fB&\\fR", line)
    gsub(/`/, "", line)
    return line ~ /^[.]/ ? "\\&" line : line
}

function bold(word) { return "\\fB" text(word) "\\fR" }

# with_placeholders(LINE) - as text, with the words in capitals, which stand for others, in italics.
function with_placeholders(line,    done) {
    line = text(line)
    while (match(line, /[A-Z][A-Z]*/)) {
        done = done substr(line, 1, RSTART - 1) "\\fI" substr(line, RSTART, RLENGTH) "\\fR"
        line = substr(line, RSTART + RLENGTH)
    }
    return done line
}

# add_paragraph(LINES) - lines that are to be filled.
function add_paragraph(lines) { add(".PP\n" lines) }

# add_verbatim(LINES) - lines that stay as they are.
function add_verbatim(lines) { add(".PP\n.in +4n\n.nf\n" lines "\n.fi\n.in") }

# add_item(TAG, LINES) - both are roff.
function add_item(tag, lines) { add(".TP\n" tag "\n" lines) }

# add(ROFF) - to the section that is being filled.
function add(roff) { filled[section] = filled[section] roff "\n" }

# Words are not parted: most that are long are names.
function print_head(page, number, file) {
    printf ".\\\" Made from %s: do not change it.\n", source >file
    printf ".TH \"%s\" \"%s\" \"\" \"%s\" \"ecube\"\n.nh\n.ad l\n", text(page), number, version >file
}

# pages(LIST) - "ecube(1) gcc(1)" as man pages name others.
function pages(list,    count, words, i, at, line) {
    count = split(list, words, " ")
    for (i = 1; i <= count; i++) {
        at = index(words[i], "(")
        line = line (i > 1 ? ", " : "") bold(substr(words[i], 1, at - 1)) substr(words[i], at)
    }
    return line
}

# in_name(WORDS) - as whatis shows them: a sentence goes on with a small letter, unless its first word is a name.
function in_name(words) {
    if (words ~ /^[A-Z][^A-Z]/ || words ~ /^A /)
        words = tolower(substr(words, 1, 1)) substr(words, 2)
    return text(words)
}

# print_section(NAME, FILE) - nothing where nothing was filled in.
function print_section(name, file) {
    if (filled[name] != "")
        printf ".SH \"%s\"\n%s", name, filled[name] >file
}
