# What scripts/* share: a virtual environment with pinned packages, and what the PDF tool needs of the system.
# Sourced, with the project as the working directory: `set_up demo` or `set_up test`. A second run installs nothing.

say() { printf '%s\n' "$*" >&2; }

# Runs a command as root: directly, or by sudo, which may ask only where somebody sits at the terminal.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif ! command -v sudo >/dev/null; then return 1
  elif [ -t 0 ]; then sudo "$@"
  else sudo -n "$@" 2>/dev/null
  fi
}

# Installs system packages, or says the command that would.
install_system_packages() {
  if command -v apt-get >/dev/null; then
    say "Installing by apt-get: $*"
    apt_install "$@" && return 0
    if as_root apt-get -qq update >&2 && apt_install "$@"; then return 0; fi
    say "Not installed. Run this as root:  apt-get update && apt-get install -y --no-install-recommends $*"
  elif command -v brew >/dev/null; then
    say "Installing by brew: $*"
    brew install --quiet "$@" >&2 && return 0
    say "Not installed. Run:  brew install $*"
  else
    say "Install these by your system's own means: $*"
  fi
  return 1
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null 2>&1
}

# Prints the first Python that really runs and is 3.11 or later.
find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

make_environment() {
  local python version
  if ! python=$(find_python); then
    if command -v brew >/dev/null; then install_system_packages python@3.13 || true
    else install_system_packages python3 python3-venv || true
    fi
    python=$(find_python) || install_system_packages python3.11 python3.11-venv || true
    python=$(find_python) || { say "No Python 3.11 or later was found. Install one, or name it in PYTHON."; return 1; }
  fi
  say "Making .venv with $("$python" -V)"
  if ! "$python" -m venv --clear .venv >/dev/null 2>&1; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    install_system_packages "python$version-venv" || return 1
    "$python" -m venv --clear .venv || return 1
  fi
}

# Pango and fonts, without which everything works but the PDFs.
set_up_printing() {
  local missing
  missing=$(.venv/bin/python scripts/parts/printing_needs.py) && return 0
  # shellcheck disable=SC2086  # names of packages, one word each
  install_system_packages $missing || say "Going on with everything but the PDFs."
}

set_up() {
  local extras=all stamp state
  [ "$1" = test ] && extras=all,test
  stamp=.venv/.set-up
  # With Homebrew's Pango beside another build of Python, the loader must be told where to look.
  if [ "$(uname)" = Darwin ]; then
    export DYLD_FALLBACK_LIBRARY_PATH="${DYLD_FALLBACK_LIBRARY_PATH:-/opt/homebrew/lib:/usr/local/lib:/usr/lib}"
  fi
  if ! .venv/bin/python -c '' 2>/dev/null; then make_environment || return 1; fi
  state="$(cat pyproject.toml constraints.txt | cksum) $PWD"
  if ! grep -qxF "$extras $state" "$stamp" 2>/dev/null && ! grep -qxF "all,test $state" "$stamp" 2>/dev/null; then
    say "Installing the project and its packages (once)"
    .venv/bin/python -m pip install -qq --disable-pip-version-check --no-input -c constraints.txt -e ".[$extras]" || return 1
    printf '%s\n' "$extras $state" > "$stamp"
  fi
  # Workers are fenced in and cannot write bytecode; compiled here, no call compiles the modules anew.
  .venv/bin/python -m compileall -q builtin_tools || true
  set_up_printing
}
