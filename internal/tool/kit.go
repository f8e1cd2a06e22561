package tool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/tool/box"
)

// Kit is the toolchains of this machine that boxes get, beside the system's own, and caches for each granted folder. Of the folders in
// which toolchains keep themselves only these parts are shown, and never a tool's own home, which holds credentials.
type Kit struct {
	path   []string // folders of programs, in order
	see    []string // shown to be read
	env    []string
	caches string // where the caches of boxes are kept
	had    had
}

// had is what a person has downloaded: Go's modules, cargo's registry, Maven's repository.
type had struct{ modules, registry, maven string }

// programs are what is looked for on the path of whoever started the server.
var programs = []string{"go", "gofmt", "cargo", "rustc", "node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "python3", "python", "pip",
	"pytest", "uv", "ruby", "java", "javac", "mvn", "gradle",
	"make", "cmake", "ninja", "gcc", "clang", "zig", "protoc", "just"}

// FindKit looks for toolchains on a path, for the person whose home it is. caches is a folder of tandem's own.
func FindKit(home, path, caches string) *Kit {
	k := &Kit{caches: caches}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	in := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	for _, name := range programs {
		for _, dir := range filepath.SplitList(path) {
			at := filepath.Join(dir, name)
			st, err := os.Stat(at)
			if err != nil || st.IsDir() || st.Mode()&0o111 == 0 || !filepath.IsAbs(dir) {
				continue
			}
			if real, err := filepath.EvalSymlinks(at); err == nil {
				k.add(home, at, real)
			}
			break
		}
	}
	if isFolder(in(".rustup", "toolchains")) {
		k.show(in(".rustup", "toolchains"), in(".rustup", "settings.toml"))
		k.env = append(k.env, "RUSTUP_HOME="+in(".rustup"))
	}
	for part, at := range map[*string]string{&k.had.registry: in(".cargo", "registry"), &k.had.modules: in("go", "pkg", "mod"),
		&k.had.maven: in(".m2", "repository")} { // settings.xml beside it holds passwords
		if isFolder(at) {
			*part = at
		}
	}
	k.show(k.had.modules)
	configured, _ := filepath.Glob("/etc/java*") // the system's Java keeps half of itself there; the pattern is well formed
	k.show(append(configured, "/etc/maven")...)
	return k
}

// add shows what a program needs of where it lies.
func (k *Kit) add(home, at, real string) {
	dir := filepath.Dir(real)
	if systemPlace(real) && systemPlace(at) {
		if !slices.Contains(k.path, filepath.Dir(at)) && !slices.Contains(systemPath, filepath.Dir(at)) {
			k.path = append(k.path, filepath.Dir(at))
		}
		return
	}
	root := filepath.Dir(dir)
	switch {
	case filepath.Base(filepath.Dir(at)) == "shims":
		k.behind(filepath.Dir(filepath.Dir(at)), filepath.Base(at))
		return
	case filepath.Base(dir) == "bin" && dir == filepath.Join(home, ".cargo", "bin"):
		k.show(dir)
	case filepath.Base(dir) == "bin" && root != home && root != "/" && filepath.Dir(root) != home &&
		!strings.HasPrefix(filepath.Base(root), "."):
		k.show(root) // a toolchain that is complete in itself: …/go/bin/go, …/node/v22/bin/node
	default:
		k.show(real)
		if real != at {
			k.show(at)
		}
	}
	if dir := filepath.Dir(at); !slices.Contains(k.path, dir) {
		if real != at && !box.Below(filepath.Dir(real), at) && !systemPlace(at) { // a link into the toolchain: its own folder is what is shown
			dir = filepath.Dir(real)
		}
		if !slices.Contains(k.path, dir) {
			k.path = append(k.path, dir)
		}
	}
}

// behind finds the program that a shim would start: the version that is chosen for all (pyenv), or the newest that is installed (mise). A
// shim
// itself needs its tool's home. Where neither is, the system's own program is what commands get.
func (k *Kit) behind(home, name string) {
	var roots []string
	if version, err := os.ReadFile(filepath.Join(home, "version")); err == nil {
		for v := range strings.FieldsSeq(string(version)) {
			roots = append(roots, filepath.Join(home, "versions", v))
		}
	}
	installed, _ := filepath.Glob(filepath.Join(home, "installs", "*", "latest")) // the pattern is well formed
	for _, root := range append(roots, installed...) {
		real, err := filepath.EvalSymlinks(root)
		if _, there := os.Stat(filepath.Join(root, "bin", name)); err != nil || there != nil {
			continue
		}
		k.show(real)
		if bin := filepath.Join(real, "bin"); !slices.Contains(k.path, bin) {
			k.path = append(k.path, bin)
		}
		return
	}
}

func (k *Kit) show(paths ...string) {
	for _, p := range paths {
		if _, err := os.Stat(p); p != "" && err == nil && !slices.Contains(k.see, p) {
			k.see = append(k.see, p)
		}
	}
}

// systemPath is where every command looks for programs.
var systemPath = []string{"/usr/local/bin", "/usr/bin", "/bin"}

func systemPlace(p string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin"}, func(d string) bool { return box.Below(d, p) })
}

func isFolder(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.IsDir()
}
