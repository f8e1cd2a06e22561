package job

import (
	"path"
	"slices"
	"strings"

	"tandem/internal/session/checkout"
)

// What a check consists of beside its command: the files that the command names, tests, and what tells a tool how to run them. A job that
// changes one of these may have changed what green means.

// rules are files that tell tools what to run, by name or pattern of a name, or by the end of a path.
var rules = []string{
	"Makefile", "makefile", "GNUmakefile", "*.mk", "justfile", "Justfile", ".justfile", "Taskfile.y*ml", "Rakefile",
	"package.json", "*.config.js", "*.config.cjs", "*.config.mjs", "*.config.ts", "*.config.cts", "*.config.mts",
	"*.config.json", "*.conf.js", ".mocharc*", ".nycrc*", ".babelrc*", ".eslintrc*", ".npmrc", ".yarnrc*", "tsconfig*.json",
	"deno.json*", "bunfig.toml", "turbo.json", "nx.json", "pyproject.toml", "tox.ini", "pytest.ini", ".pytest.ini",
	"conftest.py", "setup.cfg", "setup.py", "noxfile.py", "mypy.ini", ".coveragerc", "sitecustomize.py", "usercustomize.py",
	"*.pth", "go.mod", "go.work", ".golangci.*", "Cargo.toml", "build.rs", "rust-toolchain*", ".cargo/config.toml",
	".cargo/config", "build.gradle*", "settings.gradle*", "gradle.properties", "gradlew", "pom.xml", "mvnw", "CMakeLists.txt",
	"CTestTestfile.cmake", "*.cmake", "meson.build", "SConstruct", "WORKSPACE*", "MODULE.bazel", "BUILD", "BUILD.bazel",
	".bazelrc", "Gemfile", ".rspec", "composer.json", "phpunit.xml*", "mix.exs", "Package.swift", "build.zig", "build.sbt",
	"dune-project", "rebar.config", "*.cabal", "stack.yaml", "*.csproj", "*.sln", "Directory.Build.*", "Jenkinsfile",
	"flake.nix", "default.nix", "shell.nix",
}

// isRule says whether a file tells tools what to run.
func isRule(file string) bool {
	return slices.ContainsFunc(rules, func(r string) bool {
		fits, err := path.Match(r, path.Base(file))
		return err == nil && fits || strings.HasSuffix("/"+file, "/"+r)
	})
}

// testFolders are folders that hold tests, by name.
var testFolders = []string{"test", "tests", "testdata", "__tests__", "spec"}

// partOf says whether a check with this command consists of a file.
func partOf(command, file string) bool {
	base := path.Base(file)
	if isRule(file) {
		return true
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	if strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_") ||
		strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") {
		return true
	}
	for _, dir := range strings.Split(path.Dir(file), "/") {
		if slices.Contains(testFolders, dir) {
			return true
		}
	}
	return named(command, file)
}

// named says whether a word of the command is the file, seen from the repository or from a folder in it: the command may run anywhere.
func named(command, file string) bool {
	for _, word := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;&|<>()={}$", r) }) {
		word = path.Clean(word)
		for strings.HasPrefix(word, "../") {
			word = word[len("../"):]
		}
		if strings.HasSuffix("/"+file, "/"+word) {
			return true
		}
	}
	return false
}

// altered are the files of a check that are not as they were: changed, deleted, moved away; and new ones that tell tools what to run.
func altered(p parts, changes []checkout.Change) []string {
	var out []string
	for _, c := range changes {
		if c.Status == 'A' || c.Status == 'C' {
			if isRule(c.Path) {
				out = append(out, c.Path)
			}
			continue
		}
		for _, name := range []string{c.From, c.Path} {
			if name != "" && p.has(name) {
				out = append(out, name)
			}
		}
	}
	return out
}
