package stdtool

import (
	"strings"

	"github.com/toolpost/toolpost/internal/environ"
)

// known are the variables that commands get beside the common ones. What belongs
// to a tool has its whole name here: GOOGLE_API_KEY is not a variable of Go, and
// NODE_AUTH_TOKEN is a secret.
const known = environ.Common + `HOSTNAME
XDG_*_HOME XDG_*_DIR XDG_*_DIRS EDITOR VISUAL PAGER COLUMNS LINES NO_COLOR FORCE_COLOR CI DEBIAN_FRONTEND SOURCE_DATE_EPOCH CURL_CA_BUNDLE
LD_LIBRARY_PATH DYLD_LIBRARY_PATH PKG_CONFIG_PATH CC CXX CPP AR LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CMAKE_PREFIX_PATH
GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_EDITOR GIT_PAGER
GO111MODULE GOARCH GOBIN GODEBUG GOENV GOEXPERIMENT GOFLAGS GOGC GOMAXPROCS GOMEMLIMIT GOMODCACHE
GONOPROXY GONOSUMDB GOOS GOPRIVATE GOPROXY GOROOT GOSUMDB GOTMPDIR GOTOOLCHAIN GOWORK CGO_ENABLED CGO_CFLAGS CGO_LDFLAGS
NODE_ENV NODE_PATH NODE_OPTIONS NVM_BIN COREPACK_HOME DENO_DIR
PYTHONPATH PYTHONHOME PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONUTF8 VIRTUAL_ENV CONDA_PREFIX
CONDA_DEFAULT_ENV PYENV_ROOT PYENV_VERSION PIP_CACHE_DIR
JAVA_HOME JDK_HOME JAVA_OPTS MAVEN_HOME MAVEN_OPTS GRADLE_HOME GRADLE_USER_HOME KOTLIN_HOME SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT
CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS RUST_BACKTRACE RUST_LOG
GEM_HOME GEM_PATH RBENV_ROOT RBENV_VERSION BUNDLE_PATH DOTNET_ROOT PERL5LIB COMPOSER_HOME ASDF_DIR ASDF_DATA_DIR
COMMONPROGRAMFILES`

// environment returns the variables of this process that commands get: those in
// known whose value has no password, and those in pass, with * as in known.
func environment(pass []string) []string {
	names := strings.Fields(known)
	env := environ.Select(func(name, value string) bool {
		switch name {
		case "GIT_TERMINAL_PROMPT", "TERM", "PWD", "OLDPWD":
			return false
		}
		return environ.Matches(pass, name) || environ.Matches(names, strings.ToUpper(name)) && !hasPassword(name, value)
	})
	return append(env, "GIT_TERMINAL_PROMPT=0", "TERM=dumb") // nobody can answer, nor see colours
}

// hasPassword reports whether a variable holds an address with a password, as
// that of a proxy may, which is often written without http://.
func hasPassword(name, value string) bool {
	_, after, found := strings.Cut(value, "://")
	return found && strings.Contains(after, "@") || strings.HasSuffix(strings.ToUpper(name), "_PROXY") && strings.Contains(value, "@")
}
