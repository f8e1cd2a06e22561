package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/tool/box"
)

// cached are the variables that tell a tool where its cache is. Nothing that configures a tool outlives a command.
var cached = map[string]string{"XDG_CACHE_HOME": "xdg", "GOCACHE": "go-build", "npm_config_cache": "npm", "PIP_CACHE_DIR": "pip",
	"UV_CACHE_DIR": "uv", "CARGO_HOME": "cargo", "GRADLE_USER_HOME": "gradle"}

// Wearer is who is in a box: a command of our own loop, or an agent's program.
type Wearer struct {
	// Folder is whose caches it has.
	Folder string
	// CachesAt is where it sees them; "" is the place they have.
	CachesAt string
	// InPlace says that nothing can be shown in another place than its own, as under Landlock and Seatbelt.
	InPlace bool
	// Keeps says which variables steer the program itself; those are nobody's to set.
	Keeps func(name string) bool
}

// Wear gives a box what it has of the machine beside the system: the toolchains that were found, caches, and what a person gave the folder.
// It is the one place where PATH, environment and caches of a box are made. What the box's environment has already stands over what was
// found, and what a person gave stands over both. The places that an outfit shows are the scope's: see Worn.
func (k *Kit) Wear(b *box.Box, scope *Scope, w Wearer) error {
	d := &dressing{Box: b, w: w}
	outfit := scope.Outfit()
	path := slices.Clone(outfit.Path)
	if k != nil {
		path = append(path, k.path...)
		for _, kv := range k.env {
			d.found(kv)
		}
		b.Mounts = append(b.Mounts, box.Read(k.see...)...)
		if err := k.warm(d, scope); err != nil {
			return err
		}
	}
	d.first(path)
	for _, kv := range outfit.Env {
		d.given(kv)
	}
	return nil
}

// dressing is a box whose environment is being made.
type dressing struct {
	*box.Box
	w Wearer
}

func named(kv string) string {
	name, _, _ := strings.Cut(kv, "=")
	return name
}

func (d *dressing) keeps(kv string) bool { return d.w.Keeps != nil && d.w.Keeps(named(kv)) }

// found sets a variable that nobody said anything about.
func (d *dressing) found(kv string) {
	if !d.keeps(kv) && !slices.ContainsFunc(d.Env, func(had string) bool { return named(had) == named(kv) }) {
		d.Env = append(d.Env, kv)
	}
}

// given sets a variable as a person said.
func (d *dressing) given(kv string) {
	if !d.keeps(kv) {
		d.Env = append(slices.DeleteFunc(d.Env, func(had string) bool { return named(had) == named(kv) }), kv)
	}
}

// first puts folders of programs before those that the box looks through, which are the system's where it names none.
func (d *dressing) first(path []string) {
	i := slices.IndexFunc(d.Env, func(kv string) bool { return named(kv) == "PATH" })
	if i < 0 {
		i, d.Env = len(d.Env), append(d.Env, "PATH="+strings.Join(systemPath, ":"))
	}
	d.Env[i] = "PATH=" + strings.Join(append(path, strings.TrimPrefix(d.Env[i], "PATH=")), ":")
}

// warm shows the caches that the boxes of one folder have to themselves, and what the person has downloaded. Builds stay warm, and nobody
// else reads what was left there. Without the network the person's downloads are read where they are; with it new ones go to the folder's.
func (k *Kit) warm(d *dressing, scope *Scope) error {
	own := k.caches != "" && len(scope.folders) > 0 &&
		!slices.ContainsFunc(scope.folders, func(f Folder) bool { return box.Below(f.Path, k.caches) }) // what is tandem's own is not shown
	if !d.Network {
		d.found("GOTOOLCHAIN=local")
		d.found("CARGO_NET_OFFLINE=true")
		if k.had.modules != "" {
			d.found("GOMODCACHE=" + k.had.modules)
		}
	}
	if !own {
		return nil
	}
	sum := sha256.Sum256([]byte(d.w.Folder))
	dir := filepath.Join(k.caches, hex.EncodeToString(sum[:8]))
	at := dir
	if d.w.CachesAt != "" {
		at = d.w.CachesAt
	}
	for _, sub := range cached {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	d.Mounts = append(d.Mounts, box.Mount{From: dir, At: at, Write: true})
	for _, name := range slices.Sorted(maps.Keys(cached)) {
		d.found(name + "=" + filepath.Join(at, cached[name]))
	}
	if d.Network {
		k.fetching(d, at)
		return nil
	}
	if d.w.InPlace {
		return nil
	}
	link := func(from, sub string) error {
		d.Mounts = append(d.Mounts, box.Mount{From: from, At: filepath.Join(at, sub)})
		return os.MkdirAll(filepath.Join(dir, sub), 0o700)
	}
	if k.had.maven != "" {
		d.found("MAVEN_ARGS=-o -Dmaven.repo.local=" + filepath.Join(at, "m2"))
		if err := link(k.had.maven, "m2"); err != nil {
			return err
		}
	}
	if k.had.registry != "" {
		return link(k.had.registry, filepath.Join("cargo", "registry"))
	}
	return nil
}

// fetching lets a box with the network download what is missing, and take the rest from what the person has.
func (k *Kit) fetching(d *dressing, at string) {
	if k.had.modules != "" {
		d.found("GOMODCACHE=" + filepath.Join(at, "go-mod"))
	}
	if k.had.maven != "" && !d.w.InPlace {
		d.Mounts = append(d.Mounts, box.Read(k.had.maven)...)
		d.found("MAVEN_ARGS=-Dmaven.repo.local=" + filepath.Join(at, "maven") + " -Dmaven.repo.local.tail=" + k.had.maven)
	}
}
