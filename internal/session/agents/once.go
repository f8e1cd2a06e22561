package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/wholefile"
)

// Claude Code's own /model asks whether one is sure, saves its answer for every session of the person's where it can, and holds until the
// next one. A command that names a model in its head is another thing: the program does that one prompt with it, saves nothing, and has its
// own model again for the next. So each session has three such commands, and a turn with another model needs no other start.

// oncePlugin is the name under which Claude Code knows them: /tandem:haiku TEXT.
const oncePlugin = "tandem"

// onceMost is how long a prompt may be: the program keeps what a command was given beside what it became, so the model reads both.
const onceMost = 4000

// onceModels are those that the program knows by a short name.
var onceModels = slices.DeleteFunc(slices.Clone(ClaudeModels), func(m string) bool { return m == "default" })

// acting is what the program does not take as words where it stands in a command: a line for a shell, a variable.
var acting = []string{"!`", "```!", "${CLAUDE", "$ARGUMENTS"}

// writeOnce puts the commands into the session's folder.
func (c Claude) writeOnce() error {
	at := filepath.Join(c.Folder, oncePlugin)
	for _, dir := range []string{"commands", ".claude-plugin"} {
		if err := os.MkdirAll(filepath.Join(at, dir), 0o700); err != nil {
			return err
		}
	}
	for _, m := range onceModels {
		text := "---\ndescription: one prompt with " + m + ", and the session's own model again after it\nmodel: " + m +
			"\ndisable-model-invocation: true\n---\n$ARGUMENTS\n"
		if err := wholefile.Write(filepath.Join(at, "commands", m+".md"), []byte(text)); err != nil {
			return err
		}
	}
	return WriteJSON(filepath.Join(at, ".claude-plugin", "plugin.json"), map[string]string{"name": oncePlugin, "version": "1.0.0",
		"description": "One prompt with another model"})
}

// Once is what to type so that one prompt is done with a model, where the program can do that as it runs.
func Once(model, text string) (typed string, can bool) {
	if !slices.Contains(onceModels, model) || text == "" || len(text) > onceMost || strings.HasPrefix(text, "/") ||
		slices.ContainsFunc(acting, func(mark string) bool { return strings.Contains(text, mark) }) {
		return "", false
	}
	return "/" + oncePlugin + ":" + model + " " + text, true
}

// Unwrapped is the prompt in what Once made of it, be it as it stands in the input box or as the program notes it; anything else is as it
// was.
func Unwrapped(text string) string {
	for _, m := range onceModels {
		name := "/" + oncePlugin + ":" + m
		if rest, ok := strings.CutPrefix(text, name+" "); ok {
			return rest
		}
		if strings.Contains(text, "<command-name>"+name+"</command-name>") {
			if _, rest, ok := strings.Cut(text, "<command-args>"); ok {
				return strings.TrimSuffix(strings.TrimSpace(rest), "</command-args>")
			}
		}
	}
	return text
}
