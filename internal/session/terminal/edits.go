package terminal

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/internal/op"
	"tandem/internal/session/terminal/codex"
	"tandem/internal/tool"
)

// maxEdited is how large a file may be whose change is shown as a diff, and maxEditShown how long that diff.
const (
	maxEdited    = 1 << 20
	maxEditShown = 96 << 10
)

// edits shows a program's change of a file in its folder as a diff with line numbers and what stands around it. It is only there to be
// looked at: an approval holds for the program's own arguments. Where no diff can be made, those are shown as they are.
func edits(in UseIn) []op.Bound {
	args, ok := exact(in.Input)
	if !ok {
		return nil
	}
	var a struct {
		Path, Old, New, Content string
		All                     bool
	}
	from, to, all := "old_string", "new_string", "replace_all"
	if in.Tool == "edit" { // OpenCode's words for the same
		from, to, all = "oldString", "newString", "replaceAll"
	}
	for name, into := range map[string]any{"file_path": &a.Path, from: &a.Old, to: &a.New, "content": &a.Content, all: &a.All} {
		if raw, there := args[name]; there && json.Unmarshal(raw, into) != nil {
			return nil
		}
	}
	if a.Path == "" {
		return patched(in.Folder, args["changes"]) // Codex's own patch
	}
	replaced := []string{"input." + from, "input." + to}
	before, there, ok := inFolder(in.Folder, a.Path)
	if !ok {
		return nil
	}
	var after string
	var covers []string
	switch {
	case (in.Tool == "Edit" || in.Tool == "edit") && there && a.Old != "" && a.Old != a.New && strings.Contains(before, a.Old):
		if n := strings.Count(before, a.Old); n > 1 && !a.All {
			return nil // the program itself refuses that
		}
		after, covers = strings.ReplaceAll(before, a.Old, a.New), replaced
	case in.Tool == "Write" || in.Tool == "edit__write":
		after = a.Content
		if !there {
			covers = []string{"input.content"} // all of it is in the diff
		}
	default:
		return nil
	}
	text := tool.Unified(a.Path, before, after)
	if before == after || len(text) > maxEditShown || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil
	}
	return []op.Bound{{Name: "diff of " + a.Path, Value: text, Shown: true, Diff: true, Covers: covers}}
}

// exact are a program's arguments by their very names, as the program reads them. There are none where two names differ in case alone, or
// not at all: whoever reads them next may take the other one. That holds for each of Codex's changes, too.
func exact(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	args, folded := map[string]json.RawMessage{}, map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		fold := strings.ToLower(strings.ToUpper(name)) // as encoding/json folds ASCII names
		var value json.RawMessage
		if err != nil || !ok || folded[fold] || d.Decode(&value) != nil || fold == "changes" && !unlike(value) {
			return nil, false
		}
		args[name], folded[fold] = value, true
	}
	return args, true
}

// unlike says that no object in a list, nor in an object there, has two names that are like one.
func unlike(raw json.RawMessage) bool {
	switch raw = bytes.TrimSpace(raw); {
	case bytes.HasPrefix(raw, []byte("{")):
		args, ok := exact(raw)
		for _, value := range args {
			ok = ok && unlike(value)
		}
		return ok
	case bytes.HasPrefix(raw, []byte("[")):
		var list []json.RawMessage
		return json.Unmarshal(raw, &list) == nil && !slices.ContainsFunc(list, func(one json.RawMessage) bool { return !unlike(one) })
	}
	return true
}

// patched shows the patch that Codex sends. All that it sent stays to be seen beside it.
func patched(folder string, changes json.RawMessage) []op.Bound {
	var text strings.Builder
	for _, c := range codex.Changes(changes) {
		text.WriteString(c.Unified(folder))
	}
	if all := text.String(); all != "" && len(all) <= maxEditShown && utf8.ValidString(all) && !strings.ContainsRune(all, 0) {
		return []op.Bound{{Name: "diff", Value: all, Shown: true, Diff: true}}
	}
	return nil
}

// inFolder reads a file below a folder; ok is false for what lies elsewhere, by links too, for what holds keys, and for what is no
// plain file of a bounded size.
func inFolder(folder, path string) (text string, there, ok bool) {
	rel, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(rel) || tool.Sensitive(rel) {
		return "", false, false
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", false, false
	}
	defer root.Close()
	st, err := root.Lstat(rel)
	if os.IsNotExist(err) {
		return "", false, true
	}
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxEdited {
		return "", false, false
	}
	f, err := root.Open(rel)
	if err != nil {
		return "", false, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEdited))
	return string(data), true, err == nil
}
