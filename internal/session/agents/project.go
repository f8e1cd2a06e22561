package agents

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/wholefile"
)

// A project's settings are not read, since they could loosen what tandem asks about. Its commands and skills are text that people want,
// so a session gets a copy of them as a plugin of its own. What would act by itself is left out of the copy: tools that a command allows
// itself, hooks, and shell lines that run before the model reads the text. The model is asked to run those, and is then asked about them.

// ProjectPlugin is the name under which Claude Code knows the copy: its commands are /project:NAME.
const ProjectPlugin = "project"

// What is copied of one project at most.
const (
	maxProjectFiles = 400
	maxProjectFile  = 1 << 20
)

// CopyProject makes the plugin of a project anew in a folder, with what visible lets through, and says which commands and skills it has.
// Links are not followed.
func CopyProject(project, to string, visible func(path string) bool) ([]string, error) {
	if err := os.RemoveAll(to); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := 0
	for _, kind := range []string{"commands", "skills"} {
		from := path.Join(".claude", kind)
		err := fs.WalkDir(root.FS(), from, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // a folder is walked into; a link, and what cannot be read, is left out
			}
			if files++; files > maxProjectFiles {
				return fs.SkipAll
			}
			rel := strings.TrimPrefix(p, ".claude/")
			_, is := called(rel)
			if st, err := d.Info(); err != nil || st.Size() > maxProjectFile || !is && kind == "commands" || !visible(filepath.Join(project, p)) {
				return nil
			}
			data, err := root.ReadFile(p)
			if err != nil {
				return nil
			}
			if strings.HasSuffix(p, ".md") {
				data = tame(data, is)
			}
			dest := filepath.Join(to, filepath.FromSlash(rel))
			if err := os.MkdirAll(filepath.Dir(dest), 0o700); err != nil {
				return err
			}
			return wholefile.Write(dest, data)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	names := ProjectNames(to)
	if len(names) == 0 {
		return nil, os.RemoveAll(to)
	}
	manifest := filepath.Join(to, ".claude-plugin")
	if err := os.MkdirAll(manifest, 0o700); err != nil {
		return nil, err
	}
	return names, WriteJSON(filepath.Join(manifest, "plugin.json"), map[string]string{"name": ProjectPlugin, "version": "1.0.0",
		"description": "Commands and skills of the project, as tandem copied them"})
}

// ProjectNames are the commands and skills of a copy.
func ProjectNames(copied string) (names []string) {
	_ = filepath.WalkDir(copied, func(p string, d fs.DirEntry, err error) error { // what is not there has none
		if err != nil || d.IsDir() {
			return nil
		}
		if rel, err := filepath.Rel(copied, p); err == nil {
			if name, is := called(filepath.ToSlash(rel)); is {
				names = append(names, name)
			}
		}
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// called is the name of a command or skill whose text a file is, below the folder of settings.
func called(rel string) (name string, is bool) {
	kind, rest, _ := strings.Cut(rel, "/")
	if kind == "skills" {
		dir, file := path.Split(rest)
		dir = strings.TrimSuffix(dir, "/")
		return dir, file == "SKILL.md" && dir != "" && !strings.Contains(dir, "/")
	}
	name, is = strings.CutSuffix(rest, ".md")
	return strings.ReplaceAll(name, "/", ":"), is && kind == "commands"
}

// ProjectCommand is what Claude Code is told when somebody types a command of the project by its own name; other text stays as it is.
func ProjectCommand(text string, names []string) string {
	word, rest, _ := strings.Cut(text, " ")
	typed, ok := strings.CutPrefix(word, "/")
	if !ok {
		return text
	}
	for _, name := range names {
		if name == typed || name[strings.LastIndexByte(name, ':')+1:] == typed {
			return strings.TrimSpace("/" + ProjectPlugin + ":" + name + " " + rest)
		}
	}
	return text
}
