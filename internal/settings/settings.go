// Package settings reads how tandem is to run: flags win over the environment,
// the environment over ~/.tandem/.env, that over ~/.tandem/config.toml, and
// that over the defaults. Every value knows where it came from. No other file
// is read unless it is named with --env-file, so that a repository cannot set
// a token or an allowlist.
package settings

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"tandem/internal/fault"
)

// Setting is one thing that can be set.
type Setting struct {
	Key     string   // in config.toml and on the command line: listen, log.level
	Env     []string // variables, the first one preferred
	Default string
	Doc     string
	Secret  bool     // shown as set or not set
	Live    bool     // a change counts at once
	OneOf   []string // all that it can be, when that is known
	Form    *form    // what it looks like, when the server would not start with anything else
	Guard   bool     // says where tandem's doors, programs and walls are: a program's change waits for a person
}

// Value is a setting as it stands, with its origin.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source" jsonschema:"flag, environment, a file's path, or default"`
	Doc    string `json:"doc"`
	Secret bool   `json:"secret,omitempty"`
}

// Settings are all values.
type Settings struct {
	values map[string]Value
	Home   string // the person's home folder
}

// Load reads the settings. flags holds what the command line said, by key; env
// is the environment as os.Environ gives it.
func Load(flags map[string]string, env []string, envFiles ...string) (*Settings, error) {
	vars := variables(env)
	s := &Settings{values: map[string]Value{}, Home: home(vars)}
	data := Folder(flags, env)

	dotenv := map[string]Value{}
	for _, file := range append([]string{filepath.Join(data, ".env")}, envFiles...) {
		if err := readEnvFile(file, dotenv, len(envFiles) > 0 && file != filepath.Join(data, ".env")); err != nil {
			return nil, err
		}
	}
	config, err := readConfig(filepath.Join(data, "config.toml"))
	if err != nil {
		return nil, err
	}
	for _, def := range table {
		s.values[def.Key] = def.resolve(flags, vars, dotenv, config)
		delete(config, def.Key)
	}
	for key := range config {
		return nil, fault.New(fault.Invalid, "settings", "there is no setting %q in %s", key, filepath.Join(data, "config.toml")).
			WithNext("see what there is: tandem settings")
	}
	return s, nil
}

// Folder is the data folder of a command line. Nothing in the folder says where it is, so it is known before anything in it is
// read.
func Folder(flags map[string]string, env []string) string {
	vars := variables(env)
	return first(flags["data"], vars["TANDEM_DATA"], filepath.Join(home(vars), ".tandem"))
}

func variables(env []string) map[string]string {
	vars := map[string]string{}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			vars[k] = v
		}
	}
	return vars
}

func (d Setting) resolve(flags, vars map[string]string, dotenv, config map[string]Value) Value {
	v := Value{Key: d.Key, Doc: d.Doc, Secret: d.Secret}
	if f, ok := flags[d.Key]; ok {
		v.Value, v.Source = f, "flag"
		return v
	}
	for _, name := range d.Env {
		if e, ok := vars[name]; ok && e != "" {
			v.Value, v.Source = e, "environment ("+name+")"
			return v
		}
	}
	for _, name := range d.Env {
		if e, ok := dotenv[name]; ok && e.Value != "" {
			v.Value, v.Source = e.Value, e.Source+" ("+name+")"
			return v
		}
	}
	if c, ok := config[d.Key]; ok {
		v.Value, v.Source = c.Value, c.Source
		return v
	}
	v.Value, v.Source = d.Default, "default"
	return v
}

// Get is a setting's value. Asking for one that is not in the table is a bug.
func (s *Settings) Get(key string) string {
	v, ok := s.values[key]
	if !ok {
		panic("settings: no such key " + key)
	}
	return v.Value
}

// With is a copy in which some values are others, with their origin.
func (s *Settings) With(values map[string]string, source string) *Settings {
	out := &Settings{values: maps.Clone(s.values), Home: s.Home}
	for key, v := range values {
		if old, ok := out.values[key]; ok {
			old.Value, old.Source = v, source
			out.values[key] = old
		}
	}
	return out
}

// Changed is a copy in which a setting has the value that was written into the data folder's config.toml, "" for none; what a flag, the
// environment or .env says still wins.
func (s *Settings) Changed(data, key, value string) *Settings {
	file := filepath.Join(data, "config.toml")
	if v := s.values[key]; v.Source != "default" && v.Source != file {
		return s
	}
	if value == "" {
		return s.With(map[string]string{key: Known(key).Default}, "default")
	}
	return s.With(map[string]string{key: value}, file)
}

// Given reports whether somebody set it.
func (s *Settings) Given(key string) bool { return s.values[key].Source != "default" }

// Source is where a setting came from.
func (s *Settings) Source(key string) string { return s.values[key].Source }

// Bool reads a switch: 1, true, yes, on.
func (s *Settings) Bool(key string) bool {
	switch strings.ToLower(s.Get(key)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// Int reads a number; what is none is the default's.
func (s *Settings) Int(key string) int {
	n, err := strconv.Atoi(s.Get(key))
	if err != nil {
		n, _ = strconv.Atoi(Known(key).Default)
	}
	return n
}

// All are the values in order, secrets hidden.
func (s *Settings) All() []Value {
	var all []Value
	for _, v := range s.values {
		if v.Secret && v.Value != "" {
			v.Value = "(set)"
		}
		all = append(all, v)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Key < all[j].Key })
	return all
}

// Data is the data folder.
func (s *Settings) Data() string {
	if d := s.Get("data"); d != "" {
		return d
	}
	return filepath.Join(s.Home, ".tandem")
}

func home(vars map[string]string) string {
	if runtime.GOOS == "windows" {
		return vars["USERPROFILE"]
	}
	return vars["HOME"]
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// readEnvFile reads KEY=VALUE lines. A file that others can read may hold no
// secrets, so it is refused.
func readEnvFile(path string, into map[string]Value, must bool) error {
	f, err := os.Open(path)
	if os.IsNotExist(err) && !must {
		return nil
	}
	if err != nil {
		return fault.New(fault.Invalid, "settings", "cannot read %s: %w", path, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return fault.New(fault.Invalid, "settings", "%s can be read by others", path).WithNext("chmod 600 %s", path)
	}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		k, v, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if !ok {
			return fault.New(fault.Invalid, "settings", "%s line %d is not NAME=value", path, n)
		}
		v = strings.TrimSpace(v)
		if len(v) > 1 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0] {
			v = v[1 : len(v)-1]
		}
		into[strings.TrimSpace(k)] = Value{Value: v, Source: path}
	}
	return lines.Err()
}

func readConfig(path string) (map[string]Value, error) {
	var tree map[string]any
	if _, err := toml.DecodeFile(path, &tree); err != nil {
		if os.IsNotExist(err) {
			return map[string]Value{}, nil
		}
		return nil, fault.New(fault.Invalid, "settings", "%s: %w", path, err).WithNext("mend the file, or move it away")
	}
	flat := map[string]Value{}
	flatten("", tree, path, flat)
	return flat, nil
}

func flatten(prefix string, tree map[string]any, source string, into map[string]Value) {
	for k, v := range tree {
		switch v := v.(type) {
		case map[string]any:
			flatten(prefix+k+".", v, source, into)
		case []any:
			var parts []string
			for _, p := range v {
				parts = append(parts, fmt.Sprint(p))
			}
			into[prefix+k] = Value{Value: strings.Join(parts, ","), Source: source}
		default:
			into[prefix+k] = Value{Value: fmt.Sprint(v), Source: source}
		}
	}
}
