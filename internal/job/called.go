package job

import (
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What a check calls by way of others: its command names a script, and that names another one. They are read as the base has them: what a
// job makes them into is not asked. Only what is plainly written is found.

// Bounds of what is read.
const (
	maxScripts = 64
	maxScript  = 256 << 10
)

// parts are what the check of a job consists of.
type parts struct {
	command string
	called  map[string]bool
}

func (p parts) has(file string) bool { return partOf(p.command, file) || p.called[file] }

// parts finds out what a job's check consists of.
func (r *Room) parts(ctx context.Context, j *Job) (parts, error) {
	p := parts{command: j.Check}
	if j.Check == "" {
		return p, nil
	}
	files, err := r.Tools.Files(ctx, j.Repo, j.Base)
	if err != nil {
		return p, err
	}
	in, err := filepath.Rel(j.Path, j.Work)
	if err != nil || j.Path == "" || !filepath.IsLocal(in) {
		in = "."
	}
	p.called, err = called(j.Check, filepath.ToSlash(in), files, func(file string) (string, error) {
		return r.Tools.Content(ctx, j.Repo, j.Base, file, maxScript)
	})
	return p, err
}

// called are the files that a command's scripts name, and the scripts among these, and so on.
func called(command, in string, files []string, read func(string) (string, error)) (map[string]bool, error) {
	byName := map[string][]string{}
	for _, f := range files {
		byName[path.Base(f)] = append(byName[path.Base(f)], f)
	}
	out := map[string]bool{}
	var todo []string
	for _, f := range files {
		if named(command, f) || steers(command, in, f) {
			todo = append(todo, f)
		}
	}
	for n := 0; len(todo) > 0 && n < maxScripts; n++ {
		file := todo[0]
		todo = todo[1:]
		text, err := read(file)
		if err != nil {
			return nil, err
		}
		if !isScript(file, text) {
			continue
		}
		for _, word := range spoken(file, text) {
			for _, f := range byName[path.Base(word)] {
				if !out[f] && f != file && meant(word, file, f) {
					out[f] = true
					todo = append(todo, f)
				}
			}
		}
	}
	return out, nil
}

// drivers are programs that read what to do from a file of a certain name.
var drivers = map[string][]string{
	"make": {"Makefile", "makefile", "GNUmakefile"}, "gmake": {"Makefile", "makefile", "GNUmakefile"}, "just": {"justfile", "Justfile"},
	"npm": {"package.json"}, "npx": {"package.json"}, "yarn": {"package.json"}, "pnpm": {"package.json"}, "bun": {"package.json"},
	"tox": {"tox.ini"}, "task": {"Taskfile.yml", "Taskfile.yaml"},
}

// steers says whether a program of the command reads the file: in the folder where it runs, above, or in one that the command names.
func steers(command, in, file string) bool {
	dir := path.Dir(file)
	if dir != "." && dir != in && !named(command, dir) {
		return false
	}
	return slices.ContainsFunc(strings.FieldsFunc(command, apart), func(word string) bool {
		return slices.Contains(drivers[path.Base(word)], path.Base(file))
	})
}

var scriptEnds = []string{".sh", ".bash", ".zsh", ".ksh", ".py", ".rb", ".pl", ".php", ".lua", ".js", ".mjs", ".cjs", ".ts", ".mts", ".mk",
	".ps1"}

// isScript says whether the words of a file may be commands, by its first line or its name; a link's words are where it leads.
func isScript(file, text string) bool {
	if strings.ContainsRune(text, 0) {
		return false
	}
	known := func(names []string) bool { return slices.Contains(names, path.Base(file)) }
	for _, names := range drivers {
		if known(names) {
			return true
		}
	}
	return strings.HasPrefix(text, "#!") || path.Ext(file) == "" || slices.Contains(scriptEnds, path.Ext(file))
}

var variable = regexp.MustCompile(`\$[({]?[A-Za-z_][A-Za-z_0-9]*[)}]?`)

// spoken are the words of a script that may name a file. A bare word does only behind a program that runs or reads one.
func spoken(file, text string) (out []string) {
	if path.Base(file) == "package.json" {
		var p struct {
			Scripts map[string]string `json:"scripts"`
		}
		if json.Unmarshal([]byte(text), &p) != nil {
			return nil
		}
		text = ""
		for _, line := range p.Scripts {
			text += line + "\n"
		}
	}
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "#") || strings.HasPrefix(t, "//") {
			continue
		}
		before := ""
		for _, word := range strings.FieldsFunc(variable.ReplaceAllString(line, " "), apart) {
			if strings.ContainsAny(word, "/.") && strings.Trim(word, "/.") != "" || slices.Contains(readers, before) {
				out = append(out, strings.Trim(path.Clean(word), "/,:"))
			}
			before = path.Base(word)
		}
	}
	return out
}

// readers are programs whose first word is a file.
var readers = []string{"sh", "bash", "zsh", "dash", "ksh", "source", ".", "exec", "python", "python3", "node", "perl", "ruby", "php", "lua"}

// meant says whether a word in a script is a file: seen from the repository, from the script's folder, or from some folder.
func meant(word, script, file string) bool {
	for strings.HasPrefix(word, "../") {
		word = word[len("../"):]
	}
	return word == file || path.Join(path.Dir(script), word) == file || strings.Contains(word, "/") && strings.HasSuffix("/"+file, "/"+word)
}

func apart(r rune) bool { return strings.ContainsRune(" \t\n'\"`;&|<>()={}$@,", r) }
