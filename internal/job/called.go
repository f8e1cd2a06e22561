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
	byName, byFolder := map[string][]string{}, map[string][]string{}
	for _, f := range files {
		byName[path.Base(f)] = append(byName[path.Base(f)], f)
		byFolder[path.Dir(f)] = append(byFolder[path.Dir(f)], f)
	}
	out := map[string]bool{}
	var todo []string
	take := func(f string) {
		if !out[f] {
			out[f] = true
			todo = append(todo, f)
		}
	}
	programs := func(words []word, from string) { // a folder that is run is a program
		for _, w := range words {
			if w.runs {
				for _, folder := range []string{w.text, path.Join(from, w.text)} {
					for _, f := range byFolder[folder] {
						take(f)
					}
				}
			}
		}
	}
	programs(words(command), in)
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
		said := spoken(file, text)
		programs(said, path.Dir(file))
		for _, w := range said {
			for _, f := range byName[path.Base(w.text)] {
				if f != file && meant(w.text, file, f) {
					take(f)
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
	return slices.ContainsFunc(strings.FieldsFunc(command, apart), func(w string) bool {
		return slices.Contains(drivers[path.Base(w)], path.Base(file))
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

// word is a word that may name a file or, behind a program that runs it, a folder.
type word struct {
	text string
	runs bool
}

// spoken are the words of a script that may name a file.
func spoken(file, text string) []word {
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
	return words(text)
}

// words are the words of lines that may name a file. A bare one does only behind a program that runs or reads it.
func words(text string) (out []word) {
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "#") || strings.HasPrefix(t, "//") {
			continue
		}
		before := ""
		for _, w := range strings.FieldsFunc(variable.ReplaceAllString(line, " "), apart) {
			runs := slices.Contains(readers, before)
			if strings.ContainsAny(w, "/.") && strings.Trim(w, "/.") != "" || runs {
				out = append(out, word{strings.Trim(path.Clean(w), "/,:"), runs})
			}
			before = path.Base(w)
		}
	}
	return out
}

// readers are what the name of a file or of a program's folder follows: go run ./tools/verify.
var readers = []string{"run", "sh", "bash", "zsh", "dash", "ksh", "source", ".", "exec", "python", "python3",
	"node", "perl", "ruby", "php", "lua"}

// meant says whether a word in a script is a file: seen from the repository, from the script's folder, or from some folder.
func meant(word, script, file string) bool {
	for strings.HasPrefix(word, "../") {
		word = word[len("../"):]
	}
	return word == file || path.Join(path.Dir(script), word) == file || strings.Contains(word, "/") && strings.HasSuffix("/"+file, "/"+word)
}

func apart(r rune) bool { return strings.ContainsRune(" \t\n'\"`;&|<>()={}$@,", r) }
