#!/bin/sh
# man.sh BUILD - writes the man pages into BUILD/man: of the tool, of each verb, of ecube-cc and, where it is,
# of ecube-sim-mpi from their --help, of the calls
# of programs from the public headers.
set -eu
cd "$(dirname "$0")/.."
case $1 in
/*) build=$1 ;;
*) build=$PWD/$1 ;;
esac
version=$("$build/ecube" --version)
pages=$build/man
rm -rf "$pages"
mkdir -p "$pages/man1" "$pages/man3"
# A line for each paragraph and option.
export COLUMNS=10000 ARGP_HELP_FMT=rmargin=10000,no-dup-args-note
unset POSIXLY_CORRECT

# help_page NAME SUMMARY ALSO [ARGUMENT...] - of the --help on standard input.
help_page() {
    name=$1 summary=$2 also=$3
    shift 3
    awk -f scripts/man-roff.awk -f scripts/man-help.awk -v page="$name" -v summary="$summary" -v also="$also" \
        -v source="its --help" -v version="$version" -v out="$pages/man1/$name.1" "$@"
}

top=$("$build/ecube" --help)
summary=$(echo "$top" | sed -n '3{s/:.*//;p;q;}')
echo "$top" | help_page ecube "$summary" 'ecube-cc(1) ecube.h(3)' -v items_are_pages=1
echo "$top" | sed -n 's/^  \([a-z][a-z]*\)  *\(.*\)/\1 \2/p' | while read -r verb summary; do
    "$build/ecube" "$verb" --help | help_page "ecube-$verb" "$summary" 'ecube(1)'
done
"$build/ecube-cc" --help |
    help_page ecube-cc "compiles and links programs for an ecube machine" 'ecube(1) ecube.h(3) gcc(1)'
if [ -f "$build/ecube-sim-mpi" ]; then # made by make mpi
    "$build/ecube-sim-mpi" --help | help_page ecube-sim-mpi "simulates as ecube sim does, over the processes of an MPI job" \
        'ecube-sim(1) ecube(1) mpirun(1)'
fi

awk -f scripts/man-roff.awk -f scripts/man-header.awk -v source="include/ecube" -v version="$version" -v out="$pages" \
    include/ecube/ecube.h include/ecube/abi.h include/ecube/error.h
