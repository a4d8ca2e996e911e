# Sourced by the tools: creates .venv in the repository's root, and updates it.
# Needs python3 >= 3.10 with venv, and the network on the first run; needs no root rights.
# Sets $root and $python. Works in any directory, also in a path with spaces.

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P) || exit 1
venv=$root/.venv
python=$venv/bin/python

# The caches of tools are in .venv, so that they do not clutter the sources.
export MYPY_CACHE_DIR="$venv/cache/mypy" RUFF_CACHE_DIR="$venv/cache/ruff" COVERAGE_FILE="$venv/cache/coverage"
export HYPOTHESIS_STORAGE_DIRECTORY="$venv/cache/hypothesis"

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

find_python() {
    for candidate in "${PYTHON:-python3}" python3.13 python3.12 python3.11 python3.10; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

make_venv() {
    base=$(find_python) || fail "python3 (3.10 or newer) is needed, and was not found." \
        "On Debian and Ubuntu: apt install python3 python3-venv"
    "$base" -c 'import ensurepip, venv' 2>/dev/null || fail "python3 has no venv module that can install pip." \
        "On Debian and Ubuntu: apt install python3-venv"
    [ ! -L "$venv" ] || fail "$venv is a symbolic link, and what it leads to is not cleared for this tree: remove it"
    "$base" -m venv --clear "$venv" || fail "could not make $venv"
}

# Whether .venv works and was made in this place: if it was moved or copied, bin/activate names another place.
is_made_here() {
    [ ! -L "$venv" ] && "$python" -c 'import pip' 2>/dev/null &&
        [ "$(sed -n "s/^.*VIRTUAL_ENV=[\"']*\(\/.*[^\"']\)[\"']*\$/\1/p" "$venv/bin/activate")" -ef "$venv" ]
}

# prepare EXTRAS: install the package and these extras to .venv. The installation is editable, so that the source tree
# runs. A stamp file, written last, records what was installed from where; if it is up to date, nothing is installed.
prepare() {
    extras=$1
    stamp=$venv/installed-$(printf %s "$extras" | tr , -)
    wanted="$root $(cksum < "$root/pyproject.toml")"
    if [ -x "$python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    is_made_here || make_venv
    printf 'Installing coopmat[%s] into .venv (the first time this takes some minutes)\n' "$extras" >&2
    "$python" -m pip install --quiet --disable-pip-version-check --editable "$root[$extras]" ||
        fail "pip could not install the package; what it said stands above"
    # Compile the package now: if later users cannot write the .pyc files, each start would compile it again.
    "$python" -m compileall -q "$root/coopmat" || true
    # The installation includes each single extra.
    for part in $(printf %s "$extras" | tr , ' ') ; do
        printf '%s\n' "$wanted" > "$venv/installed-$part"
    done
    printf '%s\n' "$wanted" > "$stamp"
}

# prepare_locked EXTRAS: prepare, under a lock, so that only one tool at a time changes .venv.
prepare_locked() {
    if command -v flock > /dev/null; then
        exec 9< "$root/pyproject.toml"
        flock 9
        prepare "$1"
        exec 9>&-
    else
        prepare "$1"
    fi
}

# Find a spirv-val that supports SPV_KHR_cooperative_matrix, or install one in this environment. A failure is not
# fatal: tools that need it report modules as not validated.
prepare_spirv_tools() {
    "$python" -c 'import sys; from coopmat.spirv.tools import find_tools; sys.exit(find_tools() is None)' ||
        "$python" -m coopmat doctor --install spirv-tools >&2 || true
}
