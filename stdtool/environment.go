package stdtool

import (
	"os"
	"slices"
	"strings"
)

// known are the variables that commands get: what programs need to run, to find
// their files and to reach the network. A * stands for any further letters.
// Whatever else there is may be a secret, whose name nobody can guess. What
// belongs to a tool has its whole name here: GOOGLE_API_KEY is none of Go's,
// and NODE_AUTH_TOKEN is a secret.
const known = `
PATH HOME USER LOGNAME SHELL HOSTNAME LANG LANGUAGE LC_* TZ TMPDIR TMP TEMP
XDG_*_HOME XDG_*_DIR XDG_*_DIRS EDITOR VISUAL PAGER COLUMNS LINES NO_COLOR FORCE_COLOR CI DEBIAN_FRONTEND SOURCE_DATE_EPOCH
HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE
LD_LIBRARY_PATH DYLD_LIBRARY_PATH PKG_CONFIG_PATH CC CXX CPP AR LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CMAKE_PREFIX_PATH
GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_EDITOR GIT_PAGER
GO111MODULE GOARCH GOBIN GOCACHE GODEBUG GOENV GOEXPERIMENT GOFLAGS GOGC GOMAXPROCS GOMEMLIMIT GOMODCACHE
GONOPROXY GONOSUMDB GOOS GOPATH GOPRIVATE GOPROXY GOROOT GOSUMDB GOTMPDIR GOTOOLCHAIN GOWORK CGO_ENABLED CGO_CFLAGS CGO_LDFLAGS
NODE_ENV NODE_PATH NODE_OPTIONS NODE_EXTRA_CA_CERTS NVM_DIR NVM_BIN VOLTA_HOME PNPM_HOME COREPACK_HOME BUN_INSTALL DENO_DIR
PYTHONPATH PYTHONHOME PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 VIRTUAL_ENV CONDA_PREFIX
CONDA_DEFAULT_ENV PYENV_ROOT PYENV_VERSION UV_CACHE_DIR PIP_CACHE_DIR
JAVA_HOME JDK_HOME JAVA_OPTS MAVEN_HOME MAVEN_OPTS GRADLE_HOME GRADLE_USER_HOME KOTLIN_HOME SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT
CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS RUST_BACKTRACE RUST_LOG
GEM_HOME GEM_PATH RBENV_ROOT RBENV_VERSION BUNDLE_PATH DOTNET_ROOT PERL5LIB COMPOSER_HOME ASDF_DIR ASDF_DATA_DIR
SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA
PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) COMMONPROGRAMFILES PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS`

// environment returns what commands get of this process's environment: what is
// known and holds no password, and what pass names, a * as in known.
func environment(pass []string) []string {
	env := []string{"GIT_TERMINAL_PROMPT=0", "TERM=dumb"} // nobody can answer, nor see colours
	names := strings.Fields(known)
	for _, entry := range os.Environ() {
		i := strings.IndexByte(entry[min(1, len(entry)):], '=') + 1 // on Windows a name may begin with it
		if i == 0 {
			continue
		}
		name, value := entry[:i], entry[i+1:]
		switch name {
		case "GIT_TERMINAL_PROMPT", "TERM", "PWD", "OLDPWD":
			continue
		}
		if named(pass, name) || named(names, strings.ToUpper(name)) && !hasPassword(name, value) {
			env = append(env, entry)
		}
	}
	return env
}

func named(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		before, after, star := strings.Cut(p, "*")
		return p == name || star && len(name) >= len(p)-1 && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
	})
}

// hasPassword reports whether a variable holds an address with a password, as
// that of a proxy may, which is often written without http://.
func hasPassword(name, value string) bool {
	_, after, found := strings.Cut(value, "://")
	return found && strings.Contains(after, "@") || strings.HasSuffix(strings.ToUpper(name), "_PROXY") && strings.Contains(value, "@")
}
