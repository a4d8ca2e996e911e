# Sourced by the tools: makes .venv in the repository's root and keeps it up to date.
# Needs python3 >= 3.10 with venv; no root rights; the network on the first run only.
# Sets $root and $python; works from any directory and in a path with spaces.

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P) || exit 1
venv=$root/.venv
python=$venv/bin/python

# What tools keep between runs goes to .venv, not beside the sources.
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

# prepare EXTRAS: .venv with the package (editable, so that the source tree is what runs) and these extras.
# A stamp, written last, says what was installed from where; while it fits, nothing is done.
prepare() {
    extras=$1
    stamp=$venv/installed-$(printf %s "$extras" | tr , -)
    wanted="$root $(cksum < "$root/pyproject.toml")"
    if [ -x "$python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    if ! "$python" -c 'import pip' 2>/dev/null || [ "$(cat "$venv/root" 2>/dev/null)" != "$root" ]; then
        make_venv
        printf '%s\n' "$root" > "$venv/root"
    fi
    printf 'Installing coopmat[%s] into .venv (the first time this takes some minutes)\n' "$extras" >&2
    "$python" -m pip install --quiet --disable-pip-version-check --editable "$root[$extras]" ||
        fail "pip could not install the package; what it said stands above"
    # Where Python may not write what it compiled, each start would compile the package again.
    "$python" -m compileall -q "$root/coopmat" || true
    # What was installed covers every part of the extras too.
    for part in $(printf %s "$extras" | tr , ' ') ; do
        printf '%s\n' "$wanted" > "$venv/installed-$part"
    done
    printf '%s\n' "$wanted" > "$stamp"
}

# One tool at a time may change .venv.
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

# spirv-val that knows SPV_KHR_cooperative_matrix: found, or fetched for this environment. Not fatal: what cannot
# be validated is reported as not validated by whoever needs it.
prepare_spirv_tools() {
    "$python" -c 'import sys; from coopmat.spirv.tools import find_tools; sys.exit(find_tools() is None)' ||
        "$python" -m coopmat doctor --install spirv-tools >&2 || true
}
